package rel

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/grid"
	"scrim/planner/lower"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// PerUnit is a derived table that aggregates the rows of each person apart: its GROUP BY has the
// unit, so each row of the result is a function of one person's rows. The aggregates are exact.
func (s *Writer) PerUnit(r *Relation, g *plan.GroupBy) (*Relation, error) {
	if err := r.Single(); err != nil {
		return nil, err
	}
	u := r.units[0].expr
	group := []string{u.SQL}
	out := *r
	out.Unique = true
	out.Columns = nil
	var exprs []string
	var beside []int // places of the columns that are not keys
	for _, k := range g.GroupByExprs {
		if r.IsUnit(k) {
			continue
		}
		out.Unique = false
		e, err := s.Lower(tree.Unalias(k), r.Resolve)
		if err != nil {
			return nil, err
		}
		group = append(group, e.SQL)
	}
	for _, e := range g.SelectDeps {
		c := Column{Name: e.String(), Type: standard.TypeOf(s.ctx, e)}
		if id, ok := e.(sql.IdExpression); ok {
			c.ID = id.Id()
		}
		switch e := e.(type) {
		case *expression.GetField:
			src := r.Find(e)
			if src == nil {
				return nil, rule.Deny(rule.Node, refuse.Shape, "", "The column %s cannot be followed.", e)
			}
			c.Expr, c.origin, c.tags, c.Name, c.Extended = src.Expr, src.origin, src.tags, src.Name, src.Extended
			sqlText := c.Expr.SQL
			if !s.grouped(r, e, g) {
				// Not a grouping column, but a grouping expression may have it. The row must be
				// the same however the store reads its rows, on which other persons' rows act.
				beside = append(beside, len(exprs))
				c.origin, c.tags = nil, nil
			} else if !r.IsUnit(e) || sqlText != u.SQL {
				one := "any_value"
				if !collation.ByBytes(r.units[0].by) {
					// the least of a person's spellings: which row the store reads first does not
					// depend on the person alone
					one = "min"
				}
				sqlText = one + "(" + sqlText + ")"
			}
			exprs = append(exprs, sqlText)
		case sql.Aggregation:
			x, err := s.exact(r, e)
			if err != nil {
				return nil, err
			}
			if c.Expr = x; x.Nullable { // a group has rows; NaN is NULL on the grid
				arg, err := lower.Lower(s.ctx, e.Children()[0], new(lower.Binder), r.Resolve)
				c.Expr.Nullable = err != nil || arg.Nullable || arg.Type.Kind == lower.Double
			}
			exprs = append(exprs, x.SQL)
		default:
			return nil, rule.Deny(rule.InnerAggregate, refuse.Shape, "Select grouping columns and aggregates only.",
				"The expression %s in a derived table that aggregates per unit is not supported.", e)
		}
		out.Columns = append(out.Columns, c)
	}
	OneRow("min", exprs, beside)
	// Base columns other than the grouping keys are not constant in a group.
	out.Bases = nil
	for _, b := range r.Bases {
		for _, k := range g.GroupByExprs {
			if gf, ok := standard.Unkeyed(tree.Unalias(k)).(*expression.GetField); ok {
				if c := r.Find(gf); c != nil {
					if p := r.PlainBase(*c); p != nil && p.ID == b.ID {
						out.Bases = append(out.Bases, b)
						break
					}
				}
			}
		}
	}
	for i := range out.Columns {
		if out.Columns[i].origin != nil && !out.covers(s.ctx, out.Columns[i].origin) {
			out.Columns[i].origin = nil
		}
	}
	if out.Unique {
		out.Columns = fixAll(out.Columns)
	}
	if !r.units[0].present {
		out.where = append(append([]string(nil), r.where...), u.SQL+" IS NOT NULL")
	}
	return s.Derived(&out, " GROUP BY "+sqltext.List(group), exprs), nil
}

// OneRow replaces the expressions at some places by what they are in one row of a group, the same
// for all. The aggregate chooses it: "first" takes the first row that the store reads, "min" one
// that depends on nothing but the values.
func OneRow(aggregate string, exprs []string, at []int) {
	if len(at) == 1 {
		exprs[at[0]] = aggregate + "(" + exprs[at[0]] + ")"
		return
	}
	fields := make([]string, len(at))
	for i, place := range at {
		fields[i] = fmt.Sprintf("v%d := %s", i, exprs[place])
	}
	for i, place := range at {
		exprs[place] = fmt.Sprintf("struct_extract(%s(struct_pack(%s)), 'v%d')", aggregate, sqltext.List(fields), i)
	}
}

// covers reports whether all base columns in e are carried by the relation.
func (r *Relation) covers(ctx *sql.Context, e sql.Expression) bool {
	return !slices.ContainsFunc(tree.Fields(ctx, e), func(id sql.ColumnId) bool { return r.BaseByID(id) == nil })
}

// grouped reports whether a column is one of the grouping expressions, or the unit where the unit
// is.
func (s *Writer) grouped(r *Relation, gf *expression.GetField, g *plan.GroupBy) bool {
	for _, k := range g.GroupByExprs {
		if f, ok := standard.Unkeyed(tree.Unalias(k)).(*expression.GetField); ok && f.Id() == gf.Id() {
			return true
		}
	}
	return r.IsUnit(gf)
}

// exact lowers a plain SQL aggregate over one person's rows. Each is total and does not depend on
// the order of rows: sums of DOUBLE are formed on the grid 2^-20 with |x| <= 2^30.
func (s *Writer) exact(r *Relation, a sql.Aggregation) (lower.Expr, error) {
	bad := func() (lower.Expr, error) {
		return lower.Expr{}, rule.Deny(rule.InnerAggregate, refuse.Aggregate, "Use COUNT, SUM, AVG, MIN or MAX there.",
			"%s cannot be used in a derived table that aggregates per unit.", a)
	}
	if w, ok := a.(sql.WindowAdaptableExpression); ok && w.Window() != nil {
		return bad()
	}
	count := func(arg string) (lower.Expr, error) {
		return lower.Expr{SQL: "count(" + arg + ")", Type: lower.Type{Kind: lower.Int}}, nil
	}
	args := a.Children()
	var x lower.Expr
	if len(args) != 1 {
		return bad()
	}
	if _, ok := args[0].(*expression.DistinctExpression); ok {
		return bad()
	}
	if !tree.CountsRows(a) {
		var err error
		if x, err = s.Lower(args[0], r.Resolve); err != nil {
			return lower.Expr{}, err
		}
	}
	a = standard.Plain(a)
	switch a.(type) {
	case *aggregation.Count:
		if tree.CountsRows(a) {
			return count("*")
		}
		return count(x.SQL)
	case *aggregation.CountDistinct:
		return count("DISTINCT " + x.SQL)
	case *aggregation.Min:
		return lower.Expr{SQL: "min(" + x.SQL + ")", Type: x.Type, Nullable: true}, nil
	case *aggregation.Max:
		return lower.Expr{SQL: "max(" + x.SQL + ")", Type: x.Type, Nullable: true}, nil
	case *aggregation.Sum, *aggregation.Avg:
	default:
		return bad()
	}
	_, avg := a.(*aggregation.Avg)
	g, ok := grid.Exact(x.Type, s.Most(r, args[0]))
	if !ok {
		return bad()
	}
	sum := "sum(" + g.Index(x) + ")"
	if g.Decimal && !avg {
		t := lower.Type{Kind: lower.Decimal, Precision: 38, Scale: g.Scale}
		one := "1"
		for range g.Scale {
			one += "0"
		}
		// The integer sum has at most 90 bits, so at most 28 digits; the cast cannot fail there.
		return lower.Expr{SQL: fmt.Sprintf("TRY_CAST(CAST(%s AS DOUBLE) / %s AS DECIMAL(38,%d))", sum, one, g.Scale), Type: t, Nullable: true}, nil
	}
	d := fmt.Sprintf("(CAST(%s AS DOUBLE) * %s)", sum, grid.Float(g.Step))
	if avg {
		d = fmt.Sprintf("(%s / nullif(count(%s), 0))", d, x.SQL)
	}
	return lower.Expr{SQL: d, Type: lower.Type{Kind: lower.Double}, Nullable: true}, nil
}

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
