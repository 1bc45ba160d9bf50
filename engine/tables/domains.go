package tables

import (
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/keys"
)

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
