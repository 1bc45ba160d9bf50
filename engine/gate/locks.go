package gate

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/session"
)

// Locking runs LOCK TABLES and UNLOCK TABLES, which dumps and what they write are full of, by the
// session's transactions.
type Locking struct{}

var _ sql.NodeExecBuilder = Locking{}

// Build implements sql.NodeExecBuilder: nil, nil leaves the node to the SQL engine.
func (Locking) Build(ctx *sql.Context, n sql.Node, _ sql.Row) (sql.RowIter, error) {
	s, ok := session.From(ctx)
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

// ReadLocks asks for the privilege to read alone where a lock is for reading: it harms nobody here,
// and an analyst's dump of a public table takes it.
func ReadLocks(n *ast.LockTables) {
	for _, t := range n.Tables {
		a, ok := t.Table.(*ast.AliasedTableExpr)
		if ok && (t.Lock == ast.LockRead || t.Lock == ast.LockReadLocal) {
			a.Auth.AuthType = ast.AuthType_SELECT
		}
	}
}
