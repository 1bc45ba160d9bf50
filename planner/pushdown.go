package planner

import (
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/catalog"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// pushDown is the rule that hands whole queries on public tables to the store:
//
//	SELECT city, COUNT(*) FROM stores WHERE size > 3 GROUP BY city ORDER BY 2 DESC LIMIT 5
//
// becomes one generated query. With raw access a DBA's queries on protected tables are such, too. What does not translate wholly stays with go-mysql-server, with the
// largest query blocks below it pushed. It runs after rewrite and touches only statements without
// protected and undeclared tables.
func (p *Planner) pushDown(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *gmsplan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !scope.IsEmpty() || scope.RecursionDepth() > 0 || schemaOnly(ctx, n) {
		return n, transform.SameTree, nil
	}
	switch n.(type) {
	case *gmsplan.Project, *gmsplan.Sort, *gmsplan.Limit, *gmsplan.Offset, *gmsplan.Distinct, *gmsplan.Having, *gmsplan.Filter, *gmsplan.GroupBy, *gmsplan.SetOp:
	default:
		return n, transform.SameTree, nil
	}
	var c catalog.Reader = readable{p.config.Catalog(), p.config.Session.RawAccess(ctx), p.config.Session.IsDBA(ctx)}
	f := look(ctx, c, n)
	if len(f.protected) > 0 || len(f.undeclared) > 0 || f.bindVars {
		return n, transform.SameTree, nil
	}
	s := &statement{Writer: rel.NewWriter(ctx, rel.Tables{Catalog: c, StoreMemory: p.config.StoreMemory, AsWritten: true}), ctx: ctx, catalog: c, p: p, params: &parameters{}, retyped: map[sql.ColumnId]sql.Type{}}
	out, changed, err := s.push(n)
	if err != nil || !changed {
		return n, transform.SameTree, nil
	}
	return out, transform.NewTree, nil
}

// readable shows the tables that a session may read as they are as public ones: protected tables to
// raw access, undeclared ones to a DBA. The store asks again before it hands rows out.
type readable struct {
	catalog.Reader
	raw, dba bool
}

// Table implements catalog.Reader.
func (r readable) Table(name string) catalog.Table {
	t := r.Reader.Table(name)
	if t.State == catalog.Protected && r.raw || t.State == catalog.Undeclared && r.dba {
		return catalog.Table{Name: t.Name, State: catalog.Public}
	}
	return t
}

// push replaces the query block n, or the blocks below it, by store queries.
func (s *statement) push(n sql.Node) (sql.Node, bool, error) {
	if q, err := s.storeQuery(n); err == nil {
		return q, true, nil
	}
	var children []sql.Node
	switch n := n.(type) {
	case *gmsplan.Project, *gmsplan.Sort, *gmsplan.Limit, *gmsplan.Offset, *gmsplan.Distinct, *gmsplan.Having, *gmsplan.GroupBy, *gmsplan.Window, *gmsplan.SetOp:
		children = n.Children()
	case *gmsplan.SubqueryAlias:
		if n.IsLateral || !n.Correlated.Empty() {
			return n, false, nil
		}
		children = n.Children()
	default:
		return n, false, nil
	}
	out, changed := make([]sql.Node, len(children)), false
	for i, c := range children {
		x, done, err := s.push(c)
		if err != nil {
			return n, false, err
		}
		out[i], changed = x, changed || done
	}
	if !changed {
		return n, false, nil
	}
	m, err := n.WithChildren(s.ctx, out...)
	return m, true, err
}

// storeQuery is a leaf that runs a generated query on public tables.
type storeQuery struct {
	tree.KnownRows
	query    string
	args     []any
	relation *rel.Relation
	executor PublicExecutor
}

func (q *storeQuery) String() string { return "StoreQuery" }

func (q *storeQuery) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return tree.Leaf(q, children)
}

func (q *storeQuery) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	return q.executor.QueryTables(ctx, q.relation.Reads, q.query, q.args, q.Columns)
}

// storeQuery translates a whole query block, or says that it stays.
func (s *statement) storeQuery(n sql.Node) (sql.Node, error) {
	s.Begin()
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	if len(b.rel.Reads) == 0 || !b.worth {
		return nil, rel.ErrStay
	}
	schema := n.Schema(s.ctx)
	if len(schema) != len(b.rel.Columns) {
		return nil, rel.ErrStay
	}
	q := &storeQuery{executor: s.p.config.Public, relation: b.rel}
	q.Columns = schema.Copy()
	items := make([]string, len(schema))
	for i, c := range b.rel.Columns {
		if c.Opaque {
			return nil, rel.ErrStay
		}
		items[i] = c.Expr.SQL
		if t, ok := s.retyped[c.ID]; ok {
			q.Columns[i].Type = t
		}
		q.Exprs = append(q.Exprs, tree.Column(c.ID, 0, q.Columns[i].Type, schema[i].DatabaseSource, schema[i].Source, schema[i].Name))
	}
	// A projection that another replaces leaves values behind that nothing uses, and the store wants none of these.
	used := rel.Renumbered(plan.Scan{SQL: "SELECT " + sqltext.List(items) + s.Clause(b.rel) + b.suffix(), Args: s.Args()})
	q.query, q.args = used.SQL, used.Args
	return q, nil
}

// block is a relation of public rows with the order and limits of its query block.
type block struct {
	rel           *rel.Relation
	order         []string
	limit, offset string
	worth         bool // does more than a scan with filters, which the tables do themselves
}

func (b *block) suffix() string {
	t := ""
	if len(b.order) > 0 {
		t = " ORDER BY " + sqltext.List(b.order)
	}
	if b.limit != "" {
		t += " LIMIT " + b.limit
	}
	if b.offset != "" {
		t += " OFFSET " + b.offset
	}
	return t
}

// closed makes the order and limits part of a derived table, so that more can be done on top.
func (s *statement) closed(b *block) *block {
	if b.limit == "" && b.offset == "" {
		return &block{rel: b.rel, worth: b.worth}
	}
	return &block{rel: s.Derived(b.rel, b.suffix(), nil), worth: b.worth}
}

// block translates one node of a public query.
func (s *statement) block(n sql.Node) (*block, error) {
	child := func(c sql.Node, close bool) (*block, error) {
		b, err := s.block(c)
		if err == nil && close {
			b = s.closed(b)
		}
		return b, err
	}
	switch n := n.(type) {
	case *gmsplan.ResolvedTable:
		t, ok := stored.Under(n.Table)
		if !ok || n.AsOf != nil {
			return nil, rel.ErrStay
		}
		r, err := s.Scan(n, t)
		if err != nil {
			return nil, err
		}
		r.Bases = nil
		return &block{rel: r}, nil
	case *gmsplan.TableAlias:
		return s.block(n.Child)
	case *gmsplan.SubqueryAlias:
		if n.IsLateral || !n.Correlated.Empty() {
			return nil, rel.ErrStay
		}
		b, err := child(n.Child, true)
		if err != nil {
			return nil, err
		}
		ids := tree.ColumnIDs(n, len(b.rel.Columns))
		if ids == nil {
			return nil, rel.ErrStay
		}
		b.rel = b.rel.WithIDs(ids)
		return b, nil
	case *gmsplan.Filter:
		return s.blockFilter(n.Child, n.Expression)
	case *gmsplan.Having:
		return s.blockFilter(n.Child, n.Cond)
	case *gmsplan.JoinNode:
		l, err := child(n.Left(), true)
		if err != nil {
			return nil, err
		}
		r, err := child(n.Right(), true)
		if err != nil {
			return nil, err
		}
		rel, err := s.Join(l.rel, r.rel, n)
		return &block{rel: rel, worth: true}, err
	case *gmsplan.Project:
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		return b, s.inline(b, n.Projections)
	case *gmsplan.GroupBy:
		b, err := child(n.Child, true)
		if err != nil {
			return nil, err
		}
		return s.blockGroup(b, n)
	case *gmsplan.Distinct:
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		if len(b.order) > 0 || b.limit != "" || b.offset != "" {
			return nil, rel.ErrStay
		}
		var by []string
		for _, c := range b.rel.Columns {
			if c.Opaque {
				return nil, rel.ErrStay
			}
			by = append(by, c.Expr.SQL)
		}
		return &block{rel: s.Derived(b.rel, " GROUP BY "+sqltext.List(by), nil), worth: true}, nil
	case *gmsplan.Sort:
		return s.blockSort(n)
	case *gmsplan.Limit:
		if n.CalcFoundRows { // the rows that the limit cuts off are counted
			return nil, rel.ErrStay
		}
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		return b, s.number(b, &b.limit, n.Limit)
	case *gmsplan.Offset:
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		if b.limit != "" {
			return nil, rel.ErrStay
		}
		return b, s.number(b, &b.offset, n.Offset)
	}
	return nil, rel.ErrStay
}

// number sets a LIMIT or OFFSET from a literal.
func (s *statement) number(b *block, dst *string, e sql.Expression) error {
	l, ok := e.(*expression.Literal)
	if !ok || *dst != "" {
		return rel.ErrStay
	}
	f, ok := tree.Float(l.Value())
	if !ok || f < 0 || f > 1<<53 {
		return rel.ErrStay
	}
	*dst, b.worth = strconv.FormatInt(int64(f), 10), true
	return nil
}

func (s *statement) blockFilter(n sql.Node, cond sql.Expression) (*block, error) {
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	b = s.closed(b)
	b.rel, err = s.Filter(b.rel, cond)
	return b, err
}

// blockSort adds an order: MySQL has NULL before everything.
func (s *statement) blockSort(n *gmsplan.Sort) (*block, error) {
	b, err := s.block(n.Child)
	if err != nil {
		return nil, err
	}
	b = s.closed(b)
	b.worth = true
	for _, f := range n.SortConditions {
		if _, constant := f.Expr.(*expression.Literal); constant {
			continue // ORDER BY NULL is no order
		}
		x, err := s.Lower(f.Expr, b.rel.Resolve)
		if err != nil {
			return nil, err
		}
		switch x.Type.Kind {
		case lower.JSON, lower.Array:
			return nil, rel.ErrStay
		}
		if f.Order == sql.Descending {
			b.order = append(b.order, x.SQL+" DESC NULLS LAST")
		} else {
			b.order = append(b.order, x.SQL+" ASC NULLS FIRST")
		}
	}
	return b, nil
}

// inline computes columns without a derived table, so that an order below keeps its meaning.
func (s *statement) inline(b *block, exprs []sql.Expression) error {
	r := *b.rel
	r.Columns = make([]rel.Column, len(exprs))
	for i, e := range exprs {
		c := rel.Column{Type: e.Type(s.ctx), Name: e.String()}
		if id, ok := e.(sql.IdExpression); ok {
			c.ID = id.Id()
		}
		x, err := s.Lower(tree.Unalias(e), b.rel.Resolve)
		if err != nil {
			return err
		}
		c.Expr = x
		if gf, ok := tree.Unalias(e).(*expression.GetField); ok {
			if t, ok := s.retyped[gf.Id()]; ok {
				s.retype(c.ID, c.Type, t)
			}
		}
		r.Columns[i] = c
	}
	b.rel = &r
	return nil
}
