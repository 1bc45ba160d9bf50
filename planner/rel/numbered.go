package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/catalog"
	"scrim/planner/lower"
)

// List is public values that rows are compared with, each with a number.
type List struct {
	Item   string // FROM item
	On     []string
	Number string // of the value that a row has: from 0, below Len
	Len    int
	ID     sql.ColumnId // of the column that Numbered adds
	Name   string
	From   string // where the values come from, for EXPLAIN
	// Fixed says that what is compared has one value on all rows of a person.
	Fixed bool
}

// Numbered joins rows with a list of which each row has at most one value, and adds the value's
// number as a column. Rows with none of the values drop out. The numbers are public.
func (r *Relation) Numbered(l List) *Relation {
	out := r.JoinedWith(l.Item, l.On)
	number := lower.Expr{SQL: l.Number, Type: lower.Type{Kind: lower.Int}}
	c := Column{ID: l.ID, Name: l.Name, Type: types.Int64, Expr: number, Required: true,
		origin: expression.NewGetFieldWithTable(int(l.ID), 0, types.Int64, "", "", l.Name, false)}
	if l.Fixed {
		c.tags = []tag{{kind: tagFixed}}
	}
	out.Columns = append(slices.Clone(r.Columns), c)
	out.Bases = append(slices.Clone(r.Bases), Base{ID: l.ID, Type: types.Int64, Expr: number, Name: l.Name, Required: true,
		Domains: []catalog.Domain{{Range: &catalog.Range{Min: 0, Max: float64(l.Len - 1)}}}, Listed: l.From})
	return out
}
