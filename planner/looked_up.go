package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/push"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// Public rows may have a private answer each, by values of their columns:
//
//	SELECT r.name, (SELECT COUNT(*) FROM orders o WHERE o.region = r.name) FROM regions r
//
// It is released once for the values of all of them (answer_each.go), and looked up for each row:
// post-processing.

// lookup is the value that was released for the row on which it is evaluated.
type lookup struct {
	*keyedAnswer
	column int
	t      sql.Type
	counts bool // of no rows it is 0
}

var (
	_ sql.Expression         = (*lookup)(nil)
	_ sql.CollationCoercible = (*lookup)(nil)
	_ tree.Holder            = (*lookup)(nil)
)

func (l *lookup) Resolved() bool               { return expression.ExpressionsResolved(l.around...) }
func (l *lookup) String() string               { return "RELEASED" }
func (l *lookup) Type(*sql.Context) sql.Type   { return l.t }
func (l *lookup) IsNullable(*sql.Context) bool { return true }
func (l *lookup) Children() []sql.Expression   { return l.around }

// Held implements tree.Holder.
func (l *lookup) Held() []sql.Node {
	if l.answer == nil {
		return nil
	}
	return []sql.Node{l.answer}
}

func (l *lookup) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (l *lookup) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(l.around) {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(children), len(l.around))
	}
	k := *l.keyedAnswer
	k.around = children
	out := *l
	out.keyedAnswer = &k
	return &out, nil
}

// Eval implements sql.Expression.
func (l *lookup) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	values := make(sql.Row, len(l.around))
	for i, e := range l.around {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	if slices.Contains(values, nil) {
		if l.counts {
			return int64(0), nil
		}
		return nil, nil
	}
	at, ok, err := l.tuples.Find(ctx, values)
	if err != nil || !ok || l.answer == nil {
		return nil, err
	}
	return l.answer.Value(ctx, at, l.column)
}

// lookedUp rewrites a correlated subquery in an expression on public rows.
func (s *statement) lookedUp(q *gmsplan.Subquery) (sql.Expression, error) {
	if !tree.Has(s.ctx, q.Query, func(n sql.Node) bool { _, is := n.(*gmsplan.GroupBy); return is }) {
		return nil, rowsInside()
	}
	p, ok := q.Query.(*gmsplan.Project)
	if !ok || len(p.Projections) != 1 {
		return nil, everyRow()
	}
	g, ok := p.Child.(*gmsplan.GroupBy)
	if !ok || len(g.GroupByExprs) > 0 {
		return nil, everyRow()
	}
	var k *keyedAnswer
	if err := s.Aside(func() error {
		around, err := s.rowsAround(s.over)
		if err == nil {
			k, err = s.planKeyed(around, g)
		}
		return err
	}); err != nil {
		return nil, err
	}
	s.looks = true
	return tree.Replaced(s.ctx, tree.Unalias(p.Projections[0]), func(e sql.Expression) sql.Expression {
		at := slices.IndexFunc(g.SelectDeps, func(d sql.Expression) bool { return tree.ID(d) != 0 && tree.ID(d) == tree.ID(e) })
		if at < 0 {
			return nil
		}
		l := &lookup{keyedAnswer: k, column: at, t: g.SelectDeps[at].Type(s.ctx), counts: rel.CountsRows(g.SelectDeps[at])}
		if k.answer != nil {
			l.t = k.answer.Shown[at].Type
		}
		return l
	})
}

// rowsAround are the public rows on which a node evaluates its expressions, or more of them.
func (s *statement) rowsAround(n sql.Node) (*rel.Relation, error) {
	if len(n.Children()) != 1 {
		return nil, everyRow()
	}
	r, err := s.publicRows(n.Children()[0])
	if f, ok := n.(*gmsplan.Filter); ok && err == nil {
		r = s.met(r, f)
	}
	return r, err
}

// publicRows are the public rows of a node, or more of them: those that only private answers,
// DISTINCT or LIMIT leave out. They are there for the values that they have in columns that are no
// private answers.
func (s *statement) publicRows(n sql.Node) (*rel.Relation, error) {
	switch n := n.(type) {
	case *gmsplan.Filter:
		r, err := s.publicRows(n.Child)
		if err == nil {
			r = s.met(r, n)
		}
		return r, err
	case *gmsplan.Project:
		r, err := s.publicRows(n.Child)
		if err != nil {
			return nil, err
		}
		return s.Project(r, slices.DeleteFunc(slices.Clone(n.Projections), func(e sql.Expression) bool { return tree.Contains(s.ctx, e, s.asksAnswer) }))
	case *gmsplan.Sort, *gmsplan.Distinct, *gmsplan.Limit, *gmsplan.Offset, *gmsplan.TopN:
		return s.publicRows(n.Children()[0])
	case *gmsplan.SubqueryAlias:
		r, err := s.publicRows(n.Child)
		if err != nil {
			return nil, err
		}
		if ids := tree.ColumnIDs(n, len(r.Columns)); ids != nil && !n.IsLateral && n.Correlated.Empty() {
			return r.WithIDs(ids), nil
		}
	}
	r, err := s.Public(n)
	if err != nil {
		err = everyRow()
	}
	return r, err
}

// met leaves out rows that do not meet the conditions of a filter on public data.
func (s *statement) met(r *rel.Relation, f *gmsplan.Filter) *rel.Relation {
	for _, c := range tree.Conjuncts(f.Expression) {
		if tree.Contains(s.ctx, c, s.asksAnswer) {
			continue
		}
		if met, err := s.Filter(r, c); err == nil { // else there are more rows than need be
			r = met
		}
	}
	return r
}

// asksAnswer reports whether an expression is a private answer, or a subquery that has one or is
// going to.
func (s *statement) asksAnswer(e sql.Expression) bool {
	switch e := e.(type) {
	case *lookup:
		return true
	case *gmsplan.Subquery:
		return s.HasProtected(e.Query) || hasAnswer(s.ctx, e.Query)
	}
	return false
}

// hasAnswer reports whether a rewritten subtree has a private answer.
func hasAnswer(ctx *sql.Context, n sql.Node) bool {
	return tree.Has(ctx, n, func(n sql.Node) bool { _, is := n.(*plan.DPAggregate); return is })
}

// rowsInside refuses EXISTS, IN and values of private rows over public ones.
func rowsInside() error {
	return rule.Deny(rule.Correlated, refuse.Context,
		"Rows that have some are SELECT COUNT(DISTINCT t.k) FROM t, those that have none (SELECT COUNT(*) FROM p) - (SELECT COUNT(DISTINCT t.k) FROM t); "+
			"what each has is an aggregate by equalities with columns of the public tables around it, (SELECT COUNT(*) FROM t WHERE t.k = p.k).",
		"The subquery would show for every row around it whether it has rows of a protected table.")
}

func everyRow() error {
	return rule.Deny(rule.Correlated, refuse.Context, "Aggregate in it by equalities with columns of the public tables around it, (SELECT COUNT(*) FROM t WHERE t.k = p.k); or join the answer of a derived table.",
		"The correlated subquery would be a private query for every row.")
}

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
	list := lists.Map(p.Projections, func(e sql.Expression) sql.Expression { return expression.NewAlias(ctx, e.String(), tree.Unalias(e)) })
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
