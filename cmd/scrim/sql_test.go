package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"scrim/test/testenv"
)

// typist is a person at a terminal with scrim sql.
type typist struct {
	t       *testing.T
	tty     *os.File
	said    *output
	done    chan error
	program *os.Process
	from    int // of what was said, where the answer to the last line begins
}

// sit starts scrim sql at a pseudo-terminal.
func sit(t *testing.T, home string, p *process) *typist {
	t.Helper()
	_, port, _ := strings.Cut(p.addr, ":")
	cmd := exec.Command("scrim", "sql", "--port", port, "shop")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "INPUTRC="+os.DevNull, "TERM=xterm", clientPassword+"=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 150})
	if err != nil {
		t.Fatal(err)
	}
	y := &typist{t: t, tty: tty, said: &output{}, done: make(chan error, 1), program: cmd.Process}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = tty.Close() })
	go func() {
		_, _ = io.Copy(y.said, tty) // ends with the program
		y.done <- cmd.Wait()
	}()
	y.sees("Password of root: ")
	y.types(rootPassword + "\r")
	y.sees("scrim shop> ")
	return y
}

// types sends keys.
func (y *typist) types(keys string) {
	y.t.Helper()
	y.from = len(y.said.String())
	if _, err := y.tty.WriteString(keys); err != nil {
		y.t.Fatal(err)
	}
}

// sees waits for a text after what was typed.
func (y *typist) sees(text string) {
	y.t.Helper()
	testenv.Succeeds(y.t, patience, text, func() error {
		if said := y.said.String()[y.from:]; !strings.Contains(said, text) {
			return errors.New(said)
		}
		return nil
	})
}

// answers waits for a text after what was typed, and for the prompt after it: keys of before it are
// the terminal's own.
func (y *typist) answers(text string) {
	y.t.Helper()
	testenv.Succeeds(y.t, patience, text, func() error {
		said := y.said.String()[y.from:]
		if _, after, ok := strings.Cut(said, text); !ok || !strings.Contains(after, "scrim shop> ") {
			return errors.New(said)
		}
		return nil
	})
}

// leaves waits for the end of the program.
func (y *typist) leaves() {
	y.t.Helper()
	y.types("\x04")
	select {
	case err := <-y.done:
		if err != nil {
			y.t.Fatalf("got %v, want exit code 0:\n%s", err, y.said)
		}
	case <-time.After(patience):
		y.t.Fatalf("Ctrl-D does not end it:\n%s", y.said)
	}
}

// TestShellAtATerminal plays a person: completion, several lines, history over two sessions, Ctrl-C
// in a line and in a statement, Ctrl-D, a connection that ends, and an operator who ends the
// program.
func TestShellAtATerminal(t *testing.T) {
	home := t.TempDir()
	p := serveFor(t, filepath.Join(t.TempDir(), "d"))
	p.root(t).must(t, "CREATE DATABASE shop", "CREATE TABLE shop.zebras (stripes INT, weight INT)", "CALL dp_public('shop.zebras')",
		"INSERT INTO shop.zebras VALUES (40, 300), (44, 310)")
	y := sit(t, home, p)

	y.types("SELECT strip\t FROM zeb\t WHERE weight > 305;\r")
	y.answers("|      44 |\r\n+---------+\r\n1 row in the answer")
	y.types("SELECT 6 *\r7 AS product;\r")
	y.answers("|      42 |")
	y.types("\\fo\t csv\r")
	y.answers("csv")
	y.types("CREATE USER ann IDENTIFIED BY 'secret-word';\r")
	y.answers("done (")

	y.types("SELECT 'never")
	y.sees("never")
	y.types("\x03")
	y.answers("^C")
	y.types("SELECT 1000 + 1;\r")
	y.answers("1001\r\n")

	y.types("SELECT SLEEP(600);\r")
	watcher := p.root(t)
	testenv.Succeeds(t, patience, "the statement runs", func() error {
		rows, err := watcher.ask("SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'")
		if err == nil && len(rows) != 1 {
			err = fmt.Errorf("%d statements sleep", len(rows))
		}
		return err
	})
	y.types("\x03")
	y.answers("interrupted")
	y.types("SELECT 2000 + 2;\r")
	y.answers("2002\r\n")
	y.leaves()

	file := filepath.Join(home, ".local", "state", "scrim", "history")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kept), "secret-word") || !strings.Contains(string(kept), `SELECT 6 *\n7 AS product;`) {
		t.Errorf("the history is\n%s", kept)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", fi.Mode(), err)
	}

	y = sit(t, home, p)
	y.types("\x1b[A") // up
	y.sees("2000 + 2")
	y.types("\r")
	y.answers("|     2002 |")
	for _, row := range watcher.must(t, "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()") {
		if _, err := watcher.ask("KILL " + row[0]); err != nil {
			t.Fatal(err)
		}
	}
	y.types("SELECT 3000 + 3;\r")
	y.answers("There is a new one")
	y.types("SELECT 3000 + 3;\r")
	y.answers("|     3003 |")
	y.leaves()

	y = sit(t, home, p)
	if err := y.program.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-y.done:
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("SIGTERM: got %v, want exit code 1", err)
		}
	case <-time.After(patience):
		t.Error("SIGTERM does not end it")
	}
}
