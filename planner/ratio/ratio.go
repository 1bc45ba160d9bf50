// Package ratio finds the columns of a result that are computed by hand from several answers and
// whose exact values lie in a known range: shares, from 0 to 1, and correlations, from -1 to 1.
//
//	SELECT SUM(CASE WHEN c THEN x ELSE 0 END) / SUM(x) FROM t
//	SELECT city, 100 * COUNT(CASE WHEN c THEN 1 END) / COUNT(*) FROM t GROUP BY city
//	SELECT city, COUNT(*) / (SELECT COUNT(*) FROM t) FROM t GROUP BY city
//	SELECT (SELECT SUM(x) FROM t WHERE c) / (SELECT SUM(x) FROM t)
//	SELECT (AVG(x*y) - AVG(x)*AVG(y)) / (STDDEV_POP(x) * STDDEV_POP(y)) FROM t
//
// Each answer has noise of its own, so that the quotient may leave the range. Which columns these
// are follows from the statement alone, and whether a value is outside from what is sent: both are
// public.
package ratio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/tree"
)

// Of returns the ranges of the columns of a bound statement whose answers are those of a GROUP BY
// directly under its select list, or of scalar subqueries in it; none of other statements.
func Of(ctx *sql.Context, n sql.Node) []plan.Range {
	b, top := blockOf(ctx, n)
	if top == nil {
		return nil
	}
	return b.ranges(ctx, top)
}

// blockOf reads a query block down to its GROUP BY, if it has one.
func blockOf(ctx *sql.Context, n sql.Node) (b block, top *gmsplan.Project) {
	b = block{exprs: map[sql.ColumnId]sql.Expression{}}
	for {
		switch at := n.(type) {
		case *gmsplan.Limit, *gmsplan.Offset, *gmsplan.Sort, *gmsplan.TopN, *gmsplan.Distinct, *gmsplan.Having, *gmsplan.Filter:
			n = n.Children()[0]
			continue
		case *gmsplan.Project:
			if n = at.Child; top == nil {
				top = at
			}
			b.define(at.Projections)
			continue
		case *gmsplan.GroupBy:
			b.define(at.SelectDeps)
			b.rows = sourceOf(ctx, at)
		}
		return b, top
	}
}

// Top reads ORDER BY what is computed from aggregates … LIMIT k [OFFSET j] over a GROUP BY, with
// the HAVING between, in terms of what is released of the GROUP BY. A nil top is none.
func Top(ctx *sql.Context, n sql.Node, of *plan.DPAggregate) (top *plan.Top) {
	b, by, having := block{exprs: map[sql.ColumnId]sql.Expression{}}, sql.Expression(nil), []sql.Expression(nil)
	top = &plan.Top{Release: of.Release}
	for {
		switch x := n.(type) {
		case *gmsplan.Limit:
			f, _ := constant(x.Limit)
			n, top.K = x.Child, int(f)
		case *gmsplan.Offset:
			f, _ := constant(x.Offset)
			n, top.Skip = x.Child, int(f)
		case *gmsplan.Sort:
			n, by, top.Descending = x.Child, x.SortConditions[0].Expr, x.SortConditions[0].Order == sql.Descending
		case *gmsplan.Having:
			n, having = x.Child, append(having, x.Cond)
		case *gmsplan.Project:
			n = x.Child
			b.define(x.Projections)
		case *gmsplan.GroupBy:
			b.define(x.SelectDeps)
			if by == nil || top.K < 1 {
				return nil
			}
			for i, e := range append(having, by) {
				e, ok := b.over(ctx, e, x.SelectDeps, of)
				if !ok {
					return nil
				}
				if top.By = e; i < len(having) {
					top.Having = append(top.Having, e)
				}
			}
			return top
		default:
			return nil
		}
	}
}

// over is an expression of what is computed in terms of the columns that are released of it.
func (b block) over(ctx *sql.Context, e sql.Expression, computed []sql.Expression, of *plan.DPAggregate) (sql.Expression, bool) {
	e = b.of(e)
	i := slices.IndexFunc(computed, func(c sql.Expression) bool {
		return tree.Unalias(c) == e || tree.ID(e) != 0 && tree.ID(c) == tree.ID(e)
	})
	_, constant := e.(*expression.Literal)
	switch {
	case i >= 0 && i < len(of.Columns):
		return expression.NewGetField(of.Columns[i], of.Shown[i].Type, of.Shown[i].Name, true), true
	case constant:
		return e, true
	}
	children := slices.Clone(e.Children())
	ok := len(children) > 0
	for i := range children {
		if ok {
			children[i], ok = b.over(ctx, children[i], computed, of)
		}
	}
	if !ok {
		return nil, false
	}
	e, err := e.WithChildren(ctx, children...)
	return e, err == nil
}

// block is a query block: what its columns stand for, and which rows it aggregates.
type block struct {
	exprs map[sql.ColumnId]sql.Expression
	rows  *source // nil: none
}

func (b block) define(list []sql.Expression) {
	for _, e := range list {
		if id := tree.ID(e); id != 0 {
			if _, field := e.(*expression.GetField); !field {
				b.exprs[id] = tree.Unalias(e)
			}
		}
	}
}

// of follows an expression to what it stands for.
func (b block) of(e sql.Expression) sql.Expression {
	for range len(b.exprs) + 1 {
		f, ok := tree.Unalias(e).(*expression.GetField)
		if !ok {
			break
		}
		x, known := b.exprs[f.Id()]
		if !known {
			break
		}
		e = x
	}
	return tree.Unalias(e)
}

func (b block) ranges(ctx *sql.Context, top *gmsplan.Project) []plan.Range {
	var out []plan.Range
	schema := top.Schema(ctx)
	for i, e := range top.Projections {
		e, factor := b.scaled(e)
		d, ok := e.(*expression.Div)
		if !ok {
			continue
		}
		r := plan.Range{Column: i, Name: schema[i].Name, High: 1}
		part, up := b.scaled(d.LeftChild)
		whole, down := b.scaled(d.RightChild)
		switch factor *= up / down; {
		case b.share(ctx, part, whole):
		case b.correlation(part, whole):
			r.Low = -1
		default:
			continue
		}
		if r.Low, r.High = r.Low*factor, r.High*factor; r.Low > r.High {
			r.Low, r.High = r.High, r.Low
		}
		out = append(out, r)
	}
	return out
}

// scaled takes roundings, casts, NULLIF and constant factors off an expression. It returns the
// product of the factors.
func (b block) scaled(e sql.Expression) (inner sql.Expression, factor float64) {
	factor = 1
	for {
		e = b.of(e)
		switch x := e.(type) {
		case *function.Round:
			e = x.Num
			continue
		case *function.Truncate:
			e = x.LeftChild
			continue
		case *function.NullIf:
			e = x.LeftChild
			continue
		case *expression.Convert:
			e = x.Child
			continue
		case *expression.Arithmetic:
			if c, ok := constant(x.LeftChild); ok && x.Op == "*" {
				e, factor = x.RightChild, factor*c
				continue
			}
			if c, ok := constant(x.RightChild); ok && x.Op == "*" {
				e, factor = x.LeftChild, factor*c
				continue
			}
		}
		return e, factor
	}
}

// constant is a number other than 0 that a statement writes.
func constant(e sql.Expression) (float64, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	f, ok := tree.Float(l.Value())
	return f, ok && f != 0
}

// call is an aggregate: what it does with its argument.
type call struct {
	counts, adds, squares, distinct bool
	arg                             sql.Expression
}

func callOf(e sql.Expression) (call, bool) {
	a, ok := e.(sql.Aggregation)
	if !ok {
		return call{}, false
	}
	m, ok := aggregate.Marker(a)
	if !ok || m.Told != nil || m.Function == nil || len(m.Args) == 0 {
		return call{}, false
	}
	c := call{counts: m.Function.Counts, adds: m.Function.Adds, squares: m.Function.Squares, arg: tree.Untuple(m.Args[0])}
	if d, ok := c.arg.(*expression.DistinctExpression); ok {
		c.distinct, c.arg = true, tree.Untuple(d.Child)
	}
	return c, true
}

// rows reports whether rows are counted.
func (c call) rows() bool {
	l, ok := c.arg.(*expression.Literal)
	return c.counts && !c.distinct && ok && l.Value() != nil
}

// share reports whether one aggregate is of some of the rows that the other is of.
func (b block) share(ctx *sql.Context, part, whole sql.Expression) bool {
	p, of, ok := b.callIn(ctx, part)
	w, from, known := b.callIn(ctx, whole)
	if !ok || !known || !of.within(from) {
		return false
	}
	chosen, some := subset(p.arg)
	switch {
	case of != from && p.counts == w.counts && p.adds == w.adds && (p.counts || p.adds) && p.distinct == w.distinct && same(p.arg, w.arg):
		return true // of fewer rows
	case w.rows() && p.counts:
		return !p.rows()
	case w.rows() && p.adds:
		c, is := constant(chosen)
		return some && is && c > 0 && c <= 1 || boolean(p.arg)
	case w.counts && p.counts, w.adds && p.adds:
		return some && p.distinct == w.distinct && same(chosen, w.arg)
	}
	return false
}

// subset returns the value that an expression takes of some rows, where it is 0 or NULL of the
// others.
func subset(e sql.Expression) (value sql.Expression, ok bool) {
	switch e := e.(type) {
	case *expression.Case:
		for _, branch := range e.Branches {
			if value != nil && !same(value, branch.Value) {
				return value, false
			}
			value = branch.Value
		}
		return value, value != nil && nothing(e.Else)
	case *function.If:
		list := e.Children()
		return list[1], nothing(list[2])
	}
	return e, false
}

// nothing reports whether an expression is missing, NULL or 0.
func nothing(e sql.Expression) bool {
	if e == nil {
		return true
	}
	l, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	f, number := tree.Float(l.Value())
	return l.Value() == nil || number && f == 0
}

// boolean reports whether an expression is a test.
func boolean(e sql.Expression) bool {
	switch e.(type) {
	case expression.Comparer, *expression.And, *expression.Or, *expression.Not, *expression.IsNull, *expression.Between:
		return true
	}
	return false
}

func same(x, y sql.Expression) bool { return strings.EqualFold(x.String(), y.String()) }

// correlation reports whether a quotient is one: a difference with an aggregate of x·y, over a root
// or standard deviations of x and y.
func (b block) correlation(over, under sql.Expression) bool {
	if d, ok := over.(*expression.Arithmetic); !ok || d.Op != "-" {
		return false
	}
	root, names := false, map[string]bool{}
	b.visit(under, func(e sql.Expression) {
		if _, ok := e.(*function.Sqrt); ok {
			root = true
		}
		if c, ok := callOf(e); ok {
			root = root || c.squares
			names[strings.ToLower(c.arg.String())] = true
		}
	})
	found := false
	b.visit(over, func(e sql.Expression) {
		if c, ok := callOf(e); ok {
			if x, ok := c.arg.(*expression.Arithmetic); ok && x.Op == "*" && !same(x.LeftChild, x.RightChild) {
				found = found || names[strings.ToLower(x.LeftChild.String())] && names[strings.ToLower(x.RightChild.String())]
			}
		}
	})
	return root && found
}

// visit calls f with an expression and those below it, down to the aggregates.
func (b block) visit(e sql.Expression, f func(sql.Expression)) {
	e = b.of(e)
	if f(e); len(e.Children()) > 0 {
		if _, ok := e.(sql.Aggregation); ok {
			return
		}
		for _, c := range e.Children() {
			b.visit(c, f)
		}
	}
}

// source is the rows that a query block aggregates: those of a table that meet conditions, all
// together or by keys. Conditions are compared by their texts, without the table's alias.
type source struct {
	table      string // "" of others than one table, whose rows are not compared
	conditions []string
	grouped    bool
}

func sourceOf(ctx *sql.Context, g *gmsplan.GroupBy) *source {
	s, n := &source{grouped: len(g.GroupByExprs) > 0}, g.Child
	var conditions []sql.Expression
	for {
		f, ok := n.(*gmsplan.Filter)
		if !ok {
			break
		}
		conditions = append(conditions, tree.Conjuncts(f.Expression)...)
		n = f.Child
	}
	if a, ok := n.(*gmsplan.TableAlias); ok {
		n = a.Child
	}
	if t, ok := n.(*gmsplan.ResolvedTable); ok {
		s.table = fmt.Sprintf("%q.%q", t.SqlDatabase.Name(), t.Name())
	}
	for _, c := range conditions {
		s.conditions = append(s.conditions, s.plain(ctx, c).String())
	}
	return s
}

// plain is an expression over the source's rows without the alias of its table.
func (s *source) plain(ctx *sql.Context, e sql.Expression) sql.Expression {
	if s == nil || s.table == "" {
		return e
	}
	out, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if f, ok := e.(*expression.GetField); ok {
			return f.WithTable(""), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil {
		return e
	}
	return out
}

// within reports whether the rows of one group of s are among those of one of another block: the
// same block, or one that aggregates all rows, with no condition that s has not.
func (s *source) within(of *source) bool {
	switch {
	case s == of:
		return true
	case s == nil || of == nil || of.grouped || s.table == "" || s.table != of.table:
		return false
	}
	return !slices.ContainsFunc(of.conditions, func(c string) bool { return !slices.Contains(s.conditions, c) })
}

// callIn reads an aggregate of the block, or the one that a scalar subquery answers, with the rows
// that it is of.
func (b block) callIn(ctx *sql.Context, e sql.Expression) (call, *source, bool) {
	q, ok := e.(*gmsplan.Subquery)
	if !ok {
		c, ok := callOf(e)
		if ok {
			c.arg = b.rows.plain(ctx, c.arg)
		}
		return c, b.rows, ok
	}
	inner, top := blockOf(ctx, q.Query)
	if top == nil || inner.rows == nil || len(top.Projections) != 1 || !q.Correlated().Empty() {
		return call{}, nil, false
	}
	x, factor := inner.scaled(top.Projections[0])
	c, of, ok := inner.callIn(ctx, x)
	return c, of, ok && factor == 1
}
