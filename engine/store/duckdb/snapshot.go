package duckdb

import (
	"context"
	"sync"

	"github.com/marcboeker/go-duckdb/mapping"

	"scrim/engine/store"
)

// snapshot implements store.Snapshot: a connection in a read-only transaction. Opening one takes
// less than a millisecond, so none are pooled: a fresh connection cannot show an old state.
type snapshot struct {
	st *Store

	mu       sync.Mutex
	r        *raw
	closed   bool
	versions map[store.TableRef]tableVersion // of all tables
}

// Snapshot implements store.Store.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	out, err := s.connectSnapshot()
	if err != nil {
		return nil, err
	}
	if err := out.begin(ctx); err != nil {
		out.Close()
		return nil, classify(ctx, err)
	}
	return out, nil
}

func (s *Store) connectSnapshot() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, store.ErrClosed
	}
	r, err := s.in.connectRaw()
	if err != nil {
		return nil, err
	}
	out := &snapshot{st: s, r: r}
	s.open[out] = struct{}{}
	return out, nil
}

// begin fixes the state: DuckDB takes it at a transaction's first access to the database, which is made here by reading the
// tables' versions.
func (s *snapshot) begin(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if _, err := s.r.exec(ctx, "BEGIN TRANSACTION READ ONLY"); err != nil {
		return err
	}
	return s.readVersions(ctx)
}

// Scan implements store.Snapshot. The vectors of numbers and of arrays are DuckDB's own memory, the texts
// are copies. An Ints or Floats element of a NULL is undefined, a Texts element is "".
func (s *snapshot) Scan(ctx context.Context, sql string, args []any, types []store.ScanType, each func(store.Chunk) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	return s.scan(ctx, sql, args, types, each)
}

// scan is Scan. s.mu is held.
func (s *snapshot) scan(ctx context.Context, sql string, args []any, types []store.ScanType, each func(store.Chunk) error) error {
	stmt, err := s.r.prepare(sql, mapping.StatementTypeSelect)
	if err != nil {
		return classify(ctx, err)
	}
	defer mapping.DestroyPrepare(&stmt)
	// The caller's own error goes back as it is.
	var own error
	r := newReader(types)
	err = s.r.stream(ctx, stmt, args, r.check,
		func(chunk mapping.DataChunk) error {
			own = each(r.read(chunk))
			return own
		})
	if own != nil {
		return own
	}
	return classify(ctx, err)
}

// Close implements store.Snapshot.
func (s *snapshot) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	_, _ = s.r.exec(context.Background(), "ROLLBACK") // fails only when nothing was begun
	s.r.close()
	s.st.forget(s)
	return nil
}
