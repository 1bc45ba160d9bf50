package gate

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Lift takes the demand for a privilege off statements that show an account what is its own: SHOW
// GRANTS, and SHOW PROCESSLIST and KILL, which know an analyst's own connections only. MySQL asks
// for none there either. The server's own procedures ask by themselves who calls them.
func Lift(s ast.Statement) {
	switch n := s.(type) {
	case *ast.ShowGrants:
		n.Auth.AuthType = ast.AuthType_IGNORE
	case *ast.Call:
		if strings.HasPrefix(n.ProcName.Name.Lowered(), "dp_") {
			n.Auth.AuthType = ast.AuthType_IGNORE
		}
	case *ast.LockTables:
		readLocks(n)
	case *ast.Kill:
		n.Auth.AuthType = ast.AuthType_IGNORE
	case *ast.Show:
		if strings.EqualFold(n.Type, "processlist") {
			n.Auth.AuthType = ast.AuthType_IGNORE
		}
	}
}

// readLocks asks for the privilege to read alone where a lock is for reading: it harms nobody here,
// and an analyst's dump of a public table takes it.
func readLocks(n *ast.LockTables) {
	for _, t := range n.Tables {
		a, ok := t.Table.(*ast.AliasedTableExpr)
		if ok && (t.Lock == ast.LockRead || t.Lock == ast.LockReadLocal) {
			a.Auth.AuthType = ast.AuthType_SELECT
		}
	}
}
