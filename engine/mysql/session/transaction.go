package session

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/store"
	"scrim/internal/refuse"
)

// Transaction is what the session tells GMS about its transaction. The store's own one is begun by
// the first access to the store.
type Transaction struct {
	// explicit: BEGIN, or autocommit = 0. Otherwise every write commits by itself.
	explicit bool
	readOnly bool
	// locked: LOCK TABLES began it.
	locked bool
	// snapshot: it began WITH CONSISTENT SNAPSHOT.
	snapshot   bool
	savepoints []savepoint
}

// String implements sql.Transaction.
func (t *Transaction) String() string {
	if t.explicit {
		return "transaction"
	}
	return "autocommit"
}

// IsReadOnly implements sql.Transaction.
func (t *Transaction) IsReadOnly() bool { return t.readOnly }

// StartTransaction implements sql.TransactionSession. GMS calls it before every statement outside a
// transaction, and once more for BEGIN, when the first call's transaction is current.
func (s *Session) StartTransaction(ctx *sql.Context, c sql.TransactionCharacteristic) (sql.Transaction, error) {
	begin := ctx.GetTransaction() != nil
	auto, err := plan.IsSessionAutocommit(ctx)
	if err != nil {
		return nil, err
	}
	tx := &Transaction{explicit: begin || !auto, readOnly: c == sql.ReadOnly, snapshot: begin && consistent.MatchString(ctx.Query())}
	if tx.snapshot {
		if st, err := s.Store(ctx); err != nil {
			return nil, err
		} else if !st.InTransaction() {
			return tx, st.Begin(ctx)
		}
	}
	return tx, nil
}

// consistent finds START TRANSACTION … WITH CONSISTENT SNAPSHOT, and some texts that only speak of
// it.
var consistent = regexp.MustCompile(`(?is)\bwith\b.*\bconsistent\b.*\bsnapshot\b`)

// Fixed names the statement by which the client has fixed what the session reads until a later one,
// "" if none has.
func Fixed(ctx *sql.Context) string {
	tx, ok := ctx.GetTransaction().(*Transaction)
	switch {
	case ok && tx.locked:
		return "LOCK TABLES … READ"
	case ok && tx.snapshot:
		return "START TRANSACTION WITH CONSISTENT SNAPSHOT"
	}
	return ""
}

// CommitTransaction implements sql.TransactionSession.
func (s *Session) CommitTransaction(ctx *sql.Context, _ sql.Transaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil || !s.store.InTransaction() {
		return nil
	}
	err := s.store.Commit(ctx)
	if err != nil {
		// It has ended the transaction all the same. go-mysql-server would take what follows for
		// statements of it, which nothing commits.
		ctx.SetIgnoreAutoCommit(false)
		ctx.SetTransaction(nil)
	}
	return err
}

// Rollback implements sql.TransactionSession. Charges made inside the transaction stand.
func (s *Session) Rollback(ctx *sql.Context, _ sql.Transaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil || !s.store.InTransaction() {
		return nil
	}
	return s.store.Rollback(ctx)
}

// savepoint is a named point of a transaction, and how much the session had written there.
type savepoint struct {
	name   string
	writes int
}

// counted is a store session that counts what writes through it. Entries of the store's own, by
// Meta, change with a table's definition only, which is a Write.
type counted struct {
	store.Session
	writes int
}

func (c *counted) Write(ctx context.Context, tables []store.TableRef, sql string, args ...any) (int64, error) {
	c.writes++
	return c.Session.Write(ctx, tables, sql, args...)
}

func (c *counted) Append(ctx context.Context, table store.TableRef, columns []string, rows [][]any) error {
	c.writes++
	return c.Session.Append(ctx, table, columns, rows)
}

func (c *counted) Change(ctx context.Context, table store.TableRef, columns []string, rows [][]any) error {
	c.writes++
	return c.Session.Change(ctx, table, columns, rows)
}

// written is how much the session has written so far.
func (s *Session) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return 0
	}
	return s.store.writes
}

// CreateSavepoint implements sql.TransactionSession. The store has no savepoints: one is a name
// here, which programs that only read, such as dumps, go back to at no cost.
func (s *Session) CreateSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	t, ok := tx.(*Transaction)
	if !ok || !t.explicit {
		return nil
	}
	if i := t.find(name); i >= 0 {
		t.savepoints = append(t.savepoints[:i], t.savepoints[i+1:]...)
	}
	t.savepoints = append(t.savepoints, savepoint{name, s.written()})
	return nil
}

// RollbackToSavepoint implements sql.TransactionSession. It refuses where something would have to
// be undone: the store undoes whole transactions.
func (s *Session) RollbackToSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	t, i, err := named(tx, name)
	if err != nil {
		return err
	}
	if t.savepoints[i].writes != s.written() {
		return refuse.New(refuse.Unsupported, "ROLLBACK TO SAVEPOINT cannot undo what has been written since.").
			With("Use ROLLBACK, which undoes the whole transaction.")
	}
	t.savepoints = t.savepoints[:i+1]
	return nil
}

// ReleaseSavepoint implements sql.TransactionSession: the name is gone, and those made after it.
func (s *Session) ReleaseSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	t, i, err := named(tx, name)
	if err != nil {
		return err
	}
	t.savepoints = t.savepoints[:i]
	return nil
}

// named finds a savepoint of a transaction.
func named(tx sql.Transaction, name string) (*Transaction, int, error) {
	if t, ok := tx.(*Transaction); ok {
		if i := t.find(name); i >= 0 {
			return t, i, nil
		}
	}
	return nil, 0, sql.ErrSavepointDoesNotExist.New(name)
}

// find returns the place of a savepoint, -1 without one. Case does not count.
func (t *Transaction) find(name string) int {
	return slices.IndexFunc(t.savepoints, func(p savepoint) bool { return strings.EqualFold(p.name, name) })
}

// LockTables runs LOCK TABLES: what was open is committed, as in MySQL. Where all locks are for
// reading, a read-only transaction begins, so that the tables stay what they are for this session
// until UNLOCK TABLES; nobody waits for it. A lock for writing keeps nobody out, which a warning
// says.
func (s *Session) LockTables(ctx *sql.Context, write bool) error {
	if err := s.end(ctx); err != nil {
		return err
	}
	if write {
		ctx.Warn(1105, "LOCK TABLES … WRITE keeps no other session out here; a transaction makes several statements one")
		return nil
	}
	ctx.SetTransaction(&Transaction{explicit: true, readOnly: true, locked: true})
	ctx.SetIgnoreAutoCommit(true)
	return nil
}

// UnlockTables runs UNLOCK TABLES: it ends what LOCK TABLES began, and no other transaction.
func (s *Session) UnlockTables(ctx *sql.Context) error {
	if tx, ok := ctx.GetTransaction().(*Transaction); !ok || !tx.locked {
		return nil
	}
	return s.end(ctx)
}

// end commits the current transaction, if there is one.
func (s *Session) end(ctx *sql.Context) error {
	if tx := ctx.GetTransaction(); tx != nil {
		if err := s.CommitTransaction(ctx, tx); err != nil {
			return err
		}
	}
	ctx.SetIgnoreAutoCommit(false)
	ctx.SetTransaction(nil)
	return nil
}

// Locking runs LOCK TABLES and UNLOCK TABLES, which dumps and what they write are full of, by the
// session's transactions.
type Locking struct{}

var _ sql.NodeExecBuilder = Locking{}

// Build implements sql.NodeExecBuilder: nil, nil leaves the node to the SQL engine.
func (Locking) Build(ctx *sql.Context, n sql.Node, _ sql.Row) (sql.RowIter, error) {
	s, ok := From(ctx)
	if !ok {
		return nil, nil
	}
	var err error
	switch n := n.(type) {
	case *plan.LockTables:
		err = s.LockTables(ctx, slices.ContainsFunc(n.Locks, func(l *plan.TableLock) bool { return l.Write }))
	case *plan.UnlockTables:
		err = s.UnlockTables(ctx)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(), nil
}
