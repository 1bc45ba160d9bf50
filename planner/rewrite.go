package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// result is a rewritten subtree: rows of persons, or public rows.
type result struct {
	// rel is set for rows of persons: they may only go on into an aggregate.
	rel *rel.Relation
	// node is set for rows that may be shown: public tables and answers.
	node sql.Node
	// answer is set when node holds a DPAggregate.
	answer bool
	// keys are the grouping expressions of the answer directly below, by which the nodes above may
	// refer to them.
	keys []keyField
}

// position says where a subtree stands.
type position struct {
	top       bool // its columns are the output of a query block: they may not change in number
	aggregate bool // an aggregate stands above
}

// build rewrites a subtree bottom-up. Subtrees without protected scans come back as they are.
func (s *statement) build(n sql.Node, at position) (result, error) {
	if !s.HasProtected(n) {
		return result{node: n}, nil
	}
	switch n := n.(type) {
	case *gmsplan.ResolvedTable:
		t, _ := stored.Under(n.Table)
		rel, err := s.Scan(n, t)
		return result{rel: rel}, err
	case *gmsplan.TableAlias:
		out, err := s.build(n.Child, at)
		if out.rel != nil {
			out.rel.Alias(n.Name())
		}
		return out, err
	case *gmsplan.SubqueryAlias:
		return s.derived(n, at)
	case *gmsplan.Filter:
		if tree.NeverHolds(s.ctx, n.Expression) {
			return s.noRows(n), nil
		}
		return s.unary(n, at, func(r *rel.Relation) (*rel.Relation, error) { return s.Filter(r, n.Expression) })
	case *gmsplan.Having:
		if tree.NeverHolds(s.ctx, n.Cond) {
			return s.noRows(n), nil
		}
		return s.unary(n, at, func(r *rel.Relation) (*rel.Relation, error) { return s.Filter(r, n.Cond) })
	case *gmsplan.Project:
		return s.projection(n, at)
	case *gmsplan.Sort:
		return s.unary(n, at, func(r *rel.Relation) (*rel.Relation, error) { return r, nil })
	case *gmsplan.Limit:
		if tree.IsZero(n.Limit) {
			return s.noRows(n), nil
		}
		return s.unary(n, at, func(*rel.Relation) (*rel.Relation, error) { return nil, limited(at) })
	case *gmsplan.Offset:
		return s.unary(n, at, func(*rel.Relation) (*rel.Relation, error) { return nil, limited(at) })
	case *gmsplan.TopN:
		return s.unary(n, at, func(*rel.Relation) (*rel.Relation, error) { return nil, limited(at) })
	case *gmsplan.Distinct:
		return s.distinct(n, at)
	case *gmsplan.Window:
		return s.unary(n, at, func(r *rel.Relation) (*rel.Relation, error) { return s.Windows(r, n) })
	case *gmsplan.GroupBy:
		return s.groupBy(n, at)
	case *keyedRows:
		return s.numbered(n)
	case *gmsplan.JoinNode:
		return s.joinNode(n, at)
	case *gmsplan.SetOp:
		return s.setOp(n, at)
	case *gmsplan.RecursiveCte:
		return result{}, rule.Deny(rule.Recursive, refuse.Shape, "Use a plain subquery.",
			"A recursive common table expression over a protected table is not supported.")
	case *gmsplan.Into:
		return result{}, rule.Deny(rule.Into, refuse.Context, "", "SELECT … INTO cannot take a private answer.")
	}
	return result{}, rule.Deny(rule.Node, refuse.Shape, "Write a plain SELECT with joins, filters and aggregates.",
		"The operation %T over a protected table is not supported.", n)
}

// rows translates what stands below an aggregate.
func (s *statement) rows(input sql.Node) (*rel.Relation, error) {
	r, err := s.build(input, position{aggregate: true})
	return r.rel, err
}

// deciding reads the rows of a subquery in an expression on rows of persons.
func (s *statement) deciding(n sql.Node) (*rel.Relation, error) {
	if !s.HasProtected(n) {
		return s.Public(n)
	}
	r, err := s.build(n, position{aggregate: true})
	if err == nil && r.rel == nil {
		err = rule.Deny(rule.Subquery, refuse.Shape, "Write it as a JOIN, or compute it in a statement of its own.",
			"The subquery in an expression on protected rows is a private answer.")
	}
	return r.rel, err
}

// scalar releases the aggregate of a subquery whose answer is a value of the rows around it, once
// for all scans of these.
func (s *statement) scalar(g *gmsplan.GroupBy) (*plan.DPAggregate, error) {
	if a, ok := s.scalars[g]; ok {
		return a, nil
	}
	var a *plan.DPAggregate
	err := s.Aside(func() error {
		r, err := s.groupBy(g, position{})
		if err != nil {
			return err
		}
		if a, _ = r.node.(*plan.DPAggregate); a == nil {
			return rule.Deny(rule.Subquery, refuse.Shape, "Ask for it in a statement of its own, and write the value.",
				"The value of a subquery on protected rows is no private answer: it follows from what is declared, or from answers.")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.scalars[g] = a
	return a, nil
}

// unary handles a node with one child: over private rows by f, over public rows by keeping it.
func (s *statement) unary(n sql.Node, at position, f func(*rel.Relation) (*rel.Relation, error)) (result, error) {
	child, err := s.build(n.Children()[0], at)
	if err != nil {
		return result{}, err
	}
	if child.rel != nil {
		rel, err := f(child.rel)
		return result{rel: rel}, err
	}
	return s.keep(n, child)
}

// keep puts a node back over its rewritten child, its expressions following the child's columns.
func (s *statement) keep(n sql.Node, child result) (result, error) {
	out, err := n.WithChildren(s.ctx, child.node)
	if err != nil {
		return result{}, err
	}
	if out, err = s.follow(out, child.keys); err != nil {
		return result{}, err
	}
	return result{node: out, answer: child.answer, keys: child.keys}, nil
}

// projection computes columns over private rows, or keeps a Project over public ones. The one at
// the top of a query block keeps its width; one below passes the keys of the answer on.
func (s *statement) projection(n *gmsplan.Project, at position) (result, error) {
	child, err := s.build(n.Child, position{aggregate: at.aggregate})
	if err != nil {
		return result{}, err
	}
	if child.rel != nil {
		rel, err := s.Project(child.rel, n.Projections)
		return result{rel: rel}, err
	}
	r, err := s.keep(n, child)
	if err != nil {
		return result{}, err
	}
	p := r.node.(*gmsplan.Project)
	exprs := append([]sql.Expression(nil), p.Projections...)
	if !at.top {
		exprs = append(exprs, lists.Map(child.keys, func(k keyField) sql.Expression { return k.field })...)
	} else {
		r.keys = nil
		for i, e := range exprs {
			if gf, ok := e.(*expression.GetField); ok && s.carried[gf.Id()] {
				return result{}, notGrouped(i, gf)
			}
		}
	}
	for i, e := range exprs {
		if i < len(n.Projections) {
			if id, ok := e.(sql.IdExpression); ok && id.Id() != 0 {
				s.retyped.Note(id.Id(), n.Projections[i].Type(s.ctx), e.Type(s.ctx))
			}
		}
	}
	q := gmsplan.NewProject(s.ctx, exprs, p.Child)
	r.node = q.WithAliasDeps(p.AliasDeps)
	return r, nil
}

// derived is a derived table, a view or a common table expression: its columns get new ids.
func (s *statement) derived(n *gmsplan.SubqueryAlias, at position) (result, error) {
	if n.IsLateral || !n.Correlated.Empty() {
		return result{}, rule.Deny(rule.Lateral, refuse.Shape, "Join on a condition.",
			"A lateral derived table over a protected table is not supported.")
	}
	child, err := s.build(n.Child, position{top: true, aggregate: at.aggregate})
	if err != nil {
		return result{}, err
	}
	schema := n.Schema(s.ctx)
	ids := tree.ColumnIDs(n, len(schema))
	if ids == nil {
		return result{}, rule.Deny(rule.Node, refuse.Shape, "", "The columns of %s cannot be followed.", n.Name())
	}
	if rows := child.rel; rows != nil {
		if len(rows.Columns) != len(ids) {
			return result{}, rule.Deny(rule.Node, refuse.Shape, "", "The columns of %s cannot be followed.", n.Name())
		}
		out := rows.WithIDs(ids)
		for i := range out.Columns {
			out.Columns[i].Name = schema[i].Name
		}
		return result{rel: out}, nil
	}
	node, err := n.WithChildren(s.ctx, child.node)
	if err != nil {
		return result{}, err
	}
	for i, c := range node.Schema(s.ctx) {
		s.retyped.Note(ids[i], schema[i].Type, c.Type)
	}
	return result{node: node, answer: child.answer}, nil
}

// joinNode joins private rows, or keeps a join of public ones.
func (s *statement) joinNode(n *gmsplan.JoinNode, at position) (result, error) {
	if j, ok := inner(n); ok {
		return s.innerJoin(j, at)
	}
	l, r, err := s.buildBoth(n.Left(), n.Right(), at)
	if err != nil {
		return result{}, err
	}
	if l.rel == nil && r.rel == nil {
		node, err := n.WithChildren(s.ctx, l.node, r.node)
		if err != nil {
			return result{}, err
		}
		if node, err = s.follow(node, nil); err != nil {
			return result{}, err
		}
		return result{node: node, answer: true}, nil
	}
	if !at.aggregate {
		return result{}, rawRows("A join")
	}
	if err := lists.Each([]*result{&l, &r}, s.privateSide); err != nil {
		return result{}, err
	}
	rel, err := s.Join(l.rel, r.rel, n)
	return result{rel: rel}, err
}

// buildBoth builds two sides of a node.
func (s *statement) buildBoth(left, right sql.Node, at position) (l, r result, err error) {
	if l, err = s.build(left, at); err == nil {
		r, err = s.build(right, at)
	}
	return l, r, err
}

// setOp is UNION ALL of private rows, or any set operation on answers.
func (s *statement) setOp(n *gmsplan.SetOp, at position) (result, error) {
	at.top = true
	l, r, err := s.buildBoth(n.Left(), n.Right(), at)
	if err != nil {
		return result{}, err
	}
	if l.rel == nil && r.rel == nil {
		node, err := n.WithChildren(s.ctx, l.node, r.node)
		return result{node: node, answer: true}, err
	}
	if !at.aggregate {
		return result{}, rawRows("UNION")
	}
	for _, side := range []*result{&l, &r} {
		if side.rel == nil {
			side.rel = new(rel.Relation)
		}
	}
	rel, err := s.Union(l.rel, r.rel, n)
	return result{rel: rel}, err
}

// groupBy is the one place where private rows become an answer.
func (s *statement) groupBy(n *gmsplan.GroupBy, at position) (result, error) {
	if rows, list, err := s.answerJoins(n.Child); err != nil {
		return result{}, err
	} else if len(list) > 0 && s.private(rows) {
		r, err := s.groupBy(s.withKeys(n, rows), at)
		if err != nil {
			return r, err
		}
		if r.rel != nil {
			return result{}, joinAnswer("Aggregate per person without it, and join answers in an outer query.", "Rows that are aggregated per person are joined with a private answer.")
		}
		return s.joinAfterRelease(n, r, list)
	}
	before := len(s.nodes)
	if !at.aggregate {
		s.Begin()
	}
	child, err := s.build(n.Child, position{aggregate: true})
	if err != nil {
		return result{}, err
	}
	m := s.Mark()
	if child.rel == nil {
		if len(s.nodes) == before && !child.answer {
			return s.emptyGroups(n, child)
		}
		if a := dpAggregate(n); a != nil {
			return result{}, rule.Deny(rule.Argument, refuse.Aggregate, "Use the plain SQL aggregate on the answer.",
				"%s is over an answer that is already private.", a)
		}
		return s.keep(n, child)
	}
	if child.rel.Shared() {
		if err := s.CheckOwners(child.rel); err != nil {
			return result{}, err
		}
		return s.releaseAt(at, n, child.rel, m)
	}
	for _, k := range n.GroupByExprs {
		if child.rel.IsUnit(k) {
			if a := dpAggregate(n); a != nil {
				return result{}, rule.Deny(rule.UnitKey, refuse.Shape, "Leave the unit out of GROUP BY.",
					"%s in groups of one person each would describe persons.", a)
			}
			rel, err := s.PerUnit(child.rel, n)
			return result{rel: rel}, err
		}
	}
	if i := slices.IndexFunc(n.GroupByExprs, child.rel.NamesPerson); i >= 0 {
		return result{}, rule.Deny(rule.UnitKey, refuse.Shape,
			"Leave the person out of GROUP BY and SELECT DISTINCT. What is asked of whole persons wants a table that is protected without a period.",
			"Groups of one value of %s would be of one person, whose rows of one period are the unit.", n.GroupByExprs[i])
	}
	// Under an aggregate, rows that are grouped by what tells the person are the person's: orders
	// of the line items of each. By themselves they would be an answer about each order.
	if at.aggregate && dpAggregate(n) == nil && slices.ContainsFunc(n.GroupByExprs, child.rel.TellsUnit) {
		rel, err := s.PerUnit(child.rel, n)
		return result{rel: rel}, err
	}
	return s.releaseAt(at, n, child.rel, m)
}

// releaseAt releases a GROUP BY. Below an aggregate other rows may have been translated before its
// own; these are translated anew, so that the texts of its scans do not depend on that.
func (s *statement) releaseAt(at position, n *gmsplan.GroupBy, r *rel.Relation, m *rel.Mark) (result, error) {
	if at.aggregate {
		return s.groupBy(n, position{top: at.top})
	}
	return s.release(n, r, m)
}

// limited refuses LIMIT on private rows.
func limited(at position) error {
	if !at.aggregate {
		return rule.Deny(rule.RawRows, refuse.RawRows, previewRemedy, "LIMIT would return rows of a protected table.")
	}
	return rule.Deny(rule.Limit, refuse.Shape, "Put LIMIT outside the aggregate, on the answer.",
		"LIMIT below an aggregate depends on the rows of other persons.")
}

// rawRows refuses rows of persons at the top of a statement.
func rawRows(what string) error {
	return rule.Deny(rule.RawRows, refuse.RawRows, "", "%s would return rows of a protected table.", what)
}

// subquery rewrites a subquery expression over public rows; its rows must be public or an answer.
func (s *statement) subquery(q *gmsplan.Subquery) (sql.Expression, error) {
	if !s.HasProtected(q.Query) {
		return q, nil
	}
	if !q.Correlated().Empty() {
		return s.lookedUp(q)
	}
	r, err := s.build(q.Query, position{top: true})
	_, limited := q.Query.(*gmsplan.Limit)
	switch {
	case limited && err != nil:
		return nil, err
	case err != nil && rule.Of(err) == rule.RawRows, err == nil && r.rel != nil && !r.rel.ShowsPersons():
		return nil, rowsInside()
	case err != nil:
		return nil, err
	case r.rel != nil:
		return nil, s.raw(r.rel, "The subquery")
	}
	return q.WithQuery(r.node), nil
}

// raw refuses a relation that no aggregate took in.
func (s *statement) raw(r *rel.Relation, what string) error {
	if r.ShowsPersons() {
		return rule.Deny(rule.UnitKey, refuse.RawRows, "Aggregate over it: SELECT AVG(t) FROM (…) x.",
			"%s has one row for each person.", what)
	}
	return rawRows(what)
}
