package tables

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/turns"
)

// QueryTables runs a generated SELECT on the client's store session, and returns its rows as SQL
// values of the schema's types. The client must be allowed to read raw each of the tables named,
// which the SELECT reads. It runs at the first call of Next.
func (p *Provider) QueryTables(ctx *sql.Context, reads []store.TableRef, query string, args []any, schema sql.Schema) (sql.RowIter, error) {
	return p.guarded(ctx, reads, newRows(query, args, schema))
}

// guarded asks for leave to read the tables, now and again when the query runs: a policy may change
// in between.
func (p *Provider) guarded(ctx *sql.Context, reads []store.TableRef, r *rows) (sql.RowIter, error) {
	r.check = func(ctx *sql.Context) error {
		for _, ref := range reads {
			if err := p.access.CheckRead(ctx, ref); err != nil {
				return err
			}
		}
		return nil
	}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// rows iterates over the result of a query, lazily.
type rows struct {
	statement string
	args      []any
	check     func(*sql.Context) error // may be nil
	schema    sql.Schema
	read      []reader
	result    store.Rows
	batch     *store.Batch // that is being read
	at        int          // its next row
	texts     *texts       // instead of values, for a caller who takes text
	done      bool
}

func newRows(statement string, args []any, schema sql.Schema) *rows {
	r := &rows{statement: statement, args: args, schema: schema, read: make([]reader, len(schema))}
	for i, c := range schema {
		r.read[i] = readerOf(c.Type)
	}
	return r
}

// Next implements sql.RowIter.
func (r *rows) Next(ctx *sql.Context) (sql.Row, error) {
	if r.done {
		return nil, io.EOF
	}
	if r.result == nil {
		if err := r.open(ctx); err != nil {
			return nil, err
		}
	}
	if r.batch == nil || r.at == r.batch.Len {
		if err := r.advance(ctx); err != nil {
			return nil, err
		}
	}
	at := r.at
	r.at++
	if r.texts != nil {
		return r.texts.row(ctx, r.batch, at)
	}
	row := make(sql.Row, len(r.read))
	for i, read := range r.read {
		var err error
		if row[i], err = read(ctx, r.batch.Columns[i].At(at)); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// advance reads the next batch.
func (r *rows) advance(ctx *sql.Context) (err error) {
	turns.Of(ctx).Rest() // the store computes
	if r.batch, err = r.result.Batch(); err != nil {
		return err
	}
	r.at = 0
	return ctx.Err()
}

// open runs the query.
func (r *rows) open(ctx *sql.Context) error {
	if r.check != nil {
		if err := r.check(ctx); err != nil {
			return err
		}
	}
	s, err := SessionOf(ctx)
	if err != nil {
		return err
	}
	turns.Of(ctx).Rest() // the store computes
	if r.result, err = s.Query(ctx, r.statement, r.args...); err != nil {
		r.result = nil
		return classify(err, nil)
	}
	if f, ok := ctx.Value(asText{}).(form); ok {
		r.texts = newTexts(r.schema, r.read, f)
	}
	return nil
}

// Close implements sql.RowIter.
func (r *rows) Close(*sql.Context) error {
	r.done = true
	if r.result == nil {
		return nil
	}
	err := r.result.Close()
	r.result = nil
	return err
}
