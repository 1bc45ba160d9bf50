package hold

import (
	"io"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// values computes the rows of VALUES one by one. go-mysql-server computes all of them first, and
// the table's columns again for each of their values.
func (b *Builder) values(ctx *sql.Context, n *plan.ValueDerivedTable, row sql.Row) sql.RowIter {
	return &interruptible{RowIter: &tuples{list: n.ExpressionTuples, columns: n.Schema(ctx), row: row}}
}

// tuples are the rows of VALUES.
type tuples struct {
	list    [][]sql.Expression
	columns sql.Schema
	row     sql.Row // of the statement around it
}

// Next implements sql.RowIter.
func (t *tuples) Next(ctx *sql.Context) (sql.Row, error) {
	if len(t.list) == 0 {
		return nil, io.EOF
	}
	out := make(sql.Row, len(t.list[0]))
	for i, e := range t.list[0] {
		v, err := e.Eval(ctx, t.row)
		if err != nil {
			return nil, err
		}
		if out[i], err = converted(ctx, t.columns[i].Type, v); err != nil {
			return nil, err
		}
	}
	t.list = t.list[1:]
	return out, nil
}

// Close implements sql.RowIter.
func (t *tuples) Close(*sql.Context) error { return nil }

// converted makes a value one of a column's type.
func converted(ctx *sql.Context, t sql.Type, v any) (any, error) {
	v, _, err := t.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*apd.Decimal)
	if t, scaled := t.(sql.DecimalType); ok && scaled {
		return sql.DecimalRound(d, int32(t.Scale()))
	}
	return v, nil
}
