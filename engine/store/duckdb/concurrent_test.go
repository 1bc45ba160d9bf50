package duckdb

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/engine/store"
)

// Writers add 1 to a row each time, readers take snapshots meanwhile. In every snapshot the sum
// must be the number of changes that the version counts: version and rows are of the same state,
// and no committed change leaves the version.
func TestVersionsMatchRowsUnderLoad(t *testing.T) {
	const writers, readers = 3, 3
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	write(t, c, people, "CREATE SCHEMA shop", "CREATE TABLE shop.people (id INTEGER, x DOUBLE)")
	for i := range writers {
		write(t, c, people, "INSERT INTO shop.people VALUES ("+strconv.Itoa(i)+", 0)")
	}
	const before = 2 + writers // statements so far
	stop := time.Now().Add(time.Second)
	var group sync.WaitGroup
	run := func(f func() error) {
		group.Go(func() {
			for time.Now().Before(stop) {
				if err := f(); err != nil {
					t.Errorf("%v (driver: %+v)", err, err)
					return
				}
			}
		})
	}
	for i := range writers {
		w := testSession(t, s)
		run(func() error {
			_, err := w.Write(ctx, []store.TableRef{people}, "UPDATE shop.people SET x = x + 1 WHERE id = $1", int64(i))
			return err
		})
	}
	run(func() error { return s.use(func(k *conn) error { return k.fold(ctx) }) })
	run(func() error { s.cache.change()(); _, err := s.Tables(ctx, "shop"); return err })
	snapshots := make([]int, readers)
	for i := range readers {
		run(func() error {
			snap, err := s.Snapshot(ctx)
			if err != nil {
				return err
			}
			defer snap.Close()
			var sum float64
			err = snap.Scan(ctx, "SELECT sum(x) FROM shop.people", nil, []store.ScanType{store.ScanFloat64}, func(c store.Chunk) error {
				sum = c.Columns[0].Floats[0]
				return nil
			})
			if err != nil {
				return err
			}
			v, err := snap.Versions(ctx, people)
			if err != nil {
				return err
			}
			count, _, _ := strings.Cut(v[0], "-")
			if n, _ := strconv.Atoi(count); n-before != int(sum) {
				t.Errorf("version %s with %v changes", v[0], sum)
			}
			snapshots[i]++
			return nil
		})
	}
	group.Wait()
	total := all(t, c, "SELECT CAST(sum(x) AS BIGINT) FROM shop.people")[0][0].(int64)
	if total == 0 || snapshots[0] == 0 {
		t.Errorf("%d writes, snapshots %v: nothing was tested", total, snapshots)
	}
}
