package hours

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hour is what one person does, in a shell of their own.
type hour struct {
	t      *testing.T
	who    string
	dir    string
	actual *strings.Replacer // from the addresses that are typed to those of this run
	steps  []step
	shell  io.Writer
	codes  *bufio.Scanner // the exit codes of its lines
	chart  string         // in the shell
}

// step is one thing that a person does.
type step struct {
	what  string // in a few words
	typed string // by hand; nothing where there is only clicked
	took  time.Duration
	said  string // the last message
	wrong bool   // it is a mistake
}

// environment is the test's without the settings of the program, with the built one in the path.
func environment(t *testing.T, dir string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SCRIM_") || strings.HasPrefix(v, "ARGS=") })
	return append(env, "PATH="+absolute(t, filepath.Join(module, "bin"))+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+dir, "MPLCONFIGDIR="+dir, "MPLBACKEND=Agg", "LC_ALL=C.UTF-8")
}

// sit gives a person a shell in an empty directory.
func sit(t *testing.T, who string) *hour {
	t.Helper()
	h := &hour{t: t, who: who, dir: t.TempDir(), actual: strings.NewReplacer()}
	cmd := exec.Command("bash")
	cmd.Dir, cmd.Env, cmd.Stderr = h.dir, environment(t, h.dir), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	h.shell, h.codes = in, bufio.NewScanner(out)
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "jobs -p | xargs -r kill 2>/dev/null; wait\n")
		_ = in.Close()
		_ = cmd.Wait()
	})
	return h
}

// runs has the shell run a line, and returns what it wrote and its exit code. The files are read
// again later of what goes on in the background.
func (h *hour) runs(line string) (out, errs string, code int) {
	h.t.Helper()
	name := filepath.Join(h.dir, fmt.Sprintf("line%d", len(h.steps)))
	if _, err := fmt.Fprintf(h.shell, "{ %s\n} </dev/null >%s.out 2>%s.err; echo $?\n", h.actual.Replace(line), name, name); err != nil {
		h.t.Fatal(err)
	}
	if !h.codes.Scan() {
		h.t.Fatalf("%s: the shell has ended: %v", line, h.codes.Err())
	}
	code, err := strconv.Atoi(h.codes.Text())
	if err != nil {
		h.t.Fatal(err)
	}
	return h.file(name + ".out"), h.file(name + ".err"), code
}

func (h *hour) file(name string) string {
	h.t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

// create is a file that a process writes to.
func (h *hour) create(name string) *os.File {
	h.t.Helper()
	f, err := os.Create(name)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = f.Close() })
	return f
}

// types runs a line that works, and returns what it writes to standard output.
func (h *hour) types(what, line string) string {
	h.t.Helper()
	start := time.Now()
	out, errs, code := h.runs(line)
	if code != 0 {
		h.t.Fatalf("%s: exit code %d\n%s%s", line, code, out, errs)
	}
	h.reads(errs)
	h.done(what, line, time.Since(start), last(out, errs))
	return out
}

// errs runs a line that is a mistake, and is told what to do instead.
func (h *hour) errs(what, line string) {
	h.t.Helper()
	start := time.Now()
	out, errs, code := h.runs(line)
	if code == 0 || strings.TrimSpace(errs) == "" {
		h.t.Errorf("%s: exit code %d, and standard error says %q\n%s", line, code, errs, out)
	}
	h.reads(errs)
	h.done(what, line, time.Since(start), first(errs))
	h.steps[len(h.steps)-1].wrong = true
}

func (h *hour) done(what, typed string, took time.Duration, said string) {
	h.steps = append(h.steps, step{what: what, typed: typed, took: took, said: said})
}

// characters are what has been typed so far, without mistakes.
func (h *hour) characters() (n int) {
	for _, s := range h.steps {
		if !s.wrong {
			n += len(s.typed) + len("\n")
		}
	}
	return n
}

// reads reads messages: each line has been read before by somebody.
func (h *hour) reads(text string) {
	h.t.Helper()
	for line := range strings.Lines(text) {
		if err := reviewed(strings.TrimSpace(line)); err != nil {
			h.t.Errorf("the %s %v", h.who, err)
		}
	}
}

// last is the last line with words or numbers of the messages, or of what was written where there
// are none.
func last(out, errs string) (line string) {
	if strings.TrimSpace(errs) != "" {
		out = errs
	}
	for l := range strings.Lines(out) {
		if l = strings.TrimSpace(l); strings.Trim(l, "+-") != "" {
			line = strings.ReplaceAll(strings.Trim(l, "| "), "|", "·") // of a table
		}
	}
	return line
}

// first is the first line of the messages.
func first(errs string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(errs), "\n")
	return line
}
