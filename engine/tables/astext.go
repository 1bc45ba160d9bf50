package tables

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/store"
)

// asText is the context's key for a caller of Next who takes text. The value is a form.
type asText struct{}

// form is how text is taken.
type form struct{ projected bool } // what computes with numbers has taken the sign from zeros

// AsText returns a context to read a statement's rows with. Where the values of its result are
// those that a query of the store has read, and nothing in between looks at them, each of a row's
// is then given as a *sqltypes.Value, the text that a client gets. The value holds until the next
// row is asked for, its text for as long as it is used. Otherwise rows are what they are.
func AsText(ctx *sql.Context, iter sql.RowIter) *sql.Context {
	tracked, ok := iter.(*plan.TrackedRowIter)
	if !ok {
		return ctx
	}
	f, ok := form{}, ownRows(tracked.GetIter())
	if !ok {
		f, ok = stays(tracked.GetNode())
	}
	if !ok {
		return ctx
	}
	return ctx.WithContext(context.WithValue(ctx.Context, asText{}, f))
}

// ownRows reports whether an iterator is one of the store's rows, below what ends the statement's
// transaction.
func ownRows(iter sql.RowIter) bool {
	if inner, ok := iter.(interface{ GetIter() sql.RowIter }); ok {
		iter = inner.GetIter()
	}
	_, ok := iter.(*rows)
	return ok
}

// stays reports whether the rows of a plan have the values that its one table's have.
func stays(n sql.Node) (f form, ok bool) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		table := n.Table
		if p, tracked := table.(*plan.ProcessTable); tracked {
			table = p.Table
		}
		_, ok = table.(*Table)
		return f, ok
	case *plan.TableAlias:
		return stays(n.Child)
	case *plan.Limit:
		return stays(n.Child)
	case *plan.Offset:
		return stays(n.Child)
	case *plan.Project:
		for _, e := range n.Projections {
			if a, named := e.(*expression.Alias); named {
				e = a.Child
			}
			if _, column := e.(*expression.GetField); !column {
				return f, false
			}
		}
		_, ok = stays(n.Child)
		return form{projected: true}, ok
	}
	return f, false
}

// texts writes rows of batches as text.
type texts struct {
	schema  sql.Schema
	read    []reader
	write   []writer // for the result's kinds, once they are known
	form    form
	values  []sqltypes.Value
	out     sql.Row // points to values
	written []byte  // the text of this row and of some before it
}

// A piece of text has room for at least leastText bytes, and for more the more text there is.
const leastText, mostText = 1 << 10, 1 << 16

func newTexts(schema sql.Schema, read []reader, f form) *texts {
	t := &texts{schema: schema, read: read, form: f, values: make([]sqltypes.Value, len(schema)), out: make(sql.Row, len(schema))}
	for i := range t.values {
		t.out[i] = &t.values[i]
	}
	return t
}

// row returns a row of a batch, whose values hold until the next call, and their text longer.
func (t *texts) row(ctx *sql.Context, b *store.Batch, at int) (sql.Row, error) {
	if t.write == nil {
		t.write = make([]writer, len(t.schema))
		for i, c := range t.schema {
			t.write[i] = writerOf(ctx, c.Type, b.Columns[i].Kind)
		}
	}
	if cap(t.written)-len(t.written) < leastText/2 {
		t.written = make([]byte, 0, min(max(2*cap(t.written), leastText), mostText))
	}
	for i := range t.values {
		if err := t.value(ctx, i, &b.Columns[i], at); err != nil {
			return nil, err
		}
	}
	return t.out, nil
}

// value writes one value of the row.
func (t *texts) value(ctx *sql.Context, i int, v *store.Values, at int) error {
	typ := t.schema[i].Type
	if v.IsNull(at) {
		t.values[i] = sqltypes.NULL
		return nil
	}
	if t.form.projected && v.Kind == store.KindFloat && v.Floats[at] == 0 {
		v, at = &zero, 0
	}
	if t.write[i] != nil {
		start := len(t.written)
		if text, ok := t.write[i](t.written, v, at); ok {
			t.written = text
			t.values[i] = sqltypes.MakeTrusted(typ.Type(), text[start:len(text):len(text)])
			return nil
		}
	}
	x, err := t.read[i](ctx, v.At(at))
	if err != nil || x == nil {
		t.values[i] = sqltypes.NULL
		return err
	}
	t.values[i], err = typ.SQL(ctx, nil, x)
	return err
}

// zero is a column of the number without a sign.
var zero = store.Values{Kind: store.KindFloat, Floats: []float64{0}}
