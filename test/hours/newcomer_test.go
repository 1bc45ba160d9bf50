package hours

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"scrim/test/testenv"
)

// twoCommands are the lines of README.md's block of two commands.
func (h *hour) twoCommands() (demo, test, suite string) {
	h.t.Helper()
	_, text, _ := strings.Cut(h.file(filepath.Join(module, "README.md")), "\n## Two commands\n")
	m := regexp.MustCompile("(?s)```sh\n(make \\w+) +# [^\n]*\n(make \\w+) +# or: (go test [^\n]*)\n```").FindStringSubmatch(text)
	if m == nil {
		h.t.Fatalf("README.md does not begin with two commands: %.300s", text)
	}
	return m[1], m[2], m[3]
}

// arrive is the newcomer's hour: the demonstration, until Ctrl-C, and the tests. Of the tests, the
// command that stands for them runs one package: whoever plays the hours has run the others.
func arrive(h *hour, _ *site) {
	demo, test, suite := h.twoCommands()
	out := h.untilInterrupted(demo)
	if !strings.Contains(out, "private cells are within 10 % of the truth") {
		h.t.Errorf("the tour shows no truth:\n%s", out)
	}
	one := strings.Replace(suite, "./...", "./internal/shell", 1)
	if one == suite {
		h.t.Fatalf("README.md tests by %q, not by all packages", suite)
	}
	start := time.Now()
	said, errs, code := h.runs("cd " + absolute(h.t, module) + " && GOFLAGS=-count=1 " + one)
	if code != 0 || !strings.HasPrefix(said, "ok ") {
		h.t.Errorf("%s: exit code %d\n%s%s", one, code, said, errs)
	}
	h.done("runs the tests; here those of one package: "+"`"+one+"`", test, time.Since(start), strings.Join(strings.Fields(said), " "))
}

// untilInterrupted runs the demonstration in the tree as at a terminal, presses Ctrl-C when it
// serves, and returns what it wrote. The make variable ARGS only has it listen on free ports.
func (h *hour) untilInterrupted(line string) string {
	h.t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = module
	outs, errs := filepath.Join(h.dir, "demo.out"), filepath.Join(h.dir, "demo.err")
	cmd.Stdout, cmd.Stderr = h.create(outs), h.create(errs)
	cmd.Env = append(environment(h.t, h.dir), "ARGS=--listen 127.0.0.1:0", "TMPDIR="+h.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the foreground job of a terminal is a group, too
	start := time.Now()
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	serving := false
	defer func() {
		if !serving {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}()
	testenv.Succeeds(h.t, 2*patience, line, func() error {
		if out := h.file(outs); !strings.Contains(out, "Serving until Ctrl-C.") {
			return fmt.Errorf("it serves nothing yet: %s%s", out, h.file(errs))
		}
		return nil
	})
	serving = true
	took := time.Since(start)
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		h.t.Fatal(err)
	}
	select {
	case <-ended: // make tells of the interrupt by its exit code
	case <-time.After(patience):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		h.t.Fatal("Ctrl-C ends nothing")
	}
	h.reads(h.file(errs))
	if left, err := filepath.Glob(filepath.Join(h.dir, "scrim-*")); err != nil || len(left) > 0 {
		h.t.Errorf("after Ctrl-C there still is %v", left)
	}
	h.done("takes the tour of the demonstration", line, took, last(h.file(outs), ""))
	return h.file(outs)
}
