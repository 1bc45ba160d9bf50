package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions"
	"scrim/planner/aggregate"
	"scrim/planner/tree"
)

// noRows replaces a node that yields no row whatever the data are.
func (s *statement) noRows(n sql.Node) result { return result{node: tree.NoRows(s.ctx, n)} }

// emptyGroups is a GROUP BY over no rows: no groups, or without keys one row in which counts are 0
// and everything else is NULL.
func (s *statement) emptyGroups(n *plan.GroupBy, child result) (result, error) {
	if dpAggregate(n) == nil {
		return s.keep(n, child)
	}
	leaf := tree.NoRows(s.ctx, n)
	if len(n.GroupByExprs) > 0 {
		return result{node: leaf}, nil
	}
	row := make(sql.Row, len(n.SelectDeps))
	for i, e := range n.SelectDeps {
		if e, ok := e.(sql.Aggregation); ok {
			row[i] = aggregate.OfNobody(e)
		}
	}
	leaf.Rows = []sql.Row{row}
	return result{node: leaf}, nil
}

// dpAggregate returns the first DP function among the outputs of a GROUP BY.
func dpAggregate(n *plan.GroupBy) sql.Expression {
	for _, e := range n.SelectDeps {
		if a, ok := e.(*functions.Aggregate); ok && !a.Function.Lacking {
			return a
		}
	}
	return nil
}
