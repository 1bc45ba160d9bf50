package duckdb

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
	"scrim/engine/store/lake"
)

// snapshot implements store.Snapshot: a connection in a read-only transaction. A connection is used
// again after a snapshot whose statements all ended well; its transaction has ended then, so that
// it cannot show an old state.
type snapshot struct {
	st *Store

	mu     sync.Mutex
	pooled *pooledConn
	closed bool
	once   bool // no transaction is begun for its one scan, which DuckDB runs in one of its own
	begun  bool
	over   bool      // the one scan without a transaction
	broken bool      // a statement failed, or its result was not read to the end
	state  *state    // what the transaction shows; nil where a commit was under way when it began
	spare  *snapshot // in a transaction of the same state, for Alone; commits.sparing guards it
	single bool      // it is one, and gets none
	tables int       // that were made in the transaction
	alone  func()    // lets the other statements of the store go on; nil unless they wait for this
	read   map[store.TableRef]tableVersion
	pins   pins   // files that its connection reads
	copies copies // of other servers' tables, which its connection has
}

// Snapshot implements store.Store.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, classify(ctx, err)
	}
	out, err := s.begun(false)
	if err != nil {
		return nil, classify(ctx, err)
	}
	return out, nil
}

// begun returns a snapshot in a transaction; single says that it gets no spare.
func (s *Store) begun(single bool) (*snapshot, error) {
	out, err := s.connectSnapshot()
	if err != nil {
		return nil, err
	}
	out.single = single
	if err := out.begin(); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// Once implements store.Store.
func (s *Store) Once(ctx context.Context) (store.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, classify(ctx, err)
	}
	out, err := s.connectSnapshot()
	if err != nil {
		return nil, err
	}
	out.once = true
	return out, nil
}

func (s *Store) connectSnapshot() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, store.ErrClosed
	}
	if err := s.Halted(); err != nil {
		return nil, err
	}
	out := &snapshot{st: s}
	if n := len(s.idle); n > 0 {
		out.pooled, s.idle = s.idle[n-1], s.idle[:n-1]
	} else {
		var err error
		if out.pooled, err = s.in.connectPooled(); err != nil {
			return nil, err
		}
	}
	s.open[out] = struct{}{}
	return out, nil
}

// begin fixes the state that the snapshot shows. It does not wait for a commit that is under way:
// the state is then one before or after it, and not known.
func (s *snapshot) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	return s.start()
}

// start is begin. s.mu is held.
func (s *snapshot) start() error {
	c := &s.st.commits
	if !s.single && c.mu.TryRLock() {
		defer c.mu.RUnlock()
		s.state = c.now.Load()
	}
	for {
		err := s.pooled.do(s.pooled.begin)
		s.begun, s.broken = true, err != nil
		if err != nil || s.single {
			return err
		}
		if s.state != nil {
			c.show(s)
			return nil
		}
		if same, err := s.pair(); same || err != nil {
			return err
		}
		s.end()
	}
}

// pair begins the spare of a snapshot whose state is not known. It compares the versions that the
// two show: a commit may have come between. s.mu is held.
func (s *snapshot) pair() (same bool, err error) {
	spare, err := s.st.begun(true)
	if err != nil {
		return false, err
	}
	s.st.commits.give(s, spare)
	if _, err = spare.Versions(context.Background()); err == nil {
		s.read, err = s.readVersions(context.Background())
	}
	return err == nil && maps.Equal(s.read, spare.read), err
}

// end ends the transaction, and the spare. s.mu is held.
func (s *snapshot) end() {
	if spare := s.st.commits.leave(s); spare != nil {
		spare.Close()
	}
	if s.begun && s.pooled.do(s.pooled.end) != nil { // fails only when nothing was begun
		s.broken = true
	}
	s.begun = false
}

// Scan implements store.Snapshot. The vectors of numbers and of arrays are DuckDB's own memory, the
// texts are copies. An Ints or Floats element of a NULL is undefined, a Texts element is "".
func (s *snapshot) Scan(ctx context.Context, sql string, args []any, types []store.ScanType, each ...func(store.Chunk) error) error {
	return s.scanned(ctx, query{sql, args, types, false}, each...)
}

// ScanInOrder implements store.Snapshot.
func (s *snapshot) ScanInOrder(ctx context.Context, sql string, args []any, types []store.ScanType, each func(store.Chunk) error) error {
	return s.scanned(ctx, query{sql, args, types, true}, each)
}

// query is a generated SELECT whose rows are scanned.
type query struct {
	sql     string
	args    []any
	types   []store.ScanType
	ordered bool
}

// scanned is Scan and ScanInOrder.
func (s *snapshot) scanned(ctx context.Context, q query, each ...func(store.Chunk) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return classify(ctx, err)
	}
	defer leave()
	return s.reading(ctx, q.sql, func(sql string) error {
		q.sql = sql
		return s.scanOpen(ctx, q, each...)
	})
}

// scanOpen is scanned. s.mu is held.
func (s *snapshot) scanOpen(ctx context.Context, q query, each ...func(store.Chunk) error) error {
	if !s.once || s.begun {
		return s.scan(ctx, q, nil, each...)
	}
	if s.over {
		return internal("a second scan")
	}
	s.over = true
	// DuckDB begins the scan's transaction when it makes the statement ready to be executed: it
	// looks the catalogue's version up in that transaction, to tell whether the plan still holds,
	// or plans anew. Until then nobody commits.
	c := &s.st.commits
	if c.mu.TryRLock() {
		if s.state = c.now.Load(); s.state != nil {
			c.show(s)
			return s.scan(ctx, q, sync.OnceFunc(c.mu.RUnlock), each...)
		}
		c.mu.RUnlock() // the versions have to be read in the transaction of the rows
	}
	if err := s.start(); err != nil {
		return classify(ctx, err)
	}
	return s.scan(ctx, q, nil, each...)
}

// scan runs a query, whose rows in order the first function takes. It calls started, if not nil,
// once what it shows is fixed, or it has failed. s.mu is held.
func (s *snapshot) scan(ctx context.Context, q query, started func(), each ...func(store.Chunk) error) error {
	if started != nil {
		defer started()
	}
	text := q.text()
	p, err := s.pooled.prepared(text, s.state)
	if err != nil {
		s.broken = true
		if _, plain := s.pooled.prepared(q.sql, nil); plain != nil {
			err = plain // of the text as it was given
		}
		return classify(ctx, err)
	}
	var own atomic.Pointer[error] // of the caller's, which goes back as it is
	takers, start := make([]*taker, len(each)), time.Now()
	for i, take := range each {
		takers[i] = &taker{r: newReader(q.types), each: func(ch store.Chunk) error {
			err := take(ch)
			if err != nil {
				own.CompareAndSwap(nil, &err)
			}
			return err
		}}
	}
	if q.ordered {
		l := takers[0]
		err = s.pooled.stream(ctx, p.stmt, q.args, started, l.r.check, func(chunk mapping.DataChunk) error { return l.each(l.r.read(chunk, 0)) })
	} else {
		err = s.pooled.delivered(ctx, p.stmt, q.args, started, takers)
	}
	if err != nil {
		s.broken = true
		mapping.DestroyPrepare(&p.stmt)
	} else if s.tables > 0 || len(s.copies) > 0 {
		mapping.DestroyPrepare(&p.stmt) // another snapshot's tables may have the same names
	} else {
		s.pooled.keep(text, p, time.Since(start))
	}
	if e := own.Load(); e != nil {
		return *e
	}
	if err == nil {
		err = s.st.Halted() // then the rows may have been others than those that were committed
	}
	return s.st.noteFatal(classify(ctx, err))
}

// Versions implements store.Snapshot.
func (s *snapshot) Versions(ctx context.Context, refs ...store.TableRef) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, store.ErrClosed
	}
	if s.once && !s.begun && !s.over {
		if err := s.start(); err != nil {
			return nil, classify(ctx, err)
		}
	}
	if s.state != nil {
		return s.withSources(ctx, s.state.of(refs), refs)
	}
	if s.read == nil {
		var err error
		if s.read, err = s.readVersions(ctx); err != nil {
			return nil, err
		}
	}
	return s.withSources(ctx, (&state{s.read}).of(refs), refs)
}

// withSources adds the versions of what others keep to those of attached tables. s.mu is held.
func (s *snapshot) withSources(ctx context.Context, versions []string, refs []store.TableRef) ([]string, error) {
	return s.st.sources.versions(ctx, versions, refs, func(a *attached) (*lake.Pin, error) { return s.pinned(ctx, a) }, s.copies)
}

// Close implements store.Snapshot.
func (s *snapshot) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.end()
	s.st.release(s, !s.broken && len(s.pins) == 0 && len(s.copies) == 0) // plans rest on the files
	if s.alone != nil {
		s.alone()
	}
	return nil
}

// release forgets a snapshot and keeps its connection for another one, if that is good and there is
// room.
func (s *Store) release(snap *snapshot, good bool) {
	s.mu.Lock()
	delete(s.open, snap)
	if good && !s.closed && len(s.idle) < maxIdle {
		s.idle = append(s.idle, snap.pooled)
		snap.pooled = nil
	}
	s.mu.Unlock()
	if snap.pooled != nil {
		snap.pooled.close()
		snap.pooled = nil
	}
}
