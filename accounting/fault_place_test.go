package accounting

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"scrim/accounting/privacy"
)

// What a ledger is opened on has changed between two processes: its place, its clock, its files.

// nobody is a user without rights, whom root can be for a child: root may write what is read-only.
const nobody = 65534

// asNobody runs a child that may do what modes of files allow.
func asNobody(t *testing.T, spec string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // a copy that this user may run
		dir, err := os.MkdirTemp("", "scrim-child-*")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		b, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		exe = filepath.Join(dir, "child")
		if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(exe, b, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+spec)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// give makes a directory and all that is in it nobody's.
func give(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(p, nobody, nobody))
	})
	if err := errors.Join(err, os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnly: a file that may not be written is refused; in a directory that may not be written a
// ledger works, but none is made.
func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		mode map[string]os.FileMode // by suffix; "dir" for the directory
		make bool
		want string
	}{
		{"all well", nil, false, "spent 3"},
		{"ledger", map[string]os.FileMode{"": 0o400}, false, "permission denied"},
		{"ledger not to be read", map[string]os.FileMode{"": 0}, false, "permission denied"},
		{"mark", map[string]os.FileMode{MarkSuffix: 0o400}, false, "permission denied"},
		{"key not to be read", map[string]os.FileMode{KeySuffix: 0}, false, "permission denied"},
		{"directory", map[string]os.FileMode{"dir": 0o500}, false, "spent 3"},
		{"directory, no ledger", map[string]os.FileMode{"dir": 0o500}, true, "permission denied"},
	} {
		path := prepared(t)
		dir := filepath.Dir(path)
		if c.make {
			path = filepath.Join(dir, "new")
		}
		give(t, dir)
		before := contents(t, dir)
		for suffix, mode := range c.mode {
			name := path + suffix
			if suffix == "dir" {
				name = dir
			}
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
		out := asNobody(t, fmt.Sprintf("clock|%s|%v:0:3|0", path, c.make))
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: %q, want %q", c.name, out, c.want)
		}
		if strings.Contains(out, "error") && !strings.Contains(out, dir) {
			t.Errorf("%s: the error does not name the file: %s", c.name, out)
		}
		for suffix := range c.mode {
			if suffix == "dir" {
				suffix = "/."
				_ = os.Chmod(dir, 0o700)
			} else if err := os.Chmod(path+suffix, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if after := contents(t, dir); c.want != "spent 3" && after != before {
			t.Errorf("%s: files were changed", c.name)
		}
	}
}

// contents is all that a directory holds.
func contents(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %q\n", f.Name(), content)
	}
	return b.String()
}

// shifted is a child whose clock is off by some hours: it charges n units to a table with a budget
// of a month, and says what is spent in the month. argument: "create:hours:n".
func shifted(path, argument string) {
	var create bool
	var hours, n int
	if _, err := fmt.Sscanf(strings.ReplaceAll(argument, ":", " "), "%t %d %d", &create, &hours, &n); err != nil {
		must(err)
	}
	start := newClock("2126-05-15 12:00:00").t // after the clock of prepared
	now := func() time.Time { return start.Add(time.Duration(hours) * time.Hour) }
	l, err := Open(path, Options{DirectoryID: testDirectory, Create: create, Now: now})
	must(err)
	for range n {
		_, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1}}})
		must(err)
	}
	st, err := l.Status(nil)
	must(err)
	for _, b := range st.Budgets {
		if b.Account == "t" && b.Holder == "a@%" {
			fmt.Println("spent", uint64(b.Spent.Rho))
		}
	}
	must(l.Close())
}

// TestClock: a clock that is set back opens no window again, and one that was set far ahead keeps
// its window until that day has come.
func TestClock(t *testing.T) {
	path := prepared(t)
	const day, month = 24, 31 * 24
	for i, c := range []struct{ hours, charges, spent int }{
		{0, 3, 3},
		{-2 * day, 2, 5},   // back by days
		{-2 * month, 1, 6}, // by months: still in May
		{-400 * month, 1, 7},
		{day, 1, 8},
		{month, 2, 2},  // June
		{0, 1, 3},      // back in May: stays in June
		{-month, 1, 4}, // and in April
		{120 * month, 1, 1},
		{month, 1, 2}, // ten years too early
		{0, 1, 3},
		{121*month + 2*day, 1, 1},
	} {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=clock|%s|false:%d:%d|0", childVariable, path, c.hours, c.charges))
		out, err := cmd.CombinedOutput()
		if want := fmt.Sprintf("spent %d\n", c.spent); err != nil || string(out) != want {
			t.Fatalf("process %d, clock off by %d hours: %q, want %q, %v", i, c.hours, out, want, err)
		}
	}
}
