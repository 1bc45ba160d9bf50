package cells

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator/groups"
	"scrim/internal/lists"
	"scrim/planner/aggregate"
	"scrim/planner/canon"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// match is what an aggregation asks, over the base columns of a view's definition.
type match struct {
	ctx  *sql.Context
	d    *Definition
	q    *Question
	dims []sql.Expression // the dimensions
	keys []sql.Expression
	rest []sql.Expression // the conditions that are not the view's
	sums []sum
	why  string // what does not follow; ""
}

// sum is how an aggregate is made of the view's measures: as one of them, or as the quotient of
// two.
type sum struct{ of, by int }

// matched finds how an aggregation follows from a view, as far as the texts tell; ok is false where
// it does not.
func matched(ctx *sql.Context, d *Definition, q *Question) (m *match, ok bool) {
	m = &match{ctx: ctx, d: d, q: q}
	if q.Rows.Text != d.Rows.Text || !m.sameBases() {
		return m, m.not("the FROM clause is not that of its definition")
	}
	if !m.conditions() || !m.measures() {
		return m, false
	}
	for _, k := range d.Keys {
		e := d.Relation.Origin(ctx, k.Expr)
		if e == nil {
			return m, m.not("%s is not made of columns", k.Name)
		}
		m.dims = append(m.dims, e)
	}
	for _, k := range q.Grouping.Keys {
		e := m.over(k.Expr)
		if e == nil {
			return m, m.not("%s is not made of columns", k.Name)
		}
		m.keys = append(m.keys, e)
	}
	return m, true
}

// not says why an aggregation does not follow.
func (m *match) not(format string, args ...any) bool {
	m.why = fmt.Sprintf(format, args...)
	return false
}

// sameBases reports whether the base columns of both are the same, one by one.
func (m *match) sameBases() bool {
	return slices.EqualFunc(m.q.Rows.From.Bases, m.d.Rows.From.Bases, func(a, b rel.Base) bool {
		return a.Expr.SQL == b.Expr.SQL && a.Expr.Type == b.Expr.Type && a.Type.Equals(b.Type)
	})
}

// over is an expression over the rows of the question's GROUP BY, over the view's base columns; nil
// where it is none of base columns.
func (m *match) over(e sql.Expression) sql.Expression {
	return m.translated(m.q.Relation.Origin(m.ctx, e))
}

// translated puts the view's base columns in the place of the question's.
func (m *match) translated(e sql.Expression) sql.Expression {
	if e == nil {
		return nil
	}
	ok := true
	out, err := tree.Replaced(m.ctx, e, func(f *expression.GetField) sql.Expression {
		at := slices.IndexFunc(m.q.Rows.From.Bases, func(b rel.Base) bool { return b.ID == f.Id() })
		if at < 0 {
			ok = false
			return nil
		}
		b := &m.d.Rows.From.Bases[at]
		return expression.NewGetFieldWithTable(int(b.ID), 0, b.Type, "", "", b.Name, true)
	})
	if err != nil || !ok {
		return nil
	}
	return out
}

// identity is the text of an expression over the view's base columns: equal ones are equal on every
// row. It is "" where there is none.
func (m *match) identity(e sql.Expression) string {
	columns := func(f *expression.GetField) (lower.Expr, bool) {
		if b := m.d.Relation.BaseByID(f.Id()); b != nil {
			return b.Expr, true
		}
		return lower.Expr{}, false
	}
	b := new(lower.Binder)
	x, err := lower.Lower(m.ctx, canon.Expr(m.ctx, e, columns), b, columns)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %q", x.SQL, b.Args())
}

// conditions finds the view's conditions among the question's, and keeps the others.
func (m *match) conditions() bool {
	own := map[string]bool{}
	for _, c := range m.d.Rows.Conds {
		text := m.identity(c)
		if text == "" {
			return m.not("its definition has a condition that cannot be compared")
		}
		own[text] = false
	}
	for _, c := range m.q.Rows.Conds {
		e := m.translated(c)
		if e == nil {
			return m.not("%s is not made of columns", c)
		}
		text := m.identity(e)
		if _, is := own[text]; is {
			own[text] = true
			continue
		}
		if text == "" || !types.IsBoolean(e.Type(m.ctx)) {
			return m.not("%s is no test", c)
		}
		m.rest = append(m.rest, e)
	}
	if c, ok := lists.Find(m.d.Rows.Conds, func(c sql.Expression) bool { return !own[m.identity(c)] }); ok {
		return m.not("it holds rows with %s only", c)
	}
	return true
}

// measures finds how the aggregates are made of the view's measures.
func (m *match) measures() bool {
	for _, a := range m.q.Aggregates {
		s, ok := m.sumOf(a)
		if !ok {
			return m.not("it does not have what %s is made of", a.Asked)
		}
		m.sums = append(m.sums, s)
	}
	return true
}

// sumOf finds how an aggregate is made of the view's measures; false where it is not.
func (m *match) sumOf(a *aggregate.Aggregate) (sum, bool) {
	s := sum{of: -1, by: -1}
	if !a.FitsGroupVector() || len(a.Call.Options.Given) > 0 || a.Moment != aggregate.NoMoment {
		return s, false
	}
	arg := ""
	if a.Arg != nil {
		e := m.over(a.Arg)
		if e == nil {
			return s, false
		}
		if arg = m.identity(e); arg == "" {
			return s, false
		}
	}
	switch a.Measure() {
	case groups.Rows:
		s.of = m.part(groups.Rows, arg)
	case groups.Sum:
		s.of = m.part(groups.Sum, arg)
	case groups.RowMean:
		s.of = m.part(groups.Sum, arg)
		if s.by = m.part(groups.Rows, arg); s.by < 0 && !a.Value.Nullable {
			s.by = m.part(groups.Rows, "")
		}
		return s, s.of >= 0 && s.by >= 0
	}
	return s, s.of >= 0
}

// part finds a measure of the view; -1 where it has none.
func (m *match) part(of groups.Measure, arg string) int {
	return slices.IndexFunc(m.d.Parts, func(a *aggregate.Aggregate) bool {
		if a.Measure() != of || len(a.Call.Options.Given) > 0 || a.Moment != aggregate.NoMoment {
			return false
		}
		if a.Arg == nil {
			return arg == ""
		}
		e := m.d.Relation.Origin(m.ctx, a.Arg)
		return e != nil && arg != "" && m.identity(e) == arg
	})
}

// told reports whether the values that are tried of keys and conditions are those of all rows in
// the cells: they are of columns that the dimensions are made of, whose rows outside of the domains
// are in no cell, or of public tables. An amount beyond its declared range, or a region that is
// NULL, is in a cell of a view that does not have them, and amount <= 100 is not true of it as it
// is of all values of the domain.
func (m *match) told() bool {
	r := *m.d.Relation
	var held []sql.ColumnId
	for _, e := range m.dims {
		held = append(held, tree.Fields(m.ctx, e)...)
	}
	for i, e := range slices.Concat(m.keys, m.rest) {
		for _, id := range tree.Fields(m.ctx, e) {
			if b := r.BaseByID(id); !slices.Contains(held, id) && (b == nil || b.From == "") {
				return m.not("%s is not decided by its dimensions", m.textOf(i))
			}
		}
	}
	r.Known = slices.Clone(r.Known)
	for i, k := range m.d.Keys {
		if !slices.Contains(k.Image.Values, nil) {
			r.Known = append(r.Known, notNull(m.dims[i]))
		}
	}
	if i := slices.IndexFunc(slices.Concat(m.keys, m.rest), func(e sql.Expression) bool { return !m.d.Finder.WholeOf(&r, e) }); i >= 0 {
		return m.not("rows in its cells may have NULL in %s", m.textOf(i))
	}
	return true
}

// textOf names a key or, after the keys, a condition.
func (m *match) textOf(i int) string {
	if i < len(m.keys) {
		return m.q.Grouping.Keys[i].Name
	}
	return m.rest[i-len(m.keys)].String()
}

func notNull(e sql.Expression) sql.Expression {
	return expression.NewNot(expression.NewIsNull(e))
}

// whole reports whether each row that is counted is in a cell: what is not NULL in a key that has
// no NULL, or by a condition, is as good as what the store keeps from it.
func (m *match) whole() bool {
	r := *m.d.Relation
	r.Known = slices.Concat(r.Known, m.rest)
	for i, k := range m.q.Grouping.Keys {
		if !slices.Contains(k.Image.Values, nil) {
			r.Known = append(r.Known, notNull(m.keys[i]))
		}
	}
	for _, k := range m.d.Keys {
		if !m.d.Finder.Whole(&r, k.Image) {
			return m.not("rows whose %s is NULL, or made of NULL, are in none of its cells", k.Name)
		}
	}
	return true
}
