package planner

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions/standard"
	"scrim/internal/refuse"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// distinct is SELECT DISTINCT over rows of persons: what it lists are keys, so it is planned as the
// GROUP BY that says the same. Keys of public domains are listed as they are declared, others are
// selected privately, and lists that hold the person are no answer.
//
//	SELECT DISTINCT region, YEAR(placed) FROM orders     SELECT region, YEAR(placed) FROM orders GROUP BY 1, 2
func (s *statement) distinct(n *plan.Distinct, at position) (result, error) {
	top, ok := n.Child.(*plan.Project)
	if !ok || !s.private(n.Child) {
		return s.unary(n, at, func(*rel.Relation) (*rel.Relation, error) { return nil, s.noDistinct() })
	}
	// ORDER BY an expression of the list is below it: Project(Sort(Project(rows))).
	rows, wrap := top.Child, func(g sql.Node) sql.Node { return g }
	if sorted, ok := rows.(*plan.Sort); ok {
		rows = sorted.Child
		below, ok := rows.(*plan.Project)
		if ok {
			rows = below.Child
		}
		wrap = func(g sql.Node) sql.Node {
			if ok {
				g = plan.NewProject(s.ctx, aliases(below.Projections, top.Projections), g)
			}
			return plan.NewSort(sorted.SortConditions, g)
		}
	}
	var deps, keys []sql.Expression
	for _, e := range top.Projections {
		e = tree.Unalias(e)
		if gf, ok := e.(*expression.GetField); ok {
			if e = s.namedBelow(rows, top.Child, gf); e == gf {
				deps = append(deps, e)
			}
		}
		if len(tree.Fields(s.ctx, e)) > 0 {
			k, err := standard.Keyed(s.ctx, e)
			if err != nil {
				return result{}, err
			}
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return result{}, s.noDistinct()
	}
	g := plan.NewGroupBy(deps, keys, rows)
	return s.build(plan.NewProject(s.ctx, top.Projections, wrap(g)), at)
}

func (s *statement) noDistinct() error {
	return rule.Deny(rule.Distinct, refuse.Shape, "Use COUNT(*), or GROUP BY columns.", "DISTINCT of constants over protected rows tells whether there are rows.")
}

// namedBelow returns what a column of the list is below the order: itself, or the expression that
// it names.
func (s *statement) namedBelow(rows, child sql.Node, gf *expression.GetField) sql.Expression {
	if sorted, ok := child.(*plan.Sort); ok && sorted.Child != rows {
		for _, e := range sorted.Child.(*plan.Project).Projections {
			if a, ok := e.(*expression.Alias); ok && a.Id() == gf.Id() {
				return a.Child
			}
		}
	}
	return gf
}

// aliases keeps the columns of a projection that a GROUP BY of the list has: those with a name of
// their own, and columns of the list.
func aliases(exprs, list []sql.Expression) []sql.Expression {
	var out []sql.Expression
	for _, e := range exprs {
		_, named := e.(*expression.Alias)
		if gf, ok := e.(*expression.GetField); ok {
			named = slices.ContainsFunc(list, func(x sql.Expression) bool {
				f, ok := tree.Unalias(x).(*expression.GetField)
				return ok && f.Id() == gf.Id()
			})
		}
		if named {
			out = append(out, e)
		}
	}
	return out
}

// private reports whether a subtree is rows of persons. It leaves no trace in the plan. What is
// known is kept: asked again at every level of a statement that is nested, the time of planning
// would double with each.
func (s *statement) private(n sql.Node) bool {
	known := reflect.TypeOf(n).Comparable()
	if known {
		if is, ok := s.privates[n]; ok {
			return is
		}
	}
	nodes, drafts, scalars, keyed := len(s.nodes), len(s.aggregations), maps.Clone(s.scalars), maps.Clone(s.keyed)
	r, err := s.build(n, position{aggregate: true})
	s.nodes, s.aggregations, s.scalars, s.keyed = s.nodes[:nodes], s.aggregations[:drafts], scalars, keyed
	is := err == nil && r.rel != nil
	if known {
		if s.privates == nil {
			s.privates = map[sql.Node]bool{}
		}
		s.privates[n] = is
	}
	return is
}
