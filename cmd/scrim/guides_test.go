package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"scrim/test/testenv"

	"github.com/go-sql-driver/mysql"
)

// The guides' blocks are run in the order in which they stand, in one directory a guide:
//
//	```sh           by sh; a command that begins with "scrim serve" is started and stays until "kill $SERVER" ends it
//	```sql ACCOUNT  by that account, whose password is in the guide's CREATE USER; root without a name
//
// A statement or a command before a line "-- refused: TEXT" or "# refused: TEXT" has to fail, with
// TEXT in what it says. Blocks of another kind are not run. Directories and the address are
// replaced by the test's own.
func TestGuides(t *testing.T) {
	for _, name := range []string{"operator.md", "dba.md", "collections.md"} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("../../docs", name))
			if err != nil {
				t.Fatal(err)
			}
			g := newGuide(t)
			blocks := regexp.MustCompile("(?ms)^```(sh|sql)(?: (\\w+))?\n(.*?)^```$").FindAllStringSubmatch(g.here(string(b)), -1)
			if len(blocks) < 10 {
				t.Fatalf("%d blocks", len(blocks))
			}
			for _, x := range blocks {
				if x[1] == "sh" {
					g.shell(x[3])
				} else {
					g.sql(x[2], x[3])
				}
			}
		})
	}
}

type guide struct {
	t         *testing.T
	dir       string
	addr, web string
	server    *exec.Cmd
	said      *output
	passwords map[string]string
}

func newGuide(t *testing.T) *guide {
	g := &guide{t: t, dir: t.TempDir(), passwords: map[string]string{}}
	ports := testenv.Ports(t, 2)
	g.addr, g.web = fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	t.Cleanup(func() {
		if g.server != nil {
			_ = g.server.Process.Kill()
			_ = g.server.Wait()
		}
	})
	return g
}

// here puts the test's places into a guide.
func (g *guide) here(text string) string {
	return strings.NewReplacer(
		"/var/lib/scrim", g.dir+"/lib", "/etc/scrim", g.dir+"/etc", "/backup", g.dir+"/backup", "/witness", g.dir+"/witness",
		"127.0.0.1:3307", g.addr, "127.0.0.1:8307", g.web, "2026-11-22", time.Now().UTC().Format(time.DateOnly),
	).Replace(text)
}

// commands splits a block at its ends of commands, and finds what is to be refused.
func commands(text, end, comment string) (out []struct{ text, refused string }) {
	var c strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		if refused, ok := strings.CutPrefix(strings.TrimSpace(line), comment+" refused: "); ok && len(out) > 0 {
			out[len(out)-1].refused = refused
			continue
		}
		line = strings.TrimRight(strings.SplitN(line, " "+comment+" ", 2)[0], " \n")
		if strings.HasPrefix(line, comment) {
			continue
		}
		c.WriteString(line)
		if strings.HasSuffix(line, "\\") {
			c.WriteString("\n")
			continue
		}
		if strings.HasSuffix(line, end) && strings.TrimSpace(c.String()) != "" {
			out = append(out, struct{ text, refused string }{strings.TrimSuffix(c.String(), ";"), ""})
			c.Reset()
			continue
		}
		c.WriteString("\n")
	}
	if strings.TrimSpace(c.String()) != "" {
		out = append(out, struct{ text, refused string }{c.String(), ""})
	}
	return out
}

// shell runs a block line by line; what is exported stays for the next lines of the guide.
func (g *guide) shell(text string) {
	for _, c := range commands(text, "", "#") {
		if m := regexp.MustCompile(`^export (\w+)='?([^']*)'?$`).FindStringSubmatch(strings.TrimSpace(c.text)); m != nil {
			g.t.Setenv(m[1], m[2])
			continue
		}
		switch first, _, _ := strings.Cut(strings.TrimSpace(c.text), " &"); {
		case strings.HasPrefix(first, "scrim serve") && c.refused == "":
			g.start(first)
			continue
		case strings.HasPrefix(first, "kill $SERVER"):
			g.stop()
			continue
		}
		run := func() ([]byte, error) {
			cmd := exec.Command("sh", "-euc", c.text)
			cmd.Dir = g.dir
			if g.server != nil {
				cmd.Env = append(os.Environ(), fmt.Sprintf("SERVER=%d", g.server.Process.Pid))
			}
			return cmd.CombinedOutput()
		}
		out, err := run()
		// of a log, which may be a moment behind
		if strings.HasPrefix(c.text, "grep") && err != nil {
			testenv.Succeeds(g.t, time.Minute, c.text, func() error { out, err = run(); return err })
		}
		g.judge(c.text, c.refused, string(out), err)
	}
}

func (g *guide) judge(what, refused, said string, err error) {
	g.t.Helper()
	switch {
	case refused == "" && err != nil:
		g.t.Fatalf("%s\n%v\n%s", what, err, said)
	case refused != "" && (err == nil || !strings.Contains(said, refused)):
		g.t.Fatalf("%s\ngot %v, want to be refused with %q\n%s", what, err, refused, said)
	}
}

// start starts the server in the background and waits until it is ready.
func (g *guide) start(line string) {
	g.t.Helper()
	g.said = &output{}
	g.server = exec.Command("sh", "-euc", "exec "+line)
	g.server.Dir, g.server.Stdout, g.server.Stderr = g.dir, g.said, g.said
	if err := g.server.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.said.waitFor(g.t, "scrim: ready on")
}

func (g *guide) stop() {
	g.t.Helper()
	if g.server == nil {
		g.t.Fatal("no server runs")
	}
	if err := errors.Join(g.server.Process.Signal(os.Interrupt), g.server.Wait()); err != nil {
		g.t.Fatalf("%v:\n%s", err, g.said)
	}
	g.server = nil
}

var makesUser = regexp.MustCompile(`CREATE USER '(\w+)'@'%' IDENTIFIED BY '([^']+)'`)

// sql runs a block in one session.
func (g *guide) sql(account, text string) {
	g.t.Helper()
	if account == "" {
		account = "root"
		g.passwords[account] = os.Getenv(passwordVariable)
	}
	s, err := connect(g.addr, account, g.passwords[account])
	if err != nil {
		g.t.Fatalf("%s: %v", account, err)
	}
	defer s.close()
	for _, c := range commands(text, ";", "--") {
		if m := makesUser.FindStringSubmatch(c.text); m != nil {
			g.passwords[m[1]] = m[2]
		}
		_, err := s.ask(c.text)
		said := ""
		var e *mysql.MySQLError
		if errors.As(err, &e) {
			said = e.Error()
		}
		g.judge(account+": "+c.text, c.refused, said, err)
	}
}
