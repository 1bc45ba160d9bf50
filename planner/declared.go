package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/remark"
	"scrim/planner/plan"
	"scrim/planner/release"
	"scrim/planner/tree"
)

// declared is an answer that follows from what is declared for a table: the values of a column that
// a filter offers, the ends of its range. No row is read and nothing is charged; a note says what
// the answer is.
type declared struct {
	tree.KnownRows
	name string
	note remark.Remark
}

func (n *declared) String() string { return n.name }

// WithChildren implements sql.Node.
func (n *declared) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return tree.Leaf(n, children)
}

// RowIter implements sql.ExecSourceRel.
func (n *declared) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	remark.Begin(ctx)
	remark.Add(ctx, n.note)
	return n.KnownRows.RowIter(ctx, row)
}

// declaredKeys is a GROUP BY of public keys without an aggregate: its rows are known before any is
// read.
//
//	SELECT region FROM orders GROUP BY region     SELECT DISTINCT region FROM orders
func (s *statement) declaredKeys(g *gmsplan.GroupBy, d *release.Aggregation, outputs []plan.Output) (result, error) {
	feasible, err := s.keys.Feasible(d.Relation, &d.Grouping)
	if err != nil {
		return result{}, err
	}
	n := &declared{name: "DeclaredValues", note: remark.New(remark.Declared, "The values are those that are declared for the columns; whether there are rows is not told.").With("Ask for COUNT(*) beside them.")}
	n.Columns = slices.Clone(g.Schema(s.ctx))
	for i, e := range g.SelectDeps {
		var id sql.ColumnId
		if x, ok := e.(sql.IdExpression); ok {
			id = x.Id()
		}
		c := n.Columns[i]
		n.Exprs = append(n.Exprs, tree.Column(id, 0, c.Type, c.DatabaseSource, c.Source, c.Name))
	}
	r := result{node: n, answer: true}
	for i, k := range d.Keys {
		if _, ok := k.Expr.(*expression.GetField); ok {
			continue
		}
		f := tree.Column(s.NewID(), 0, k.Type, "", "", k.Name)
		n.Exprs, n.Columns = append(n.Exprs, f), append(n.Columns, &sql.Column{Name: k.Name, Type: k.Type, Nullable: true})
		outputs = append(outputs, plan.Output{Key: i, Aggregate: -1})
		r.keys = append(r.keys, keyField{k.Expr, f})
	}
	for at := range d.Groups {
		if feasible != nil && !feasible[at] {
			continue
		}
		row := make(sql.Row, len(outputs))
		for i, o := range outputs {
			if o.Key >= 0 {
				row[i] = d.Value(at, o.Key)
			}
		}
		n.Rows = append(n.Rows, row)
	}
	return r, nil
}
