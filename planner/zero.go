package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/functions"
)

// constantRows is a leaf whose rows are known when the query is planned. Tools probe the shape of a
// result with WHERE 0=1 or LIMIT 0; such a subtree is empty whatever the data are, so its place is
// taken by no rows, at no cost.
type constantRows struct {
	rows   []sql.Row
	exprs  []sql.Expression
	schema sql.Schema
}

var (
	_ sql.ExecSourceRel      = (*constantRows)(nil)
	_ sql.Projector          = (*constantRows)(nil)
	_ sql.CollationCoercible = (*constantRows)(nil)
)

func (n *constantRows) Resolved() bool                   { return true }
func (n *constantRows) IsReadOnly() bool                 { return true }
func (n *constantRows) Schema(*sql.Context) sql.Schema   { return n.schema }
func (n *constantRows) Children() []sql.Node             { return nil }
func (n *constantRows) ProjectedExprs() []sql.Expression { return n.exprs }
func (n *constantRows) String() string                   { return "NoRows" }

func (n *constantRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 0)
	}
	return n, nil
}

func (n *constantRows) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

func (n *constantRows) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(n.rows...), nil
}

// noRows replaces a node that yields no row whatever the data are.
func (s *statement) noRows(n sql.Node) (result, error) {
	schema := n.Schema(s.ctx)
	ids := outputIDs(n)
	leaf := &constantRows{schema: schema}
	for i, c := range schema {
		var id sql.ColumnId
		if i < len(ids) {
			id = ids[i]
		}
		leaf.exprs = append(leaf.exprs, field(id, 0, c.Type, c.DatabaseSource, c.Source, c.Name))
	}
	return result{node: leaf}, nil
}

// outputIDs lists the ids of the columns that a node yields, in their order.
func outputIDs(n sql.Node) []sql.ColumnId {
	var ids []sql.ColumnId
	switch n := n.(type) {
	case sql.Projector:
		for _, e := range n.ProjectedExprs() {
			var id sql.ColumnId
			if x, ok := e.(sql.IdExpression); ok {
				id = x.Id()
			}
			ids = append(ids, id)
		}
	case *plan.SetOp:
		return outputIDs(n.Left())
	case *plan.TableAlias:
		return outputIDs(n.Child)
	case plan.TableIdNode:
		n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	default:
		for _, c := range n.Children() {
			ids = append(ids, outputIDs(c)...)
		}
	}
	return ids
}

// emptyGroups is a GROUP BY over no rows: no groups, or without keys one row in which counts are 0
// and everything else is NULL.
func (s *statement) emptyGroups(n *plan.GroupBy, child result) (result, error) {
	if dpAggregate(n) == nil {
		return s.keep(n, child)
	}
	r, err := s.noRows(n)
	if err != nil || len(n.GroupByExprs) > 0 {
		return r, err
	}
	row := make(sql.Row, len(n.SelectDeps))
	for i, e := range n.SelectDeps {
		if e, ok := e.(sql.Aggregation); ok {
			row[i] = ofNobody(e)
		}
	}
	r.node.(*constantRows).rows = []sql.Row{row}
	return r, nil
}

// ofNobody is an aggregate over no rows.
func ofNobody(e sql.Aggregation) any {
	e, told := asked(e)
	m, ok := e.(*functions.Aggregate)
	if !ok {
		m, ok = plainMarker(e)
	}
	switch {
	case !ok || m.Function.Measure != functions.Count:
		return nil
	case told != nil:
		return 0.0
	}
	return int64(0)
}

// dpAggregate returns the first DP function among the outputs of a GROUP BY.
func dpAggregate(n *plan.GroupBy) sql.Expression {
	for _, e := range n.SelectDeps {
		if a, ok := e.(*functions.Aggregate); ok {
			return a
		}
	}
	return nil
}
