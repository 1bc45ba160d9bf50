package tables

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/sqltext"
	"scrim/internal/turns"
	"scrim/planner/keys"
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
		return lists.Each(reads, func(ref store.TableRef) error { return p.access.CheckRead(ctx, ref) })
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
		r.read[i] = readerOf(c.Name, c.Type)
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
		return r.classify(err)
	}
	r.at = 0
	return ctx.Err()
}

// classify is classify of a query's failure: a number that it computes is beyond its type.
func (r *rows) classify(err error) error {
	var e *store.Error
	if errors.As(err, &e) && e.Kind == store.BadValue {
		return mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "A number of the query is out of range of its type")
	}
	return classify(err, nil)
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
		return r.classify(err)
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

// Domains reads the public domains that come from a column of a public table.
type Domains struct{ Provider *Provider }

var _ keys.DomainSource = Domains{}

// Values implements keys.DomainSource: the distinct values in ascending order, NULL last.
func (d Domains) Values(ctx *sql.Context, source catalog.Source, limit int) ([]any, error) {
	schema, name, ok := strings.Cut(source.Table, ".")
	if !ok {
		return nil, fmt.Errorf("engine: domain source %q", source.Table)
	}
	db, err := d.Provider.Database(ctx, schema)
	if err != nil {
		return nil, err
	}
	t, ok, err := db.GetTableInsensitive(ctx, name)
	if err != nil {
		return nil, err
	}
	stored, isStored := t.(*Table)
	if !ok || !isStored {
		return nil, sql.ErrTableNotFound.New(source.Table)
	}
	var column sql.Schema
	for _, c := range stored.Schema(ctx) {
		if strings.EqualFold(c.Name, source.Column) {
			column = sql.Schema{c}
		}
	}
	if column == nil {
		return nil, sql.ErrColumnNotFound.New(source.Column)
	}
	id := sqltext.StoreName(column[0].Name)
	ref := stored.StoreRef()
	query := fmt.Sprintf("SELECT DISTINCT %s FROM %s.%s ORDER BY 1 ASC NULLS LAST LIMIT %d",
		id, sqltext.StoreName(ref.Schema), sqltext.StoreName(ref.Name), limit+1)
	return d.collect(ctx, ref, query, column)
}

// Columns lists the columns of schema.table as SQL sees them; none where there is no such stored
// table.
func (p *Provider) Columns(ctx *sql.Context, table string) sql.Schema {
	schema, name, _ := strings.Cut(table, ".")
	db, err := p.Database(ctx, schema)
	if err != nil {
		return nil
	}
	t, ok, err := db.GetTableInsensitive(ctx, name)
	if stored, is := t.(*Table); ok && is && err == nil {
		return stored.Schema(ctx)
	}
	return nil
}

// collect runs a generated query of one column of one table on the client's store session.
func (d Domains) collect(ctx *sql.Context, ref store.TableRef, query string, schema sql.Schema) ([]any, error) {
	rows, err := d.Provider.QueryTables(ctx, []store.TableRef{ref}, query, nil, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close(ctx)
	var out []any
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, row[0])
	}
}
