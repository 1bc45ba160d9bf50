package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/engine/store"
)

var oneInt = []store.ScanType{store.ScanInt64}

// A failure after the first chunks must not look like the end of the result.
func TestFailureInMidStream(t *testing.T) {
	s, _ := testOpen(t, Options{})
	const sql = "SELECT CAST(CASE WHEN i = 4000000 THEN 'topsecret' ELSE '1' END AS BIGINT) FROM range(5000000) r(i)"
	rows := 0
	err := testSnapshot(t, s).Scan(context.Background(), sql, nil, oneInt, func(c store.Chunk) error { rows += c.Len; return nil })
	e := wantKind(t, "bad cast", err, store.BadValue)
	if strings.Contains(e.Error(), "topsecret") {
		t.Errorf("public text %q holds a value", e)
	}
	if rows == 0 || rows >= 5_000_000 {
		t.Errorf("%d rows came before the failure", rows)
	}
}

func TestCancelInMidStream(t *testing.T) {
	s, _ := testOpen(t, Options{})
	for _, pause := range []time.Duration{0, time.Millisecond} {
		ctx, cancel := context.WithCancel(context.Background())
		snap := testSnapshot(t, s)
		rows := 0
		start := time.Now()
		err := snap.Scan(ctx, "SELECT i FROM range(100000000000) r(i)", nil, oneInt, func(c store.Chunk) error {
			if rows += c.Len; rows > 100_000 {
				cancel()
			}
			time.Sleep(pause)
			return nil
		})
		cancel()
		wantKind(t, "cancelled", err, store.Interrupted)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("took %v to stop", d)
		}
		must(t, snap.Close())
	}
	// The next snapshot is as good as new.
	rows := 0
	must(t, testSnapshot(t, s).Scan(context.Background(), "SELECT i FROM range(300000) r(i)", nil, oneInt,
		func(c store.Chunk) error { rows += c.Len; return nil }))
	equal(t, "rows", rows, 300_000)
}

// A result far beyond the memory limit goes through, in little memory.
func TestResultIsNotKeptInMemory(t *testing.T) {
	s, _ := testOpen(t, Options{MemoryLimit: "100MB"})
	resident := func() float64 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Skip("no account of the process's memory here")
		}
		_, after, _ := strings.Cut(string(status), "VmRSS:")
		var kib float64
		_, err = fmt.Sscan(after, &kib)
		must(t, err)
		return kib / 1024
	}
	const n = 20_000_000 // three columns: 480 MB
	before, most := resident(), 0.0
	var rows, sum int64
	must(t, testSnapshot(t, s).Scan(context.Background(), fmt.Sprintf("SELECT i, i + 1, i + 2 FROM range(%d) r(i)", n), nil,
		[]store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanInt64}, func(c store.Chunk) error {
			if rows/1_000_000 != (rows+int64(c.Len))/1_000_000 {
				most = max(most, resident())
			}
			rows += int64(c.Len)
			for _, v := range c.Columns[2].Ints {
				sum += v
			}
			return nil
		}))
	equal(t, "rows and sum", []int64{rows, sum}, []int64{n, n*(n-1)/2 + 2*n})
	if most-before > 200 {
		t.Errorf("memory grew by %.0f MiB", most-before)
	}
}

// A scan that its caller stops must not disturb the next one of the same snapshot.
func TestScanAfterAStoppedScan(t *testing.T) {
	s, _ := testOpen(t, Options{})
	testPeople(t, testSession(t, s))
	snap := testSnapshot(t, s)
	for range 3 {
		err := snap.Scan(context.Background(), "SELECT i FROM range(10000000) r(i)", nil, oneInt, func(store.Chunk) error { return os.ErrDeadlineExceeded })
		if err != os.ErrDeadlineExceeded {
			t.Fatalf("got %v, want the caller's error", err)
		}
		n, _ := total(t, snap)
		equal(t, "rows", n, int64(3))
	}
}

// Whatever way a statement is stopped, nothing of it may keep the file open: DuckDB would then wait
// for ever at the next opening.
func TestStoppedStatementsLetTheFileGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	file := testFile(t, "a.csv", "a\n1\n")
	background := context.Background()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 15 {
			ctx, cancel := context.WithTimeout(background, time.Duration(i%5)*3*time.Millisecond)
			// may or may not be in time
			_, _ = ImportFile(ctx, path, file, visits, ImportOptions{Mode: ImportReplace}, nil)
			s, err := Open(path, Options{Threads: 2})
			if err != nil {
				cancel()
				t.Errorf("Open: %v", err)
				break
			}
			for range 2 {
				snap, errSnap := s.Snapshot(background)
				c, errSession := s.Session(background)
				if errSnap != nil || errSession != nil {
					t.Errorf("connect: %v, %v", errSnap, errSession)
					break
				}
				chunks := 0
				_ = snap.Scan(ctx, "SELECT i, count(*) FROM range(500000) r(i) GROUP BY i", nil, []store.ScanType{store.ScanInt64, store.ScanInt64},
					func(store.Chunk) error {
						if chunks++; chunks > i {
							return os.ErrDeadlineExceeded
						}
						return nil
					})
				if _, err := c.Query(ctx, slow, int64(3)); err == nil {
					t.Error("the slow query ended")
				}
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			cancel()
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal("DuckDB still waits for a database that was closed")
	}
}
