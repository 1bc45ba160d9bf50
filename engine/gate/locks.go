package gate

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

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
