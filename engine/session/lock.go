package session

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

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
