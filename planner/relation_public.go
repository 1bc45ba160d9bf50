package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/internal/refuse"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// hasProtected reports whether a subtree scans a protected table, in subqueries too.
func (s *writer) hasProtected(n sql.Node) bool {
	found := false
	tree.Inspect(s.ctx, n, func(n sql.Node) {
		if rt, ok := n.(*gmsplan.ResolvedTable); ok {
			if t, ok := stored.Under(rt.Table); ok && s.Catalog.Table(t.StoreRef().String()).State == catalog.Protected {
				found = true
			}
		}
	}, nil)
	return found
}

// public turns a subtree over public store tables into a relation, to be joined with private rows.
func (s *writer) public(n sql.Node) (*relation, error) {
	switch n := n.(type) {
	case *gmsplan.ResolvedTable:
		if t, ok := stored.Under(n.Table); ok {
			return s.scan(n, t)
		}
	case *gmsplan.TableAlias:
		return s.public(n.Child)
	case *gmsplan.SubqueryAlias:
		rel, err := s.public(n.Child)
		if err != nil {
			return nil, err
		}
		ids := tree.ColumnIDs(n, len(rel.columns))
		if ids == nil || n.IsLateral || !n.Correlated.Empty() {
			break
		}
		out := *rel
		out.columns = append([]column(nil), rel.columns...)
		for i := range out.columns {
			out.columns[i].id = ids[i]
		}
		return &out, nil
	case *gmsplan.Filter:
		rel, err := s.public(n.Child)
		if err != nil {
			return nil, err
		}
		return s.filter(rel, n.Expression)
	case *gmsplan.Project:
		rel, err := s.public(n.Child)
		if err != nil {
			return nil, err
		}
		return s.project(rel, n.Projections)
	case *gmsplan.JoinNode:
		l, err := s.public(n.Left())
		if err != nil {
			return nil, err
		}
		r, err := s.public(n.Right())
		if err != nil {
			return nil, err
		}
		return s.join(l, r, n)
	}
	return nil, rule.Deny(rule.JoinForeign, refuse.Shape, "Store the public side in a table first.",
		"The public side of the join (%T) is more than stored tables with filters and projections.", n)
}
