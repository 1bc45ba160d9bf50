package tables

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// selectedVectors gives the columns of a CREATE TABLE … SELECT that are columns of vectors of a
// stored table that type, where go-mysql-server sees JSON. Expressions, and columns of derived
// tables and views, stay JSON. nil where nothing changes.
func selectedVectors(ctx *sql.Context, n *plan.CreateTable) sql.Node {
	// without options: nothing is declared but the name
	if _, ok := stored(n.Db); !ok || n.Select() == nil || n.TableOpts != nil {
		return nil
	}
	selected := n.Select().Schema(ctx)
	tables := namedTables(n.Select())
	schema, changed := n.PkSchema().Schema.Copy(), false
	if len(selected) != len(schema) {
		return nil
	}
	for i, c := range schema {
		from := selected[i]
		if t := tables[strings.ToLower(from.Source)]; t != nil && c.Name == from.Name && c.Type == types.JSON {
			if dim := t.dimension(c.Name); dim > 0 {
				c.Type, changed = types.VectorType{Dimensions: dim}, true
			}
		}
	}
	if !changed {
		return nil
	}
	return plan.NewCreateTableSelect(n.Db, n.Name(), n.IfNotExists(), n.Temporary(), n.Select(), &plan.TableSpec{
		Schema: sql.NewPrimaryKeySchema(schema), Collation: n.Collation,
	})
}

// namedTables lists the stored tables of a SELECT by the names that its columns give as their
// source; nil under a name that several have, or that is no stored table's.
func namedTables(n sql.Node) map[string]*Table {
	tables := map[string]*Table{}
	add := func(name string, t *Table) {
		name = strings.ToLower(name)
		if _, twice := tables[name]; twice {
			t = nil
		}
		tables[name] = t
	}
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.TableAlias:
			t, _ := storedTable(n.Child)
			add(n.Name(), t)
			return false
		case *plan.ResolvedTable:
			t, _ := storedTable(n)
			add(n.Name(), t)
		case *plan.SubqueryAlias:
			add(n.Name(), nil)
			return false
		}
		return true
	})
	return tables
}

// dimension is the length of the vectors of a column; 0 where it is none, or of another kind.
func (t *Table) dimension(column string) int {
	c, ok := columnOf(t.def, column)
	dim := 0
	if !ok {
		return 0
	}
	if _, err := fmt.Sscanf(c.Type, "DOUBLE[%d]", &dim); err != nil || dim > types.MaxVectorDimensions {
		return 0
	}
	return dim
}
