package duckdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scrim/engine/store"
)

// TestHold copies the file while rows are written: the copy holds what was committed when the hold
// began, and no checkpoint moves what is copied.
func TestHold(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "data.duckdb"), Options{Threads: 2, DirectoryID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	table := store.TableRef{Schema: "d", Name: "t"}
	c, err := s.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	write := func(q string) {
		t.Helper()
		if _, err := c.Write(ctx, []store.TableRef{table}, q); err != nil {
			t.Fatal(err)
		}
	}
	write("CREATE SCHEMA d")
	write("CREATE TABLE d.t AS SELECT i, repeat('x', 100) || i AS s FROM range(200000) r(i)")
	h, err := s.Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	header := func() []byte {
		t.Helper()
		b := make([]byte, headers)
		if _, err := h.file.ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
		return b
	}
	before := header()
	// Large enough to be written to the file before the commit, and for a checkpoint.
	var writing sync.WaitGroup
	writing.Go(func() {
		for range 3 {
			write("INSERT INTO d.t SELECT i, repeat('y', 200) || i FROM range(300000) r(i)")
			write("DELETE FROM d.t WHERE i % 2 = 0")
		}
		write("UPDATE d.t SET s = repeat('z', 150) || i WHERE i < 200000") // all of it goes into the log
	})
	writing.Wait()
	if log := size(t, s.in.path+logSuffix); log < logLimit || !bytes.Equal(header(), before) {
		t.Errorf("the log has %d bytes, and the header changed: %v; want a log over its limit beside a file as it was", log, !bytes.Equal(header(), before))
	}
	short, cancel := context.WithCancel(ctx)
	second := make(chan error, 1)
	go func() { _, err := s.Hold(short); second <- err }()
	select {
	case err := <-second:
		t.Errorf("held twice: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	cancel()
	if err := <-second; err == nil {
		t.Error("held twice")
	}
	to := filepath.Join(dir, "copy.duckdb")
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(f, h.Reader()); err != nil || n != h.Size {
		t.Fatalf("copied %d of %d bytes: %v", n, h.Size, err)
	}
	f.Close()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != store.ErrClosed {
		t.Errorf("got %v the second time", err)
	}
	must(t, Forgive(to))
	copied, err := Open(to, Options{DirectoryID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	for _, x := range []struct {
		s    *Store
		want string
	}{{copied, "200000 0"}, {s, ""}} {
		q, err := x.s.Session(ctx)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := q.Query(ctx, "SELECT count(*) || ' ' || count(*) FILTER (s LIKE 'y%') FROM d.t")
		if err != nil {
			t.Fatal(err)
		}
		b, err := rows.Batch()
		must(t, err)
		if row := b.Columns[0].At(0); x.want != "" && row != x.want || x.want == "" && row == "200000 0" {
			t.Errorf("got %v, want %s", row, x.want)
		}
		rows.Close()
		q.Close()
	}
	// The other processes are still kept away, and the next checkpoint works.
	write("INSERT INTO d.t VALUES (0, 'z')")
	if log := size(t, s.in.path+logSuffix); log >= logLimit {
		t.Errorf("after the hold the log still has %d bytes", log)
	}
	if b, err := os.ReadFile("/proc/locks"); err == nil {
		fi, _ := os.Stat(filepath.Join(dir, "data.duckdb"))
		if !strings.Contains(string(b), inode(fi)) {
			t.Errorf("DuckDB has lost the lock on its file:\n%s", b)
		}
	}
}

// TestHoldBesideAWriter: a client's transaction that writes is waited for by nobody, and is not in
// the copy.
func TestHoldBesideAWriter(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{Threads: 2})
	c := testSession(t, s)
	testPeople(t, c)
	must(t, c.Begin(ctx))
	write(t, c, people, "DELETE FROM shop.people")
	h, err := s.Hold(ctx)
	must(t, err)
	to := filepath.Join(t.TempDir(), "copy.duckdb")
	f, err := os.Create(to)
	must(t, err)
	_, err = io.Copy(f, h.Reader())
	must(t, err)
	must(t, f.Close())
	must(t, c.Commit(ctx))
	equal(t, "rows", ask(t, s, "SELECT count(*) FROM shop.people"), int64(0))
	must(t, Forgive(to))
	copied := testReopen(t, to, Options{})
	equal(t, "rows of the copy", ask(t, copied, "SELECT count(*) FROM shop.people"), int64(3))
	if err := s.Close(); err != nil { // ends the hold
		t.Fatal(err)
	}
	if err := h.Close(); err != store.ErrClosed {
		t.Errorf("got %v after the store's end", err)
	}
}

// TestACancelledCopyHaltsNothing: a copy that is given up while the log is written into the file
// does not halt the store.
func TestACancelledCopyHaltsNothing(t *testing.T) {
	s, _ := testOpen(t, Options{Threads: 2})
	c := testSession(t, s)
	testPeople(t, c)
	for i := range 20 {
		write(t, c, people, "UPDATE shop.people SET name = repeat('x', 300000) || id")
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*300*time.Microsecond)
		if h, err := s.Hold(ctx); err == nil {
			must(t, h.Close())
		}
		cancel()
		must(t, s.Halted())
	}
	equal(t, "rows", ask(t, s, "SELECT count(*) FROM shop.people"), int64(3))
}

// headers is where the blocks of a data file begin: a main header and two of the database's states.
const headers = 3 * 4096

func size(t *testing.T, path string) int64 {
	t.Helper()
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	must(t, err)
	return fi.Size()
}

func inode(fi os.FileInfo) string {
	st, _ := fi.Sys().(*syscall.Stat_t)
	return fmt.Sprintf(":%d ", st.Ino)
}
