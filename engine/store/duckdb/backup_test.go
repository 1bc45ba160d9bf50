package duckdb

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

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
	err = s.use(func(k *conn) error { _, err := k.exec(ctx, "CHECKPOINT"); return err })
	if err == nil || !strings.Contains(err.Error(), "transaction") {
		t.Errorf("got %v, want no checkpoint while the file is held", err)
	}
	// Large enough to be written to the file before the commit, and for a checkpoint of DuckDB's
	// own.
	var writing sync.WaitGroup
	writing.Go(func() {
		for range 3 {
			write("INSERT INTO d.t SELECT i, repeat('y', 200) || i FROM range(300000) r(i)")
			write("DELETE FROM d.t WHERE i % 2 = 0")
		}
	})
	writing.Wait()
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
	if err := s.checkpoint(ctx); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile("/proc/locks"); err == nil {
		fi, _ := os.Stat(filepath.Join(dir, "data.duckdb"))
		if !strings.Contains(string(b), inode(fi)) {
			t.Errorf("DuckDB has lost the lock on its file:\n%s", b)
		}
	}
}

// TestHoldWaits holds nothing back while a client's transaction writes: it waits for its end.
func TestHoldWaits(t *testing.T) {
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "data.duckdb"), Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(ctx, []store.TableRef{{Schema: "d", Name: "t"}}, "CREATE SCHEMA d"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { _, err := s.Hold(short); done <- err }()
	select {
	case err := <-done:
		t.Errorf("got %v while a transaction writes", err)
	default:
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("held beside a transaction that writes")
	}
	if err := c.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	h, err := s.Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // ends the hold
		t.Fatal(err)
	}
	if err := h.Close(); err != store.ErrClosed {
		t.Errorf("got %v after the store's end", err)
	}
}

func inode(fi os.FileInfo) string {
	st, _ := fi.Sys().(*syscall.Stat_t)
	return fmt.Sprintf(":%d ", st.Ino)
}
