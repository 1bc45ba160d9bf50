package duckdb

import (
	"context"
	"io"
	"testing"
	"time"

	"scrim/engine/store"
)

// large is a query with far more rows than a session fetches ahead.
const large = "SELECT a.i AS a, b.i AS b FROM range(4000) a(i), range(4000) b(i)"

// TestLargeResultsAreFetchedWhileRead: a session holds a few of the rows only, and all of them
// come.
func TestLargeResultsAreFetchedWhileRead(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	r, err := c.Query(context.Background(), large)
	must(t, err)
	if held := c.(*session).gathered; held == 0 || held > 2*maxAhead {
		t.Errorf("the session holds %d bytes of the result, want at most %d", held, 2*maxAhead)
	}
	n := 0
	for {
		b, err := r.Batch()
		if err == io.EOF {
			break
		}
		must(t, err)
		n += b.Len
	}
	must(t, r.Close())
	if held := c.(*session).gathered; n != 16_000_000 || held != 0 {
		t.Errorf("read %d rows, want 16000000; %d bytes are still held", n, held)
	}
}

// TestStatementsBesideLargeResults: what fits is kept for its reader, and more ends as what it is:
// too much memory.
func TestStatementsBesideLargeResults(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	for _, tt := range []struct {
		sql  string
		rows int
	}{{"SELECT i FROM range(1000000) t(i)", 1_000_000}, {large, 0}} {
		r, err := c.Query(context.Background(), tt.sql)
		must(t, err)
		equal(t, "beside it", all(t, c, "SELECT 7 AS v")[0][0], int64(7))
		n, err := 0, error(nil)
		for err == nil {
			var b *store.Batch
			if b, err = r.Batch(); err == nil {
				n += b.Len
			}
		}
		if tt.rows > 0 && (err != io.EOF || n != tt.rows) || tt.rows == 0 && store.KindOf(err) != store.OutOfMemory {
			t.Errorf("%s: read %d rows, %v", tt.sql, n, err)
		}
		must(t, r.Close())
	}
}

// TestUnreadResultsEnd: a store closes soon after a result that nobody read to its end, closed or
// not, and what reads on is told.
func TestUnreadResultsEnd(t *testing.T) {
	for _, closed := range []bool{true, false} {
		s, _ := testOpen(t, Options{})
		c, err := s.Session(context.Background())
		must(t, err)
		for _, sql := range []string{"CREATE TABLE t (i INTEGER)", "INSERT INTO t VALUES (1)"} {
			_, err := c.Write(context.Background(), nil, sql)
			must(t, err)
		}
		r, err := c.Query(context.Background(), large+", t")
		must(t, err)
		if closed {
			must(t, r.Close())
		}
		done := make(chan error, 1)
		go func() { done <- s.Close() }()
		select {
		case err := <-done:
			must(t, err)
		case <-time.After(time.Minute):
			t.Fatalf("closed %v: the store does not close", closed)
		}
		if _, err := r.Batch(); err == nil && closed {
			t.Error("a closed result has rows")
		}
	}
}

// TestClosedResultsKeepNoTransaction: DuckDB ends the transaction of a result that nobody read to
// its end with the connection's next statement only, and until then cannot write its log into its
// file.
func TestClosedResultsKeepNoTransaction(t *testing.T) {
	s, _ := testOpen(t, Options{})
	reader, writer := testSession(t, s), testSession(t, s)
	write := func(sql string) {
		t.Helper()
		_, err := writer.Write(context.Background(), nil, sql)
		must(t, err)
	}
	write("CREATE TABLE t (i INTEGER)")
	write("INSERT INTO t SELECT i FROM range(300000) r(i)")
	r, err := reader.Query(context.Background(), large+", t WHERE t.i < 3")
	must(t, err)
	must(t, r.Close())
	write("DELETE FROM t WHERE i > 10")
	done := make(chan error, 1)
	go func() { done <- s.checkpoint(context.Background(), func() {}) }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(time.Minute):
		t.Error("there is no checkpoint while a session lives that has closed its result")
		must(t, reader.Close())
		must(t, <-done)
	}
}

// TestClosedSessionsComputeNothing: a session ends without the rest of a result that it was
// reading, which may take hours.
func TestClosedSessionsComputeNothing(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	_, err := c.Query(context.Background(), "SELECT i FROM range(4000000) t(i) UNION ALL SELECT a.i FROM range(1000000) a(i), range(1000000) b(i) WHERE a.i * b.i = -1")
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- c.Close() }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the session does not end")
	}
}
