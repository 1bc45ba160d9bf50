package planner

import (
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

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
