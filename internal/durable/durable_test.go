package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// half writes a part and fails.
func half(w io.Writer) error {
	_, err := io.WriteString(w, "ha")
	return errors.Join(err, io.ErrUnexpectedEOF)
}

// TestReplace: a replacement is whole, has its mode, and leaves nothing beside it; one that fails
// leaves the old file.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "two, which is longer", ""} {
		if err := os.WriteFile(path+NewSuffix, []byte("left by a crash"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Replace(path, 0o600, Bytes([]byte(text))); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if err := Replace(path, 0o600, half); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("half a file: %v", err)
		}
		if got := content(t, path); got != text {
			t.Errorf("after a failure: %q, want %q", got, text)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v are left, %v", names, err)
	}
}

// TestReplaceFollowsNoLink: a link that somebody has put where the new file is written is removed,
// not written through.
func TestReplaceFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("other's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path+NewSuffix); err != nil {
		t.Skip(err)
	}
	if err := Replace(path, 0o600, Bytes([]byte("mine"))); err != nil {
		t.Fatal(err)
	}
	if content(t, path) != "mine" || content(t, other) != "other's" {
		t.Errorf("%q and %q", content(t, path), content(t, other))
	}
}

// TestCreate: a file that is there stays, and half a file does not.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Create(path, 0o600, half); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a file: %v", err)
	}
	if err := Create(path, 0o600, Bytes([]byte("first"))); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, 0o600, Bytes([]byte("second"))); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if got := content(t, path); got != "first" {
		t.Errorf("got %q", got)
	}
}

// TestLock: one opening holds a lock, and the next one gets it when that is closed.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrHeld) {
		t.Errorf("held twice: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = g.Close()
}
