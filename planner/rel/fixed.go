package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/planner/lower"
	"scrim/planner/tree"
)

// A column is fixed when it has one value on all rows of a unit (tagFixed). Then a person is in one
// group of a GROUP BY of fixed columns, however many rows the person has:
//
//	SELECT c.region, COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.region
//
// Fixed are, of the unit that a row has:
//
//   - all columns of a table that has one row a unit: the unit is its enforced primary key, or the
//     row itself. A row of a join has one row of that table, with the unit of that row, so the same
//     row of the table for all rows of one unit;
//   - all columns of a derived table that is grouped by the unit alone;
//   - all columns of any table on whose enforced primary key a row has the value of a fixed column:
//     again one row of that table for all rows of the unit. The values are compared as integers or
//     dates, so that equal ones are the same;
//   - expressions over fixed columns, which are deterministic (package lower).
//
// Units that are equal on every row (merge) fix the same columns. Not fixed are columns of the side
// of an outer join that may be missing: they are NULL on some of a person's rows, where ON has more
// than the unit. A UNION ALL has rows of a person from both branches: nothing of it is fixed.

// fixAll returns columns that are fixed by unit 0.
func fixAll(columns []Column) []Column {
	out := slices.Clone(columns)
	for i := range out {
		out[i].tags = append(slices.Clone(out[i].tags), tag{kind: tagFixed})
	}
	return out
}

// fixedBy reports whether a column is fixed by a unit, given by its representative.
func (r *Relation) fixedBy(c *Column, unit int) bool {
	return c != nil && !c.Extended && slices.ContainsFunc(c.tags, func(t tag) bool { return t.kind == tagFixed && r.root(t.unit) == unit })
}

// Fixed reports whether an expression has one value on all rows of a person.
func (r *Relation) Fixed(ctx *sql.Context, e sql.Expression) bool {
	return r.IsPrivate() && !r.pending() && !tree.HasSubquery(ctx, e) && !tree.Contains(ctx, e, func(e sql.Expression) bool {
		gf, ok := e.(*expression.GetField)
		return ok && !r.fixedBy(r.Find(gf), 0)
	})
}

// fix tags the columns of tables whose rows are found by their primary key. The conditions hold of
// every row that has a unit. One may find the row on whose columns another depends.
func (r *Relation) fix(conds []sql.Expression) {
	for found := true; found; {
		found = false
		for _, c := range conds {
			eq, ok := c.(*expression.Equals)
			if !ok {
				continue
			}
			a, ok1 := eq.Left().(*expression.GetField)
			b, ok2 := eq.Right().(*expression.GetField)
			if ok1 && ok2 {
				found = r.fixRow(r.Find(a), r.Find(b)) || r.fixRow(r.Find(b), r.Find(a)) || found
			}
		}
	}
}

// fixRow tags the columns of the table whose primary key is a column that equals a fixed one, and
// reports whether they were not fixed yet.
func (r *Relation) fixRow(key, value *Column) bool {
	if key == nil || value == nil || !key.primary || key.Extended || value.Extended || key.Expr.Type != value.Expr.Type {
		return false
	}
	switch key.Expr.Type.Kind {
	case lower.Int, lower.UInt, lower.Date:
	default:
		return false
	}
	table, found, at := key.table, false, slices.IndexFunc(r.Columns, func(c Column) bool { return c.ID == key.ID })
	for _, t := range value.tags {
		if t.kind != tagFixed || r.fixedBy(key, r.root(t.unit)) {
			continue
		}
		found = true
		r.Columns = slices.Clone(r.Columns)
		for i := range r.Columns {
			if c := &r.Columns[i]; c.table == table {
				c.tags = append(slices.Clone(c.tags), tag{kind: tagFixed, unit: t.unit})
			}
		}
		key = &r.Columns[at]
	}
	return found
}
