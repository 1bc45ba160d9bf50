package exec

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"scrim/engine/store"
	"scrim/planner/plan"
)

// publicPersons returns the public number of persons of a release, in the state that its scans
// read; 0 where none of its aggregates takes it as public. It is counted once for each version of
// the table.
func (x *Executor) publicPersons(ctx context.Context, snap store.Snapshot, r *plan.Release) (int64, error) {
	if r.Persons == "" {
		return 0, nil
	}
	versions, err := snap.Versions(ctx, r.Reads...)
	if err != nil {
		return 0, err
	}
	version := strings.Join(versions, " ")
	if n, ok := x.counts.find(r.Persons, version); ok {
		return n, nil
	}
	n, rows := int64(0), 0
	err = snap.Scan(ctx, r.Persons, nil, []store.ScanType{store.ScanInt64}, func(ch store.Chunk) error {
		for _, v := range ch.Columns[0].Ints[:ch.Len] {
			n, rows = v, rows+1
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if rows != 1 || n < 0 {
		return 0, fmt.Errorf("exec: %d rows count %d persons", rows, n)
	}
	x.counts.keep(r.Persons, version, n)
	return n, nil
}

// personCounts keeps how many persons tables have, by the SELECT that counts them, for their newest
// version that was asked for. The zero value is ready.
type personCounts struct {
	mu  sync.Mutex
	now map[string]personCount
}

type personCount struct {
	version string
	n       int64
}

// mostCounts bounds the tables that are remembered. A table that is forgotten is counted again.
const mostCounts = 1 << 10

func (c *personCounts) find(sql, version string) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.now[sql]
	return k.n, ok && k.version == version
}

func (c *personCounts) keep(sql, version string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil || len(c.now) >= mostCounts {
		c.now = map[string]personCount{}
	}
	c.now[sql] = personCount{version, n}
}
