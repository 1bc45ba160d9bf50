package planner

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/tree"
)

// declared is an answer that follows from what is declared for a table: the values of a column that a filter offers, the ends of its range. No row is
// read and nothing is charged; a note says what the answer is.
type declared struct {
	tree.KnownRows
	name, note string
}

func (n *declared) String() string { return n.name }

// WithChildren implements sql.Node.
func (n *declared) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return tree.Leaf(n, children)
}

// RowIter implements sql.ExecSourceRel.
func (n *declared) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	ctx.Session.Warn(&sql.Warning{Level: "Note", Code: refuse.MySQLErrno, Message: n.note})
	return n.KnownRows.RowIter(ctx, row)
}

const declaredKeysNote = "The values are those that are declared for the columns; whether there are rows is not told."

// declaredKeys is a GROUP BY of public keys without an aggregate: its rows are known before any is read.
//
//	SELECT region FROM orders GROUP BY region     SELECT DISTINCT region FROM orders
func (s *statement) declaredKeys(g *gmsplan.GroupBy, d *draft, outputs []plan.Output) (result, error) {
	reachable, err := s.reachable(d)
	if err != nil {
		return result{}, err
	}
	n := &declared{name: "DeclaredValues", note: declaredKeysNote}
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
	for i, k := range d.keys {
		if _, ok := k.expr.(*expression.GetField); ok {
			continue
		}
		f := tree.Column(s.NewID(), 0, k.typ, "", "", k.name)
		n.Exprs, n.Columns = append(n.Exprs, f), append(n.Columns, &sql.Column{Name: k.name, Type: k.typ, Nullable: true})
		outputs = append(outputs, plan.Output{Key: i, Aggregate: -1})
		r.keys = append(r.keys, keyField{k.expr, f})
	}
	for at := range d.groups {
		if reachable != nil && !reachable[at] {
			continue
		}
		row := make(sql.Row, len(outputs))
		for i, o := range outputs {
			if o.Key >= 0 {
				row[i] = d.keys[o.Key].image.values[d.place(at, o.Key)]
			}
		}
		n.Rows = append(n.Rows, row)
	}
	return r, nil
}

// place is the index of key k in the combination of public keys of the given number, in the order in which GROUP BY names them.
func (d *draft) place(at, k int) int {
	for i := len(d.written) - 1; i >= 0; i-- {
		size := len(d.keys[d.written[i]].image.values)
		if d.written[i] == k {
			return at % size
		}
		at /= size
	}
	panic("planner: a key that the GROUP BY does not name")
}
