package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"scrim/test/testenv"
)

// TestScripts runs the files of testdata; $FILES has files that a script cannot hold. Beside
// testscript's own commands they use
//
//	start DIR [FLAG...]         serves DIR; $ADDR, $HOST and $PORT say where
//	halt                        ends that server by SIGTERM, wants exit code 0, and has its output
//	hangup TEXT                 sends that server SIGHUP, and waits until its log says TEXT
//	freeport                    sets $FREE to an address that is free
//	today                       sets $TODAY, in UTC
//	kill9                       ends that server by SIGKILL
//	sql USER PASSWORD QUERY...  asks in one session; rows go to stdout, cells between tabs; with !,
//	                            the last statement must fail, and its error goes to stderr
//	overwrite FILE OFFSET BYTE  flips the bits of BYTE there; a negative OFFSET counts from the end
//	shorten FILE SIZE           cuts a file
func TestScripts(t *testing.T) {
	files, err := filepath.Abs("testdata/files")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Values["server"] = new(server)
			e.Setenv("FILES", files)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start":  cmdStart,
			"halt":   cmdStop,
			"kill9":  cmdKill,
			"hangup": cmdHangup,
			"freeport": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("FREE", fmt.Sprintf("127.0.0.1:%d", testenv.Ports(t, 1)[0]))
			},
			"today": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("TODAY", time.Now().UTC().Format(time.DateOnly))
			},
			"sql":       cmdSQL,
			"overwrite": cmdOverwrite,
			"shorten":   cmdShorten,
		},
	})
}

// server is the one that a script has started.
type server struct{ *process }

func running(ts *testscript.TestScript) *server {
	s := ts.Value("server").(*server)
	if s.process == nil {
		ts.Fatalf("no server runs")
	}
	return s
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value("server").(*server)
	if neg || len(args) < 1 || s.process != nil {
		ts.Fatalf("usage: start DIR [FLAG...], one server at a time")
	}
	var env []string
	for _, k := range []string{"PATH", "HOME", "TMPDIR", passwordVariable} {
		if v := ts.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	p, err := launch(env, ts.MkAbs("."), args[0], args[1:]...)
	ts.Check(err)
	s.process = p
	ts.Defer(func() { _ = p.cmd.Process.Kill() })
	host, port, err := net.SplitHostPort(p.addr)
	ts.Check(err)
	ts.Setenv("ADDR", p.addr)
	ts.Setenv("HOST", host)
	ts.Setenv("PORT", port)
}

func cmdStop(ts *testscript.TestScript, neg bool, args []string) {
	s := running(ts)
	if neg || len(args) != 0 {
		ts.Fatalf("usage: halt")
	}
	err := s.stop()
	_, _ = ts.Stdout().Write([]byte(s.out.String()))
	_, _ = ts.Stderr().Write([]byte(s.err.String()))
	s.process = nil
	ts.Check(err)
}

func cmdKill(ts *testscript.TestScript, neg bool, args []string) {
	s := running(ts)
	if neg || len(args) != 0 {
		ts.Fatalf("usage: kill9")
	}
	s.kill()
	s.process = nil
}

func cmdHangup(ts *testscript.TestScript, neg bool, args []string) {
	s := running(ts)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hangup TEXT")
	}
	before := strings.Count(s.err.String(), args[0])
	ts.Check(s.cmd.Process.Signal(syscall.SIGHUP))
	for start := time.Now(); strings.Count(s.err.String(), args[0]) == before; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > patience {
			ts.Fatalf("the log does not say %q:\n%s", args[0], s.err)
		}
	}
}

func cmdSQL(ts *testscript.TestScript, neg bool, args []string) {
	s := running(ts)
	if len(args) < 3 {
		ts.Fatalf("usage: sql USER PASSWORD QUERY...")
	}
	c, err := connect(s.addr, args[0], args[1])
	if err != nil && neg {
		_, _ = ts.Stderr().Write([]byte(err.Error() + "\n"))
		return
	}
	ts.Check(err)
	defer c.close()
	for i, q := range args[2:] {
		rows, err := c.ask(q)
		if last := i == len(args)-3; err != nil && neg && last {
			_, _ = ts.Stderr().Write([]byte(err.Error() + "\n"))
			return
		} else if err != nil {
			ts.Fatalf("%s: %v", q, err)
		} else if neg && last {
			ts.Fatalf("%s: unexpected success: %v", q, rows)
		}
		for _, r := range rows {
			_, _ = ts.Stdout().Write([]byte(strings.Join(r, "\t") + "\n"))
		}
	}
}

func cmdOverwrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: overwrite FILE OFFSET BYTE")
	}
	file := ts.MkAbs(args[0])
	b, err := os.ReadFile(file)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= args[2][0]
	ts.Check(os.WriteFile(file, b, 0o600))
}

func cmdShorten(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shorten FILE SIZE")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}
