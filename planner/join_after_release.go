package planner

import (
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// Charts with a limit on their series join the rows with the answer that names the series to keep:
//
//	SELECT day, k, COUNT(*) FROM t JOIN (SELECT k AS k0, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 5) a ON k = k0 GROUP BY day, k
//
// and so does WHERE k IN (SELECT … LIMIT 5). Where the columns that are compared are keys of the
// GROUP BY, and the answer has each of its keys once, the rows of a group have a partner together
// or not at all. So the join is made afterwards, of two answers: it is post-processing, the rows
// are aggregated without it, and the loss is that of both releases. What is compared with anything
// but a key is refused.

// answerJoin is an answer that rows are joined with.
type answerJoin struct {
	node sql.Node         // as bound
	ids  []sql.ColumnId   // of its columns
	on   []sql.Expression // conditions between the rows' columns and its own
	list sql.Expression   // instead: the left side of IN (…)
	not  bool             // NOT IN
}

// answerJoins takes the joins with answers out of the input of a GROUP BY.
func (s *statement) answerJoins(n sql.Node) (sql.Node, []*answerJoin, error) {
	switch n := n.(type) {
	case *gmsplan.Filter:
		return s.filterAnswers(n)
	case *gmsplan.JoinNode:
		if j, ok := inner(n); ok {
			return s.sideAnswers(j)
		}
	}
	return n, nil, nil
}

// filterAnswers takes out IN (an answer), and conditions on the columns of answers that are joined
// below.
func (s *statement) filterAnswers(n *gmsplan.Filter) (sql.Node, []*answerJoin, error) {
	child, list, err := s.answerJoins(n.Child)
	if err != nil {
		return nil, nil, err
	}
	var rest []sql.Expression
	for _, c := range tree.Conjuncts(n.Expression) {
		if l := s.membership(c); l != nil {
			list = append(list, l)
		} else if !take(s.ctx, list, c) {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return child, list, nil
	}
	return gmsplan.NewFilter(s.ctx, expression.JoinAnd(rest...), child), list, nil
}

// membership reads x [NOT] IN (SELECT … over an answer).
func (s *statement) membership(e sql.Expression) *answerJoin {
	not, negated := e.(*expression.Not)
	if negated {
		e = not.Child
	}
	in, ok := e.(*gmsplan.InSubquery)
	if !ok {
		return nil
	}
	q, ok := in.Right().(*gmsplan.Subquery)
	if !ok || !q.Correlated().Empty() || !s.HasProtected(q.Query) || s.private(q.Query) {
		return nil
	}
	return &answerJoin{node: q.Query, list: in.Left(), not: negated}
}

// take gives a condition to the answer whose columns are in it.
func take(ctx *sql.Context, list []*answerJoin, cond sql.Expression) bool {
	for _, l := range list {
		if l.has(ctx, cond) {
			l.on = append(l.on, cond)
			return true
		}
	}
	return false
}

// has reports whether an expression has a column of the answer.
func (l *answerJoin) has(ctx *sql.Context, e sql.Expression) bool {
	return slices.ContainsFunc(tree.Fields(ctx, e), func(id sql.ColumnId) bool { return slices.Contains(l.ids, id) })
}

// sideAnswers takes the sides out of a tree of inner joins that are answers.
func (s *statement) sideAnswers(j *gmsplan.JoinNode) (sql.Node, []*answerJoin, error) {
	var sides [2]sql.Node
	var list []*answerJoin
	for i, side := range j.Children() {
		if a, ok := side.(*gmsplan.SubqueryAlias); ok && !a.IsLateral && s.HasProtected(side) && !s.private(side) {
			ids := tree.ColumnIDs(a, len(a.Schema(s.ctx)))
			list = append(list, &answerJoin{node: side, ids: ids})
			continue
		}
		n, below, err := s.answerJoins(side)
		if err != nil {
			return nil, nil, err
		}
		sides[i], list = n, append(list, below...)
	}
	if len(list) == 0 || sides[0] == nil && sides[1] == nil {
		return j, nil, nil
	}
	rest := lists.Filter(tree.Conjuncts(j.Filter), func(c sql.Expression) bool { return !take(s.ctx, list, c) })
	one := sides[0]
	if one == nil {
		one = sides[1]
	} else if sides[1] != nil {
		n, err := j.WithChildren(s.ctx, sides[0], sides[1])
		if err != nil {
			return nil, nil, err
		}
		both := *n.(*gmsplan.JoinNode)
		both.Filter = expression.JoinAnd(rest...)
		return &both, list, nil
	}
	if len(rest) > 0 {
		one = gmsplan.NewFilter(s.ctx, expression.JoinAnd(rest...), one)
	}
	return one, list, nil
}

// joinAfterRelease joins the answer of a GROUP BY with the answers that were taken out of its
// input.
func (s *statement) joinAfterRelease(g *gmsplan.GroupBy, r result, list []*answerJoin) (result, error) {
	switch r.node.(type) {
	case *plan.DPAggregate, *declared:
	default:
		return r, nil // without rows, whatever the data are
	}
	keyed := r.node.(sql.Projector)
	out := r
	for _, l := range list {
		for _, e := range append(slices.Clone(g.SelectDeps), g.GroupByExprs...) {
			if l.has(s.ctx, e) {
				return result{}, joinAnswer("Select the column of the table in its place, or join answers in an outer query.", "%s is a column of a private answer that rows are joined with.", e)
			}
		}
		with, err := s.build(l.node, position{top: true})
		if err != nil {
			return result{}, err
		}
		if with.rel != nil {
			return result{}, s.raw(with.rel, "The subquery")
		}
		j := &keyJoin{left: out.node, right: with.node, not: l.not, in: l.list != nil}
		if err := s.pairs(j, keyed, r.keys, l); err != nil {
			return result{}, err
		}
		out.node = j
	}
	return out, nil
}

func joinAnswer(remedy, format string, args ...any) error {
	return rule.Deny(rule.JoinAnswer, refuse.Shape, remedy, format, args...)
}

// pairs finds what is compared: columns of the released keys with columns of the other answer.
func (s *statement) pairs(j *keyJoin, keyed sql.Projector, keys []keyField, l *answerJoin) error {
	if l.list != nil {
		left := []sql.Expression{l.list}
		if t, ok := l.list.(expression.Tuple); ok {
			left = t
		}
		for i, e := range left {
			at, err := s.keyOf(keyed, keys, e)
			if err != nil {
				return err
			}
			j.pairs = append(j.pairs, matched{left: at, right: i, by: weighedBy(e)})
		}
		return nil
	}
	var of []sql.ColumnId
	for _, c := range l.on {
		eq, ok := c.(expression.Comparer)
		if ok {
			switch c.(type) {
			case *expression.Equals, *expression.NullSafeEquals:
			default:
				ok = false
			}
		}
		if !ok {
			return joinAnswer("Join on equalities of grouping columns, or filter the answer in its own query.", "Rows are joined with a private answer on %s.", c)
		}
		mine, other := eq.Left(), eq.Right()
		if l.has(s.ctx, mine) {
			mine, other = other, mine
		}
		gf, ok := standard.Unkeyed(other).(*expression.GetField)
		if !ok || l.has(s.ctx, mine) {
			return joinAnswer("Join on equalities of grouping columns, or filter the answer in its own query.", "Rows are joined with a private answer on %s.", c)
		}
		at, err := s.keyOf(keyed, keys, mine)
		if err != nil {
			return err
		}
		_, null := c.(*expression.NullSafeEquals)
		j.pairs = append(j.pairs, matched{left: at, right: slices.Index(l.ids, gf.Id()), null: null, by: weighedBy(mine)})
		of = append(of, gf.Id())
	}
	if len(of) == 0 || !oneEach(j.right, of) {
		return joinAnswer("Join on all the columns that the answer is grouped by.", "Rows are joined with a private answer that may have several rows for one.")
	}
	return nil
}

// weighedBy is the collation by which a text is compared, that of bytes for others.
func weighedBy(e sql.Expression) sql.CollationID {
	if w, ok := e.(*standard.Weighed); ok {
		return w.Collation
	}
	return collation.Bytes
}

// keyOf finds the column of a released key.
func (s *statement) keyOf(keyed sql.Projector, keys []keyField, e sql.Expression) (int, error) {
	e = standard.Unkeyed(e)
	for _, k := range keys {
		if tree.Same(s.ctx, e, standard.Unkeyed(k.expr)) {
			e = k.field
		}
	}
	if gf, ok := e.(*expression.GetField); ok {
		dp, released := keyed.(*plan.DPAggregate)
		for i, x := range keyed.ProjectedExprs() {
			if x.(*expression.GetField).Id() == gf.Id() && (!released || dp.Release.Output[dp.Columns[i]].Key >= 0) {
				return i, nil
			}
		}
	}
	return 0, joinAnswer("Put it into GROUP BY, and add the groups up in an outer query.", "%s is compared with a private answer, and is no key of the GROUP BY.", e)
}

// withKeys is a GROUP BY that also returns its keys that are plain columns.
func (s *statement) withKeys(g *gmsplan.GroupBy, child sql.Node) *gmsplan.GroupBy {
	deps := slices.Clone(g.SelectDeps)
	for _, k := range g.GroupByExprs {
		gf, ok := standard.Unkeyed(tree.Unalias(k)).(*expression.GetField)
		if ok && !slices.ContainsFunc(deps, func(e sql.Expression) bool {
			f, ok := e.(*expression.GetField)
			return ok && f.Id() == gf.Id()
		}) {
			deps = append(deps, gf)
		}
	}
	return gmsplan.NewGroupBy(deps, g.GroupByExprs, child)
}

// oneEach reports whether an answer has at most one row for any values of the given columns: they
// are all its keys.
func oneEach(n sql.Node, ids []sql.ColumnId) bool {
	switch n := n.(type) {
	case *gmsplan.SubqueryAlias:
		outer, below := tree.OutputIDs(n), tree.OutputIDs(n.Child)
		var under []sql.ColumnId
		for _, id := range ids {
			at := slices.Index(outer, id)
			if at < 0 || at >= len(below) {
				return false
			}
			under = append(under, below[at])
		}
		return oneEach(n.Child, under)
	case *gmsplan.Project:
		var under []sql.ColumnId
		for _, id := range ids {
			for _, e := range n.Projections {
				if x, ok := e.(sql.IdExpression); ok && x.Id() == id {
					if gf, ok := tree.Unalias(e).(*expression.GetField); ok {
						under = append(under, gf.Id())
					}
				}
			}
		}
		return len(under) == len(ids) && oneEach(n.Child, under)
	case *gmsplan.Limit, *gmsplan.Offset, *gmsplan.Sort, *gmsplan.TopN, *gmsplan.Having, *gmsplan.Filter, *gmsplan.Distinct:
		return oneEach(n.Children()[0], ids)
	case *keyJoin:
		return oneEach(n.left, ids)
	case *plan.DPAggregate:
		found := map[int]bool{}
		for i, e := range n.Exprs {
			if k := n.Release.Output[n.Columns[i]].Key; k >= 0 && slices.Contains(ids, e.(*expression.GetField).Id()) {
				found[k] = true
			}
		}
		return len(found) == n.Keys
	}
	return false
}

// joinSide is one side of a tree of inner joins.
type joinSide struct {
	node  sql.Node
	text  string // the tables that it reads
	at    int    // its place as written
	built result
	first int // of its columns, among those of the join
}

// inner reports whether a join is one whose sides may be exchanged.
func inner(n sql.Node) (*gmsplan.JoinNode, bool) {
	j, ok := n.(*gmsplan.JoinNode)
	return j, ok && (j.Op == gmsplan.JoinTypeInner || j.Op == gmsplan.JoinTypeCross)
}

// sides flattens a tree of inner and cross joins into what is joined, as written, and the
// conditions. An inner join is the product of its sides with the conditions as a filter, and
// products are associative and commutative.
func (s *statement) sides(n sql.Node, list []*joinSide, conds []sql.Expression) ([]*joinSide, []sql.Expression) {
	j, ok := inner(n)
	if !ok {
		return append(list, &joinSide{node: n, text: s.reads(n), at: len(list)}), conds
	}
	list, conds = s.sides(j.Left(), list, conds)
	list, conds = s.sides(j.Right(), list, conds)
	return list, append(conds, tree.Conjuncts(j.Filter)...)
}

// reads names the tables below a node. Sides that read the same ones, as in a join of a table with
// itself, stay in the order in which they are written.
func (s *statement) reads(n sql.Node) string {
	var names []string
	tree.Inspect(s.ctx, n, func(n sql.Node) {
		if rt, ok := n.(*gmsplan.ResolvedTable); ok {
			names = append(names, strings.ToLower(rt.Name()))
			if t, ok := stored.Under(rt.Table); ok {
				names[len(names)-1] = t.StoreRef().String()
			}
		}
	}, nil)
	slices.Sort(names)
	return strings.Join(names, " ")
}

// innerJoin joins the sides of a tree of inner joins in the order of the tables that they read, one
// after the other. A condition stands at the first join that has its columns: which it is makes no
// difference. The columns keep the order in which they are written, for a derived table above
// counts them.
func (s *statement) innerJoin(n *gmsplan.JoinNode, at position) (result, error) {
	written, conds := s.sides(n, nil, nil)
	list := slices.Clone(written)
	sort.SliceStable(list, func(i, j int) bool { return list[i].text < list[j].text })
	private := false
	for _, x := range list {
		var err error
		if x.built, err = s.build(x.node, at); err != nil {
			return result{}, err
		}
		private = private || x.built.rel != nil
	}
	if !private {
		node, err := s.rejoined(n, &written)
		return result{node: node, answer: true}, err
	}
	if !at.aggregate {
		return result{}, rawRows("A join")
	}
	if err := lists.Each(list, func(x *joinSide) error { return s.privateSide(&x.built) }); err != nil {
		return result{}, err
	}
	out := list[0].built.rel
	for i, x := range list[1:] {
		next := x.built.rel
		x.first = len(out.Columns)
		var on []sql.Expression
		on, conds = available(s.ctx, conds, out, next, i == len(list)-2)
		j := &gmsplan.JoinNode{Op: gmsplan.JoinTypeCross, Filter: expression.JoinAnd(on...)}
		var err error
		if out, err = s.Join(out, next, j); err != nil {
			return result{}, err
		}
	}
	joined := *out
	joined.Columns = nil
	for _, x := range written {
		joined.Columns = append(joined.Columns, out.Columns[x.first:x.first+len(x.built.rel.Columns)]...)
	}
	return result{rel: &joined}, nil
}

// available takes the conditions whose columns two relations have; all of them at the last join.
func available(ctx *sql.Context, conds []sql.Expression, l, r *rel.Relation, all bool) (now, later []sql.Expression) {
	for _, c := range conds {
		known := !tree.HasSubquery(ctx, c) // it may have columns of any side
		for _, id := range tree.Fields(ctx, c) {
			gf := func(x rel.Column) bool { return x.ID == id }
			known = known && (slices.ContainsFunc(l.Columns, gf) || slices.ContainsFunc(r.Columns, gf))
		}
		if all || known {
			now = append(now, c)
		} else {
			later = append(later, c)
		}
	}
	return now, later
}

// privateSide makes a side a relation, that is joined with rows of persons.
func (s *statement) privateSide(x *result) (err error) {
	if x.rel != nil {
		return nil
	}
	if x.answer {
		return rule.Deny(rule.JoinAnswer, refuse.Shape, "Join answers in an outer query.",
			"A join of protected rows with a private answer is not supported.")
	}
	x.rel, err = s.Public(x.node)
	return err
}

// rejoined puts rewritten sides, none of which has rows of persons, back into the tree of joins
// that they come from.
func (s *statement) rejoined(n sql.Node, list *[]*joinSide) (sql.Node, error) {
	j, ok := inner(n)
	if !ok {
		x := (*list)[0]
		*list = (*list)[1:]
		return x.built.node, nil
	}
	l, err := s.rejoined(j.Left(), list)
	if err != nil {
		return nil, err
	}
	r, err := s.rejoined(j.Right(), list)
	if err != nil {
		return nil, err
	}
	out, err := j.WithChildren(s.ctx, l, r)
	if err != nil {
		return nil, err
	}
	return s.follow(out, nil)
}
