package planner

import (
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions"
	"scrim/internal/remark"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/rel"
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
		c := n.Columns[i]
		n.Exprs = append(n.Exprs, tree.Column(tree.ID(e), 0, c.Type, c.DatabaseSource, c.Source, c.Name))
	}
	r := result{node: n, answer: true, keys: s.keyFields(d)}
	for _, k := range r.keys {
		n.Exprs, n.Columns, outputs = append(n.Exprs, k.field), append(n.Columns, k.shown), append(outputs, k.output)
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

// Tools ask for the ends of a column before they draw a slider or an axis: SELECT MIN(x), MAX(x)
// FROM t. The least and the greatest value are each one person's. What a slider needs, the range
// that x can have, a DBA may have declared; then the answer is that range: it costs nothing, no row
// is read, and a note says what it is. It is given only for the whole of one table, where the
// question can mean the column; with a condition, a key or another aggregate beside it, it can only
// mean the rows, and is answered from them, by what a number of persons are beyond.

// declaredRange answers a GROUP BY of MIN and MAX alone from declared domains; ok is false where it
// asks for something else, or where one of the columns has no declared range.
func (s *statement) declaredRange(g *gmsplan.GroupBy, r *rel.Relation) (out result, ok bool, err error) {
	if len(g.GroupByExprs) > 0 || len(g.SelectDeps) == 0 || !r.BareTable() || !s.params.Rewrite() {
		return out, false, nil
	}
	row := make(sql.Row, len(g.SelectDeps))
	for i, e := range g.SelectDeps {
		var least bool
		switch e.(type) {
		case *aggregation.Min:
			least = true
		case *aggregation.Max:
		default:
			return out, false, nil
		}
		if row[i], err = s.declaredEnd(r, e.(sql.Aggregation), least); err != nil || row[i] == nil {
			return out, false, err
		}
	}
	leaf := tree.NoRows(s.ctx, g)
	leaf.Rows = []sql.Row{row}
	note := remark.New(remark.Declared, "MIN and MAX are the ends of the range that is declared for the column, not values of rows.").
		With("DP_MIN(x) and DP_MAX(x) tell of the rows, privately.")
	return result{node: &declared{*leaf, "DeclaredRange", note}}, true, nil
}

// declaredEnd is the declared least or greatest value of the column that an aggregate is of; nil
// where none is declared.
func (s *statement) declaredEnd(r *rel.Relation, e sql.Aggregation, least bool) (any, error) {
	if len(e.Children()) != 1 {
		return nil, nil
	}
	gf, ok := e.Children()[0].(*expression.GetField)
	if !ok {
		return nil, nil
	}
	var b *rel.Base
	if c := r.Find(gf); c != nil {
		b = r.PlainBase(*c)
	}
	if b == nil {
		return nil, nil
	}
	if d := b.DeclaredRange(); d != nil {
		x := d.Max
		if least {
			x = d.Min
		}
		if types.IsInteger(b.Type) {
			if x = math.Floor(d.Max); least {
				x = math.Ceil(d.Min)
			}
		}
		v, _, err := b.Type.Convert(s.ctx, x)
		return v, err
	}
	values, finite, err := s.keys.Values(b)
	if err != nil || !finite {
		return nil, nil
	}
	var end any
	for _, v := range values {
		if v == nil {
			continue
		}
		if end != nil {
			c, err := b.Type.Compare(s.ctx, v, end)
			if err != nil {
				return nil, err
			}
			if least && c >= 0 || !least && c <= 0 {
				continue
			}
		}
		end = v
	}
	return end, nil
}

// noRows replaces a node that yields no row whatever the data are.
func (s *statement) noRows(n sql.Node) result { return result{node: tree.NoRows(s.ctx, n)} }

// emptyGroups is a GROUP BY over no rows: no groups, or without keys one row in which counts are 0
// and everything else is NULL.
func (s *statement) emptyGroups(n *gmsplan.GroupBy, child result) (result, error) {
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
func dpAggregate(n *gmsplan.GroupBy) sql.Expression {
	for _, e := range n.SelectDeps {
		if a, ok := e.(*functions.Aggregate); ok && !a.Function.Lacking {
			return a
		}
	}
	return nil
}

// Some tools read the names and types of a table's columns from a preview: SELECT * FROM t LIMIT 1.
// Rows are never shown, so it is refused; an empty answer would look like an empty table. A session
// that knows what it does may ask for that all the same, by dp_preview = 'empty': then there are no
// rows and a warning. Without LIMIT the statement is a copy of the table, and stays refused.

// previewRemedy says what to write in the place of a preview.
const previewRemedy = "Ask for an aggregate, for example SELECT COUNT(*) FROM t; LIMIT 0 or SET dp_preview = 'empty' gives the columns without rows; a DBA may SET dp_raw = ON."

// isPreview reports whether a statement selects columns of rows, with a LIMIT above all of them.
func (s *statement) isPreview(n sql.Node) bool {
	_, cut := n.(*gmsplan.Limit)
	return cut && s.plainRows(n, true)
}

// previewed is the empty answer to a preview.
func (s *statement) previewed(n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return &declared{KnownRows: *tree.NoRows(s.ctx, n), name: "EmptyPreview", note: remark.Plain(remark.EmptyPreview)}, transform.NewTree, nil
}
