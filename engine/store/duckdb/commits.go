package duckdb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"scrim/engine/store"
	"scrim/engine/store/lake"
)

// state is one committed state of the tables, as far as it is known without asking DuckDB: their
// versions. It is immutable, and every commit that changed a table or a definition makes a new one,
// so that two equal pointers mean the same rows.
type state struct {
	versions map[store.TableRef]tableVersion
}

// tableVersion is the sum of a table's log entries, and of their tokens.
type tableVersion struct{ entries, token int64 }

// of returns the versions of some tables.
func (s *state) of(refs []store.TableRef) []string {
	out := make([]string, len(refs))
	for i, r := range refs {
		v := s.versions[r]
		out[i] = versionText(v.entries, v.token)
	}
	return out
}

// changed tells whether a table that a statement names has changed since another state. It may say
// so of a table whose name is only a part of the text.
func (s *state) changed(since *state, sql string) bool {
	if s == since {
		return false
	}
	if len(s.versions) < len(since.versions) || strings.Contains(sql, hidden) {
		return true // since is later, or the store's own tables are read, which have no versions
	}
	sql = strings.ToLower(sql)
	for r, v := range s.versions {
		if v != since.versions[r] && strings.Contains(sql, strings.ToLower(strings.ReplaceAll(r.Name, `"`, `""`))) {
			return true
		}
	}
	return false
}

// commits knows the state that DuckDB would show. Whoever commits a change holds mu for writing
// meanwhile. So whoever begins a transaction while holding it for reading sees exactly the state
// that is known then, because DuckDB takes a transaction's state when it begins (see immediate).
type commits struct {
	mu  sync.RWMutex
	now atomic.Pointer[state] // of the last commit that has ended; nil when it is not known

	sparing sync.Mutex
	showing map[*snapshot]struct{} // the state of now, and have no spare
}

// A snapshot that has failed goes on, alone, in a second transaction of its state (Alone). DuckDB
// begins none in an old state. So whoever commits begins one before, a spare, for each snapshot
// that shows the state until then; where nobody commits, none is begun.

// show notes that a snapshot shows the state of now. c.mu is held for reading.
func (c *commits) show(s *snapshot) {
	c.sparing.Lock()
	defer c.sparing.Unlock()
	c.showing[s] = struct{}{}
}

func (c *commits) give(s, spare *snapshot) {
	c.sparing.Lock()
	defer c.sparing.Unlock()
	s.spare = spare
}

// leave takes a snapshot's spare, nil if it has none. It gets none any more.
func (c *commits) leave(s *snapshot) (spare *snapshot) {
	c.sparing.Lock()
	defer c.sparing.Unlock()
	delete(c.showing, s)
	spare, s.spare = s.spare, nil
	return spare
}

// spare gives spares before a commit. Where there is no connection for one, the snapshot cannot go
// on after a failure. c.mu is held for writing.
func (s *Store) spare() {
	s.commits.sparing.Lock()
	defer s.commits.sparing.Unlock()
	for snap := range s.commits.showing {
		snap.spare, _ = s.begun(true)
	}
	clear(s.commits.showing)
}

// second returns a snapshot in a transaction of the state that s shows; where s shows none yet, one
// without a transaction. s.mu is held.
func (s *snapshot) second() (*snapshot, error) {
	if !s.begun && !s.over {
		return s.st.connectSnapshot()
	}
	c := &s.st.commits
	c.mu.RLock() // a commit that is under way has given the spare, or gives it
	defer c.mu.RUnlock()
	if spare := c.leave(s); spare != nil {
		return spare, nil
	}
	if s.state == nil || s.state != c.now.Load() {
		return nil, internal("no second transaction of a snapshot's state")
	}
	return s.st.begun(true)
}

// immediate makes BEGIN fix what a transaction sees. Otherwise DuckDB would do it at the
// transaction's first access, which is later than the state is noted.
const immediate = "SET GLOBAL immediate_transaction_mode = true"

// commit runs f, which commits changes and the log entries that have the tokens. A commit that
// failed may have changed anything: the state is read again after it, and where that fails too, it
// is not known until a later commit. One that the disk failed halts the store, and its error is of
// kind InDoubt.
func (s *Store) commit(tokens map[store.TableRef]int64, f func() error) error {
	c := &s.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := s.Halted(); err != nil {
		return err
	}
	if err := s.roomToCommit(); err != nil {
		return err
	}
	s.spare()
	err := f()
	before := c.now.Load()
	if typed := classify(context.Background(), err); err != nil && !settled(typed) {
		err = &store.Error{Kind: store.InDoubt, Cause: s.halt(typed)}
	}
	if err == nil {
		if failed := s.in.acknowledged.add(len(tokens)); failed != nil {
			_ = s.halt(failed) // the change itself is durable
		}
	}
	if err != nil || before == nil {
		c.now.Store(s.readState())
		return err
	}
	after := &state{versions: maps.Clone(before.versions)}
	for r, token := range tokens {
		v := after.versions[r]
		after.versions[r] = tableVersion{v.entries + 1, v.token ^ token}
	}
	c.now.Store(after)
	return nil
}

// readState reads the state from the log while nothing is being committed. It returns nil if it
// cannot.
func (s *Store) readState() *state {
	snap, err := s.connectSnapshot()
	if err != nil {
		return nil
	}
	defer snap.Close()
	versions, err := snap.readVersions(context.Background())
	if err != nil {
		return nil
	}
	return &state{versions}
}

// Versions implements store.Store.
func (s *Store) Versions(ctx context.Context, refs ...store.TableRef) ([]string, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if now := s.commits.now.Load(); now != nil {
		versions, err := s.sources.versions(ctx, now.of(refs), refs, func(a *attached) (*lake.Pin, error) { return s.pin(ctx, a) }, nil)
		if err != nil {
			return nil, err
		}
		return versions, ctx.Err()
	}
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	return snap.Versions(ctx, refs...)
}

// Mark is what a store keeps for its owner beside the rows: how far something outside of it had
// come when the rows were committed.
type Mark struct {
	Order uint64 // of two marks the higher one counts
	Text  string
}

// marks knows the mark that the next commit of a change takes along.
type marks struct {
	now  atomic.Pointer[func() Mark] // nil: none is taken along
	last atomic.Pointer[Mark]        // that is committed, as far as this process knows
}

// Follow has every later commit of a change take the mark of its moment along, in the same
// transaction. A mark that is committed already is not written again.
func (s *Store) Follow(now func() Mark) { s.marks.now.Store(&now) }

const markSQL = `INSERT INTO ` + hidden + `.mark VALUES ($1, $2)`

// mark puts the present mark into the transaction that runs, where it is not committed yet, and
// returns it, else nil. It is a row of its own, for two transactions that change one row cannot
// both commit.
func (s *Store) mark(c *conn) (*Mark, error) {
	now := s.marks.now.Load()
	if now == nil {
		return nil, nil
	}
	m := (*now)()
	if last := s.marks.last.Load(); last != nil && *last == m {
		return nil, nil
	}
	if c.marking == nil {
		var err error
		if c.marking, _, err = c.prepare(markSQL); err != nil {
			return nil, err
		}
	}
	_, err := c.run(context.Background(), c.marking, []any{int64(m.Order), m.Text})
	return &m, err
}

// marked notes that a mark is committed.
func (s *Store) marked(m *Mark) {
	if m != nil {
		s.marks.last.Store(m)
	}
}

// Mark returns the highest mark that is committed; ok is false where there is none.
func (s *Store) Mark(ctx context.Context) (m Mark, ok bool, err error) {
	err = s.use(func(keeper *conn) error {
		rows, err := keeper.collect(ctx, `SELECT "order", "text" FROM `+hidden+`.mark ORDER BY "order" DESC LIMIT 1`)
		if err != nil || len(rows) == 0 {
			return classify(ctx, err)
		}
		order, isInt := rows[0][0].(int64)
		text, isText := rows[0][1].(string)
		if !isInt || !isText {
			return fmt.Errorf("duckdb: a mark of types %T and %T", rows[0][0], rows[0][1])
		}
		m, ok = Mark{uint64(order), text}, true
		return nil
	})
	return m, ok, err
}

// SetMark puts a mark in the place of all that are committed, higher ones too.
func (s *Store) SetMark(ctx context.Context, m Mark) error {
	return s.use(func(keeper *conn) error {
		err := s.commit(nil, func() error {
			return keeper.within(ctx, func() error {
				if _, err := keeper.exec(ctx, `DELETE FROM `+hidden+`.mark`); err != nil {
					return err
				}
				_, err := keeper.exec(ctx, markSQL, int64(m.Order), m.Text)
				return err
			})
		})
		if err == nil {
			s.marked(&m)
		}
		return classify(ctx, err)
	})
}

// foldMarks leaves of all marks the highest. It runs in a transaction.
func (c *conn) foldMarks(ctx context.Context) error {
	_, err := c.exec(ctx, `DELETE FROM `+hidden+`.mark WHERE "order" < (SELECT max("order") FROM `+hidden+`.mark)`)
	return err
}

// reference is a look at a parent's rows for a foreign key (see store.Session.Refer).
type reference struct {
	parent  store.TableRef
	removes bool
}

// references know of each kind of look the last commit that did it; commits.mu guards them. DuckDB
// itself sees no conflict between a row that goes and a new row that references it.
type references struct {
	now  atomic.Int64 // commits that did any
	last map[reference]int64
}

// crossed reports whether a transaction that has committed since did the other of what list does.
func (s *Store) crossed(list []reference, since int64) bool {
	return slices.ContainsFunc(list, func(r reference) bool { return s.references.last[reference{r.parent, !r.removes}] > since })
}

// refer notes what a transaction did that has committed.
func (s *Store) refer(list []reference) {
	if len(list) == 0 {
		return
	}
	if s.references.last == nil {
		s.references.last = map[reference]int64{}
	}
	for _, r := range list {
		s.references.last[r] = s.references.now.Load() + 1
	}
	s.references.now.Add(1)
}
