package duckdb

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"scrim/engine/store"
)

// Alone implements store.Store.
func (s *Store) Alone(ctx context.Context) (store.Snapshot, error) {
	reopen, err := s.gate.alone(ctx)
	if err != nil {
		return nil, classify(ctx, err)
	}
	s.forgetPlans()
	s.in.helpers.rests.Store(true)
	opened, err := s.Snapshot(ctx)
	if err != nil {
		s.in.helpers.rests.Store(false)
		reopen()
		return nil, err
	}
	snap := opened.(*snapshot)
	snap.mu.Lock()
	defer snap.mu.Unlock()
	snap.alone = func() {
		s.in.helpers.rests.Store(false)
		reopen()
	}
	if snap.closed { // the store was closed meanwhile
		snap.alone()
		return nil, store.ErrClosed
	}
	return snap, nil
}

// Alive tells whether DuckDB runs statements, by one that needs nothing and waits for nobody who is
// alone.
func (s *Store) Alive(ctx context.Context) error {
	snap, err := s.connectSnapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	snap.mu.Lock()
	defer snap.mu.Unlock()
	if snap.closed {
		return store.ErrClosed
	}
	return snap.scan(ctx, query{"SELECT 1::BIGINT", nil, []store.ScanType{store.ScanInt64}, true}, nil, func(store.Chunk) error { return nil })
}

// forgetPlans gives back the memory that plans of idle connections hold.
func (s *Store) forgetPlans() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.idle {
		l.forget()
	}
}

// enter waits until a scan of a snapshot may run: until nobody else is alone, and there is memory
// for one more.
func (s *snapshot) enter(ctx context.Context) (leave func(), err error) {
	if err := errors.Join(s.st.Halted(), ctx.Err()); err != nil || s.alone != nil {
		return func() {}, err
	}
	return s.st.admit(ctx, s.st.scans)
}

const (
	// perScan is the memory that is counted on for a scan of a snapshot, so that as many run at
	// once as the memory limit allows for. A hash aggregate over texts or a window, on two threads,
	// spills in that much; what needs more is done again alone.
	perScan = 256 << 20
	// fewestScans run at once however small the limit: most scans are short and need little.
	fewestScans = 2
)

// scansAtOnce follows from the memory limit, as DuckDB writes it ("953.6 MiB").
func scansAtOnce(limit string) int {
	number, unit, _ := strings.Cut(limit, " ")
	bytes, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fewestScans
	}
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if bytes *= 1024; u == unit {
			return max(fewestScans, int(min(bytes/perScan, 1<<10)))
		}
	}
	return fewestScans
}
