package gate

import (
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/refuse"
)

// CheckRename refuses to rename tables of another database than the current one, or into another:
// go-mysql-server does not look at the database of a name there, and would rename a table of the
// same name in the current one.
func CheckRename(current string, s ast.Statement) error {
	for _, t := range renamed(s) {
		if db := t.DbQualifier.String(); !t.IsEmpty() && db != "" && !strings.EqualFold(db, current) {
			return refuse.New(refuse.Unsupported, "A table is renamed within the current database only, and %s is not it.", db).
				With("USE the table's database first. A table moves to another one by CREATE TABLE … AS SELECT.")
		}
	}
	return nil
}

// renamed lists the tables that a statement names in order to rename one.
func renamed(s ast.Statement) []ast.TableName {
	switch n := s.(type) {
	case *ast.DDL:
		if n.Action == ast.RenameStr {
			return slices.Concat(n.FromTables, n.ToTables)
		}
	case *ast.AlterTable:
		for _, d := range n.Statements {
			if d.Action == ast.RenameStr && len(d.ToTables) > 0 {
				return append(slices.Concat(d.FromTables, d.ToTables), n.Table)
			}
		}
	}
	return nil
}
