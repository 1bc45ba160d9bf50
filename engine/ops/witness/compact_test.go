package witness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grown makes a witness file over the bound, which ends with the position given, after lines of
// another directory.
func grown(t *testing.T, last string) string {
	t.Helper()
	where := filepath.Join(t.TempDir(), "witness")
	var b bytes.Buffer
	for half, d := range []string{"other", "mine"} {
		for n := 0; b.Len() <= mostFile*(2+3*half)/4; n++ {
			fmt.Fprintf(&b, `{"time":"2026-11-23T05:00:00Z","directory":%q,"run":"r","position":"%s-%d"}`+"\n", d, d, n)
		}
	}
	fmt.Fprintf(&b, `{"time":"2026-11-23T05:00:00Z","directory":"mine","run":"r","position":%q}`+"\n", last)
	b.WriteString(`{"time":"2026-11`) // torn
	if err := os.WriteFile(where, b.Bytes(), 0o640); err != nil {
		t.Fatal(err)
	}
	if b.Len() <= mostFile {
		t.Fatalf("%d bytes are not over the bound", b.Len())
	}
	return where
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestAGrownFileIsCutDown to the newest line of each directory, by the line that is added, and
// keeps its permissions.
func TestAGrownFileIsCutDown(t *testing.T) {
	where := grown(t, "newest")
	w := At(where, "mine")
	if e, ok, err := w.Last(); !ok || err != nil || e.Position != "newest" {
		t.Fatalf("before: %+v, %v", e, err)
	}
	if err := w.Add(Entry{Run: "r", Position: "next"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(where)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"other-`) || !strings.Contains(lines[1], `"newest"`) || !strings.Contains(lines[2], `"next"`) {
		t.Errorf("it holds\n%s", text)
	}
	if info, _ := os.Stat(where); info.Mode().Perm() != 0o640 {
		t.Errorf("its permissions are %v", info.Mode())
	}
	if e, ok, err := w.Last(); !ok || err != nil || e.Position != "next" {
		t.Errorf("after: %+v, %v", e, err)
	}
	if left, _ := filepath.Glob(where + ".*"); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestAFileStaysBounded however many lines are added, and always ends with the newest.
func TestAFileStaysBounded(t *testing.T) {
	where := grown(t, "first")
	w := At(where, "mine")
	long := strings.Repeat("x", 20_000)
	for n := range 300 {
		position := fmt.Sprint(n, long)
		if err := w.Add(Entry{Run: "r", Position: position}); err != nil {
			t.Fatal(err)
		}
		if e, ok, err := w.Last(); !ok || err != nil || e.Position != position {
			t.Fatalf("line %d: %.20s, %v", n, e.Position, err)
		}
		if s := size(t, where); s > mostFile+3*tailSize {
			t.Fatalf("after %d lines it has %d bytes", n, s)
		}
	}
}

// TestWhatCannotBeCutDownGrows: a crash before the new file takes its place leaves the old one, a
// directory that cannot be written leaves it, too, and a file without a position is never replaced.
func TestWhatCannotBeCutDownGrows(t *testing.T) {
	where := grown(t, "newest")
	before := size(t, where)
	if err := os.WriteFile(where+".1.new", []byte("half of a "), 0o600); err != nil { // of a crash
		t.Fatal(err)
	}
	if e, ok, err := At(where, "mine").Last(); !ok || err != nil || e.Position != "newest" {
		t.Errorf("beside what a crash left: %+v, %v", e, err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Dir(where), 0o500); err != nil {
			t.Fatal(err)
		}
		if err := At(where, "mine").Add(Entry{Position: "next"}); err != nil || size(t, where) <= before {
			t.Errorf("in a directory that cannot be written: %v, %d bytes of %d", err, size(t, where), before)
		}
		if err := os.Chmod(filepath.Dir(where), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("hello\n"), mostFile/5), 0o600); err != nil {
		t.Fatal(err)
	}
	if done, err := file(text).compacted([]byte("{}\n")); done || err != nil {
		t.Errorf("a text was replaced: %v, %v", done, err)
	}
}

// TestALinkIsFollowed: the file that a link leads to is cut down, and the link stays.
func TestALinkIsFollowed(t *testing.T) {
	where := grown(t, "newest")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(where, link); err != nil {
		t.Fatal(err)
	}
	if err := At(link, "mine").Add(Entry{Position: "next"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || size(t, where) > tailSize {
		t.Errorf("the link is %v, %v, and the file has %d bytes", info.Mode(), err, size(t, where))
	}
}
