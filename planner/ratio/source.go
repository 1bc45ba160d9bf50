package ratio

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/planner/tree"
)

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
