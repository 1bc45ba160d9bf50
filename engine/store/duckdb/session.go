package duckdb

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"
	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// session implements store.Session on one driver connection.
type session struct {
	st *Store

	mu     sync.Mutex // a late Close meets a running statement
	c      *conn
	closed bool
	tx     bool
	// an error left the transaction without the effect of a statement: it must not commit
	aborted bool
	ddl     bool // the transaction changed a definition
	changed bool // the transaction changed anything
	// tables that the transaction changed, with the tokens of their log entries
	bumped    map[store.TableRef]int64
	refers    []reference
	mutations int   // that succeeded
	since     int64 // of the references, when the transaction began
	batches   int   // temporary tables made by Append
	repeats   repeats
	asked     texts
	reading   *rows // a result of which DuckDB is to compute more
	gathered  int   // by all results that are open
	files     bool  // it attaches or detaches a table
	copied    int   // temporary tables of other servers' rows
}

// writes are the statements that Write runs, and whether they change a definition.
var writes = map[duckdb.StmtType]bool{
	duckdb.STATEMENT_TYPE_INSERT:      false,
	duckdb.STATEMENT_TYPE_UPDATE:      false,
	duckdb.STATEMENT_TYPE_DELETE:      false,
	duckdb.STATEMENT_TYPE_CREATE:      true,
	duckdb.STATEMENT_TYPE_CREATE_FUNC: true,
	duckdb.STATEMENT_TYPE_ALTER:       true,
	duckdb.STATEMENT_TYPE_DROP:        true,
}

// usable tells whether anything but Rollback and Close may run.
func (s *session) usable() error {
	if s.closed {
		return store.ErrClosed
	}
	s.free()
	if err := s.st.Halted(); err != nil {
		return err
	}
	if s.aborted {
		return &store.Error{Kind: store.Aborted}
	}
	return nil
}

// free takes the connection from a result that is still being read.
func (s *session) free() {
	if r := s.reading; r != nil {
		s.reading = nil
		if !r.res.settle() {
			r.cut()
		}
	}
}

// Begin implements store.Session.
func (s *session) Begin(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	if s.tx {
		return internal("begin inside a transaction")
	}
	return classify(ctx, s.begin(ctx))
}

func (s *session) begin(ctx context.Context) error {
	s.since, s.refers = s.st.references.now.Load(), nil // before the transaction sees anything
	if _, err := s.c.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return err
	}
	s.tx, s.aborted, s.ddl, s.changed, s.bumped = true, false, false, false, nil
	return nil
}

// Mark implements store.Session.
func (s *session) Mark() (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	marked := s.mutations
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.aborted = s.aborted || s.tx && s.mutations != marked
	}
}

// Refer implements store.Session.
func (s *session) Refer(parent store.TableRef, removes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tx {
		s.refers = append(s.refers, reference{parent, removes})
	}
}

// Commit implements store.Session. A transaction that an error aborted is rolled back and reported
// as Aborted. A COMMIT is not interrupted half way: its outcome is always known.
func (s *session) Commit(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if !s.tx {
		return nil
	}
	if s.aborted {
		s.rollback()
		return &store.Error{Kind: store.Aborted}
	}
	if err := ctx.Err(); err != nil {
		s.rollback()
		return &store.Error{Kind: store.Interrupted, Cause: err}
	}
	return classify(ctx, s.commit())
}

func (s *session) commit() error {
	s.free()
	commit := func() error {
		if s.changed && s.st.crossed(s.refers, s.since) {
			return &store.Error{Kind: store.Conflict}
		}
		_, err := s.c.exec(context.Background(), "COMMIT")
		if err == nil && s.changed {
			s.st.refer(s.refers)
		}
		return err
	}
	if s.ddl {
		defer s.st.cache.change()()
	}
	var err error
	if s.changed {
		err = s.commitMarked(commit)
	} else {
		err = commit()
	}
	if err != nil {
		s.rollback()
		return err
	}
	entries := len(s.bumped)
	s.tx, s.ddl, s.changed, s.bumped = false, false, false, nil
	s.st.logged(entries)
	if entries > 0 {
		s.st.shorten(s.c)
	}
	return nil
}

// noTable is what a change is counted for that is of no table: each is in the log of versions.
var noTable = store.TableRef{Schema: hidden}

// commitMarked commits a change together with the store's mark.
func (s *session) commitMarked(commit func() error) error {
	if len(s.bumped) == 0 {
		if err := s.log(context.Background(), []store.TableRef{noTable}); err != nil {
			return err
		}
	}
	m, err := s.st.mark(s.c)
	if err != nil {
		return err
	}
	if err := s.st.commit(s.bumped, commit); err != nil {
		return err
	}
	s.st.marked(m)
	return nil
}

// Rollback implements store.Session.
func (s *session) Rollback(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	if s.tx {
		s.rollback()
	}
	return nil
}

// rollback ends the transaction. DuckDB fails it only when none is open, because a failed COMMIT
// has ended it.
func (s *session) rollback() {
	s.free()
	_, _ = s.c.exec(context.Background(), "ROLLBACK")
	s.tx, s.aborted, s.ddl, s.changed, s.bumped = false, false, false, false, nil
}

// InTransaction implements store.Session.
func (s *session) InTransaction() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tx
}

// Write implements store.Session.
func (s *session) Write(ctx context.Context, tables []store.TableRef, sql string, args ...any) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return 0, err
	}
	var n int64
	err := s.mutate(ctx, tables, func() (bool, error) {
		sql, named, copied, err := s.attachedIn(ctx, sql)
		if err != nil {
			return false, err
		}
		defer s.drop(copied)
		stmt, typ, err := s.c.prepare(sql)
		if err != nil {
			return false, err
		}
		defer stmt.Close()
		ddl, ok := writes[typ]
		if !ok {
			return false, errType
		}
		if n, err = s.c.run(ctx, stmt, args); err == nil {
			err = named.unchanged()
		}
		return ddl, err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// mutate runs a change and logs it for the tables, in the open transaction or in one of its own.
// An error in the open transaction aborts it.
func (s *session) mutate(ctx context.Context, tables []store.TableRef, change func() (ddl bool, err error)) error {
	if err := s.usable(); err != nil {
		return err
	}
	for _, r := range tables {
		if s.st.ReservedSchema(r.Schema) {
			return &store.Error{Kind: store.Refused, Driver: fmt.Sprintf("schema %s is reserved", r.Schema)}
		}
		if !s.files && s.st.sources.live(r) != nil {
			return &store.Error{Kind: store.Refused, Driver: fmt.Sprintf("table %s is attached", r)}
		}
	}
	leave, err := s.st.admit(ctx, s.st.work)
	if err != nil {
		return classify(ctx, err)
	}
	defer leave()
	own := !s.tx
	if own {
		if err := s.begin(ctx); err != nil {
			return classify(ctx, err)
		}
	}
	ddl, err := change()
	if err == nil {
		s.ddl, s.changed, s.mutations = s.ddl || ddl, true, s.mutations+1
		err = s.log(ctx, tables)
	}
	switch {
	case err != nil && own:
		s.rollback()
	case err != nil:
		s.aborted = true
	case own:
		err = s.commit()
	}
	return s.st.noteFatal(classify(ctx, err))
}

// log raises each table's version once a transaction.
func (s *session) log(ctx context.Context, tables []store.TableRef) error {
	for _, r := range tables {
		if _, ok := s.bumped[r]; ok {
			continue
		}
		token, err := s.c.bump(ctx, r)
		if err != nil {
			return err
		}
		if s.bumped == nil {
			s.bumped = map[store.TableRef]int64{}
		}
		s.bumped[r] = token
	}
	return nil
}

// Query implements store.Session.
func (s *session) Query(ctx context.Context, sql string, args ...any) (store.Rows, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if len(s.st.sources.mentioned(sql)) > 0 {
		return s.queryAttached(ctx, sql, args)
	}
	// A transaction's own changes are of no state.
	now := s.st.commits.now.Load()
	key, ok := repeatKey(sql, args)
	ok = ok && now != nil && !s.tx
	if ok {
		if found, ok := s.repeats.find(key, now); ok {
			return &repeated{result: found}, ctx.Err()
		}
	}
	leave, err := s.st.admit(ctx, s.st.work)
	if err != nil {
		return nil, classify(ctx, err)
	}
	defer leave()
	r, err := s.query(ctx, sql, args)
	if err != nil {
		return nil, s.st.noteFatal(classify(ctx, err))
	}
	if r, plain := r.(*rows); plain && ok {
		return &recording{rows: r, s: s, key: key, now: now, kept: &result{columns: r.columns}, size: len(key)}, nil
	}
	return r, nil
}

// query runs what the store reads for a session: nothing else than a SELECT. (EXPLAIN ANALYZE would
// run a change that is not logged.)
func (s *session) query(ctx context.Context, sql string, args []any) (store.Rows, error) {
	p, release, err := s.planned(sql)
	if err != nil {
		return nil, err
	}
	defer release()
	if p.shape == nil && !readable(p.stmt) {
		mapping.DestroyPrepare(&p.stmt)
		release()
		return s.boxed(ctx, sql, args)
	}
	start := time.Now()
	alone := patience
	if ordered(sql) {
		alone = lessPatience
	}
	res, err := s.c.pooled.gather(ctx, p.stmt, args, alone, &s.gathered, release)
	took := time.Since(start)
	if err != nil {
		mapping.DestroyPrepare(&p.stmt)
		return nil, err
	}
	form := p.shape
	if form == nil {
		form = shapeOf(&res.res)
	}
	if form != nil && len(args) == 0 {
		p.shape = form
	}
	r := &rows{s: s, ctx: ctx, res: res, shape: form, release: func() {}}
	switch {
	case !res.ended:
		s.reading, r.release = r, func() { mapping.DestroyPrepare(&p.stmt) }
	case s.asked.before(sql):
		s.c.pooled.keep(sql, p, took)
	default:
		mapping.DestroyPrepare(&p.stmt)
	}
	if form == nil {
		r.cut()
		return s.boxed(ctx, sql, args)
	}
	return r, nil
}

// ordered tells whether a query orders its rows by plain columns.
func ordered(sql string) bool {
	return strings.Contains(sql[strings.LastIndexByte(sql, ')')+1:], " ORDER BY ")
}

// replans is how often a statement is planned again because of a commit meanwhile.
const replans = 3

// planned returns a plan that holds until release is called, which is to be when the statement has
// been made ready. Nobody waits for the planning.
func (s *session) planned(sql string) (p plan, release func(), err error) {
	for range replans {
		var now *state
		now, release = s.quiet()
		if kept, ok := s.c.pooled.take(sql, now); ok {
			return kept, release, nil
		}
		if p.stmt.Ptr != nil && p.state == now {
			return p, release, nil
		}
		release()
		if p.stmt.Ptr != nil {
			mapping.DestroyPrepare(&p.stmt)
		}
		p.state = now
		if p.stmt, err = s.c.pooled.prepare(sql, mapping.StatementTypeSelect); err != nil || now == nil {
			return p, func() {}, err
		}
	}
	p.state = nil // what the tables show now may be of a commit since
	return p, func() {}, nil
}

// quiet returns the state that a statement shows which is made ready before release is called; nil
// where that is not known.
func (s *session) quiet() (now *state, release func()) {
	c := &s.st.commits
	if s.tx || !c.mu.TryRLock() {
		return nil, func() {}
	}
	return c.now.Load(), sync.OnceFunc(c.mu.RUnlock)
}

// boxed runs a query through the driver.
func (s *session) boxed(ctx context.Context, sql string, args []any) (store.Rows, error) {
	r, err := s.driven(ctx, sql, args)
	if err != nil || !r.has("JSON", "UUID") {
		return r, err
	}
	// The driver parses JSON and gives a UUID's bytes: have DuckDB write their text instead.
	columns := r.columns
	r.Close()
	if r, err = s.driven(ctx, textual(sql, columns), args); err != nil {
		return nil, err
	}
	r.columns = columns
	return r, nil
}

func (s *session) driven(ctx context.Context, sql string, args []any) (*boxed, error) {
	stmt, typ, err := s.c.prepare(sql)
	if err != nil {
		return nil, err
	}
	if typ != duckdb.STATEMENT_TYPE_SELECT {
		stmt.Close()
		return nil, errType
	}
	return s.c.query(ctx, stmt, args)
}

// textual wraps a SELECT so that its JSON and UUID columns come as text.
func textual(sql string, columns []store.Column) string {
	var list, names string
	for i, c := range columns {
		if i > 0 {
			list, names = list+", ", names+", "
		}
		name := fmt.Sprintf("c%d", i)
		names += name
		if c.Type == "JSON" || c.Type == "UUID" {
			name = "CAST(" + name + " AS VARCHAR)"
		}
		list += name
	}
	return "SELECT " + list + " FROM (" + sql + ") AS r(" + names + ")"
}

// Close implements store.Session.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.reading != nil {
		s.reading.cut()
	}
	if s.tx {
		s.rollback()
	}
	s.closed = true
	s.c.close()
	s.st.forget(s)
	return nil
}
