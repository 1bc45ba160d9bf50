package dialect

import (
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// CheckNames refuses a FROM in which two tables have one name: go-mysql-server would take one of
// them for both. Tables without a database are of the current one, as derived tables are here.
func CheckNames(s sqlparser.Statement, current string) error {
	if e, ok := s.(*sqlparser.Explain); ok {
		s = e.Statement
	}
	if s == nil {
		return nil
	}
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		seen := map[[2]string]bool{}
		switch n := n.(type) {
		case *sqlparser.Select:
			return true, unique(n.From, current, seen)
		case *sqlparser.Update:
			return true, unique(n.TableExprs, current, seen)
		case *sqlparser.Delete:
			return true, unique(n.TableExprs, current, seen)
		}
		return true, nil
	}, s)
}

func unique(list []sqlparser.TableExpr, current string, seen map[[2]string]bool) error {
	for _, t := range list {
		name, db := "", current
		var inner []sqlparser.TableExpr
		switch t := t.(type) {
		case *sqlparser.AliasedTableExpr:
			name = t.As.String()
			if table, ok := t.Expr.(sqlparser.TableName); ok {
				if name == "" {
					name = table.Name.String()
				}
				if !table.DbQualifier.IsEmpty() {
					db = table.DbQualifier.String()
				}
			}
		case *sqlparser.JSONTableExpr:
			name = t.Alias.String()
		case *sqlparser.JoinTableExpr:
			inner = []sqlparser.TableExpr{t.LeftExpr, t.RightExpr}
		case *sqlparser.ParenTableExpr:
			inner = t.Exprs
		}
		if err := unique(inner, current, seen); err != nil {
			return err
		}
		key := [2]string{strings.ToLower(db), strings.ToLower(name)}
		if name == "" || key[1] == "dual" {
			continue
		}
		if seen[key] {
			return mysql.NewSQLError(1066, "42000", "Not unique table/alias: '%s'", name)
		}
		seen[key] = true
	}
	return nil
}
