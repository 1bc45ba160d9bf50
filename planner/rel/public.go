package rel

import (
	"github.com/dolthub/go-mysql-server/sql"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/catalog"
	"scrim/internal/refuse"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// HasProtected reports whether a subtree scans a protected table, in subqueries too.
func (s *Writer) HasProtected(n sql.Node) bool {
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

// Public turns a subtree over public store tables into a relation, to be joined with private rows.
func (s *Writer) Public(n sql.Node) (*Relation, error) {
	switch n := n.(type) {
	case *gmsplan.ResolvedTable:
		if t, ok := stored.Under(n.Table); ok {
			return s.Scan(n, t)
		}
	case *gmsplan.TableAlias:
		return s.Public(n.Child)
	case *gmsplan.SubqueryAlias:
		rel, err := s.Public(n.Child)
		if err != nil {
			return nil, err
		}
		ids := tree.ColumnIDs(n, len(rel.Columns))
		if ids == nil || n.IsLateral || !n.Correlated.Empty() {
			break
		}
		return rel.WithIDs(ids), nil
	case *gmsplan.Filter:
		rel, err := s.Public(n.Child)
		if err != nil {
			return nil, err
		}
		return s.Filter(rel, n.Expression)
	case *gmsplan.Project:
		rel, err := s.Public(n.Child)
		if err != nil {
			return nil, err
		}
		return s.Project(rel, n.Projections)
	case *gmsplan.JoinNode:
		l, err := s.Public(n.Left())
		if err != nil {
			return nil, err
		}
		r, err := s.Public(n.Right())
		if err != nil {
			return nil, err
		}
		return s.Join(l, r, n)
	}
	return nil, rule.Deny(rule.JoinForeign, refuse.Shape, "Store the public side in a table first.",
		"The public side of the join (%T) is more than stored tables with filters and projections.", n)
}
