package push

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// block is a relation of public rows with the order and limits of its query block.
type block struct {
	rel           *rel.Relation
	order         []string
	limit, offset string
	worth         bool // does more than a scan, which the tables do themselves
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
func (s *pusher) closed(b *block) *block {
	if b.limit == "" && b.offset == "" {
		return &block{rel: b.rel, worth: b.worth}
	}
	return &block{rel: s.Derived(b.rel, b.suffix(), nil), worth: b.worth}
}

// block translates one node of a public query.
func (s *pusher) block(n sql.Node) (*block, error) {
	child := func(c sql.Node, close bool) (*block, error) {
		b, err := s.block(c)
		if err == nil && close {
			b = s.closed(b)
		}
		return b, err
	}
	switch n := n.(type) {
	case *plan.ResolvedTable:
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
	case *plan.TableAlias:
		return s.block(n.Child)
	case *plan.SubqueryAlias:
		if n.IsLateral || !n.Correlated.Empty() {
			return nil, rel.ErrStay
		}
		b, err := s.common(n.Child)
		if err != nil {
			return nil, err
		}
		ids := tree.ColumnIDs(n, len(b.rel.Columns))
		if ids == nil {
			return nil, rel.ErrStay
		}
		b.rel = b.rel.WithIDs(ids)
		return b, nil
	case *plan.Filter:
		return s.blockFilter(n.Child, n.Expression)
	case *plan.Having:
		return s.blockFilter(n.Child, n.Cond)
	case *plan.JoinNode:
		l, err := child(n.Left(), true)
		if err != nil {
			return nil, err
		}
		r, err := child(n.Right(), true)
		if err != nil {
			return nil, err
		}
		if n.Op.IsLeftOuter() && s.reachesOut(n.Filter, l.rel, r.rel) || n.Op.IsRightOuter() && s.reachesOut(n.Filter, r.rel, l.rel) {
			return nil, rel.ErrStay
		}
		joined, err := s.Join(l.rel, r.rel, n)
		return &block{rel: joined, worth: true}, err
	case *plan.Project:
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		return b, s.inline(b, n.Projections)
	case *plan.GroupBy:
		b, err := child(n.Child, true)
		if err != nil {
			return nil, err
		}
		return s.blockGroup(b, n)
	case *plan.Distinct:
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		if len(b.order) > 0 || b.limit != "" || b.offset != "" {
			return nil, rel.ErrStay
		}
		for _, c := range b.rel.Columns {
			if c.Opaque {
				return nil, rel.ErrStay
			}
		}
		return &block{rel: s.once(b.rel, standard.Collations(s.ctx, n.Child)), worth: true}, nil
	case *plan.SetOp:
		return s.blockUnion(n)
	case *plan.Sort:
		return s.blockSort(n)
	case *plan.Limit:
		if n.CalcFoundRows { // the rows that the limit cuts off are counted
			return nil, rel.ErrStay
		}
		b, err := child(n.Child, false)
		if err != nil {
			return nil, err
		}
		return b, s.number(b, &b.limit, n.Limit)
	case *plan.Offset:
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

// blockUnion is UNION of two blocks whose columns have the same types in the store, without an
// order or a limit of its own.
func (s *pusher) blockUnion(n *plan.SetOp) (*block, error) {
	if n.SetOpType != plan.UnionType || n.Limit != nil || n.Offset != nil || len(n.SortConditions) > 0 {
		return nil, rel.ErrStay
	}
	l, err := s.block(n.Left())
	if err != nil {
		return nil, err
	}
	r, err := s.block(n.Right())
	if err != nil {
		return nil, err
	}
	for _, b := range []*block{l, r} {
		if slices.ContainsFunc(b.rel.Columns, func(c rel.Column) bool { return comparesOtherwise(c.Expr.Type.Kind) }) {
			return nil, rel.ErrStay
		}
	}
	by := standard.Collations(s.ctx, n)
	collated := n.Distinct && slices.ContainsFunc(by, func(c sql.CollationID) bool { return !collation.ByBytes(c) })
	both, ok := s.PublicUnion(s.closed(l).rel, s.closed(r).rel, n.Distinct && !collated)
	if !ok || len(by) != len(both.Columns) {
		return nil, rel.ErrStay
	}
	if collated {
		both = s.once(both, by)
	}
	return &block{rel: both, worth: l.worth || r.worth || n.Distinct}, nil
}

// once has each row of a relation once; collations are those of its columns.
func (s *pusher) once(r *rel.Relation, collations []sql.CollationID) *rel.Relation {
	var by, exprs []string
	var beside []int
	for i, c := range r.Columns {
		key := lower.By(c.Expr, collations[i], collation.ForKey)
		if by = append(by, key.SQL); key.SQL != c.Expr.SQL {
			beside = append(beside, i)
		}
		exprs = append(exprs, c.Expr.SQL)
	}
	rel.OneRow("first", exprs, beside)
	return s.Derived(r, " GROUP BY "+sqltext.List(by), exprs)
}

// comparesOtherwise reports whether the store has another order and equality for values of a
// kind.
func comparesOtherwise(k lower.Kind) bool {
	return k == lower.JSON || k == lower.Array || k == lower.Null
}

// number sets a LIMIT or OFFSET from a literal.
func (s *pusher) number(b *block, dst *string, e sql.Expression) error {
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

func (s *pusher) blockFilter(n sql.Node, cond sql.Expression) (*block, error) {
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	b = s.closed(b)
	b.worth = true
	b.rel, err = s.Filter(b.rel, cond)
	return b, err
}

// blockSort adds an order: MySQL has NULL before everything.
func (s *pusher) blockSort(n *plan.Sort) (*block, error) {
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
		if comparesOtherwise(x.Type.Kind) {
			return nil, rel.ErrStay
		}
		x = lower.Ordered(x)
		if f.Order == sql.Descending {
			b.order = append(b.order, x.SQL+" DESC NULLS LAST")
		} else {
			b.order = append(b.order, x.SQL+" ASC NULLS FIRST")
		}
	}
	return b, nil
}

// inline computes columns without a derived table, so that an order below keeps its meaning.
func (s *pusher) inline(b *block, exprs []sql.Expression) error {
	r := *b.rel
	r.Columns = make([]rel.Column, len(exprs))
	before := len(s.reads)
	for i, e := range exprs {
		c := rel.Column{Type: e.Type(s.ctx), Name: e.String()}
		if id, ok := e.(sql.IdExpression); ok {
			c.ID = id.Id()
		}
		if x, ok := s.computed(b.rel, e); ok {
			c.Expr = x
			r.Columns[i] = c
			continue
		}
		x, err := s.Lower(tree.Unalias(e), b.rel.Resolve)
		if err != nil {
			return err
		}
		c.Expr = x
		if gf, ok := tree.Unalias(e).(*expression.GetField); ok {
			if t, ok := s.types[gf.Id()]; ok {
				s.types.Note(c.ID, c.Type, t)
			}
		}
		r.Columns[i] = c
	}
	b.rel = &r
	if len(s.reads) > before && b.suffix() == "" { // a subquery is run once, whoever uses its value
		b.rel = s.Derived(&r, "", nil)
	}
	return nil
}

// computed finds the column that an expression with a subquery is already: the binder repeats what
// an alias names.
func (s *pusher) computed(r *rel.Relation, e sql.Expression) (lower.Expr, bool) {
	id := tree.ID(e)
	i := slices.IndexFunc(r.Columns, func(c rel.Column) bool { return c.ID == id && !c.Opaque })
	if id == 0 || i < 0 || !tree.HasSubquery(s.ctx, e) {
		return lower.Expr{}, false
	}
	return r.Columns[i].Expr, true
}

// readOften lists the queries of common table expressions that n reads more than once: the binder
// has one node for all their uses.
func (s *pusher) readOften(n sql.Node) map[sql.Node]func() *block {
	times := map[sql.Node]int{}
	tree.Inspect(s.ctx, n, func(n sql.Node) {
		if a, ok := n.(*plan.SubqueryAlias); ok {
			times[a.Child]++
		}
	}, nil)
	often := map[sql.Node]func() *block{}
	for n, uses := range times {
		if uses > 1 {
			often[n] = nil
		}
	}
	return often
}

// common is the block of a derived table, or of a use of a common table expression: the store
// computes one that is read often once.
func (s *pusher) common(n sql.Node) (*block, error) {
	use, often := s.shared[n]
	if use != nil {
		return use(), nil
	}
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	if !often {
		return s.closed(b), nil
	}
	definition, rows := s.Common(b.rel, b.suffix())
	s.with = append(s.with, definition)
	worth := b.worth
	use = func() *block { return &block{rel: rows(), worth: worth} }
	s.shared[n] = use
	return use(), nil
}

// clauseWith writes the common table expressions, each before those that read it.
func (s *pusher) clauseWith() string {
	if len(s.with) == 0 {
		return ""
	}
	return "WITH " + strings.Join(s.with, ", ") + " "
}
