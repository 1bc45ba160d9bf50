package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/planner/push"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// A filter that looks answers up stays with go-mysql-server, which would read all rows below it.
// What it asks of public data alone goes to the store:
//
//	Filter(qty > RELEASED AND part IN (SELECT …), partsupp)     Filter(qty > RELEASED, <query of the store>)

// pushedBelow hands the rows under filters that look answers up to the store, as far as they are
// filters, joins and blocks of public rows.
func (s *statement) pushedBelow(n sql.Node) (sql.Node, error) {
	if !s.looks || s.p.config.Public == nil {
		return n, nil
	}
	out, _, err := transform.NodeWithOpaque(s.ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if f, ok := n.(*gmsplan.Filter); ok {
			n = s.pushedUnder(f)
		}
		n, _, err := transform.OneNodeExpressions(ctx, n, s.pushedWithin)
		return n, transform.NewTree, err
	})
	return out, err
}

// pushedWithin is pushedBelow of a subquery.
func (s *statement) pushedWithin(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	q, ok := e.(*gmsplan.Subquery)
	if !ok {
		return e, transform.SameTree, nil
	}
	n, err := s.pushedBelow(q.Query)
	return q.WithQuery(listed(s.ctx, n)), transform.NewTree, err
}

// listed keeps go-mysql-server from making a join of x IN (SELECT …) that looks answers up, whose
// rows it would compute again for each x: it does so for columns that have ids.
func listed(ctx *sql.Context, n sql.Node) sql.Node {
	p, ok := n.(*gmsplan.Project)
	if !ok || !hasAnswer(ctx, p.Child) {
		return n
	}
	list := make([]sql.Expression, len(p.Projections))
	for i, e := range p.Projections {
		list[i] = expression.NewAlias(ctx, e.String(), tree.Unalias(e))
	}
	return gmsplan.NewProject(ctx, list, p.Child)
}

// pushedUnder is a filter over what the store returns for the rest of it, or as it is.
func (s *statement) pushedUnder(f *gmsplan.Filter) sql.Node {
	var looks, public []sql.Expression
	for _, c := range tree.Conjuncts(f.Expression) {
		if tree.Contains(s.ctx, c, s.asksAnswer) {
			looks = append(looks, c)
		} else {
			public = append(public, c)
		}
	}
	if len(looks) == 0 {
		return f
	}
	below := f.Child
	if len(public) > 0 {
		below = gmsplan.NewFilter(s.ctx, expression.JoinAnd(public...), below)
	}
	rows, ok := push.Down(s.ctx, rel.Tables{Catalog: s.catalog, LastColumn: s.NewID(), StoreMemory: s.p.config.StoreMemory}, s.p.config.Public, below)
	if !ok || !sameTypes(f.Child.Schema(s.ctx), rows.Schema(s.ctx)) {
		return f
	}
	return gmsplan.NewFilter(s.ctx, expression.JoinAnd(looks...), rows)
}

// sameTypes reports whether columns have the same types.
func sameTypes(a, b sql.Schema) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Type.Equals(b[i].Type) {
			return false
		}
	}
	return true
}
