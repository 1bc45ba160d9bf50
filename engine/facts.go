package engine

import (
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/engine/session"
	"scrim/engine/statement/trace"
	"scrim/engine/store"
	"scrim/engine/tables"
	"scrim/internal/params"
	"scrim/internal/sqltext"
	"scrim/planner"
	"scrim/planner/plan"
)

// facts tells the planner about the session of a statement.
type facts struct{}

var _ planner.SessionFacts = facts{}

// Parameter implements planner.SessionFacts.
func (facts) Parameter(ctx *sql.Context, p *params.Parameter) (params.Value, bool) {
	s, ok := session.From(ctx)
	if !ok {
		return params.Value{}, false
	}
	return s.Parameter(p)
}

// RawAccess implements planner.SessionFacts.
func (facts) RawAccess(ctx *sql.Context) bool { return session.Raw(ctx) }

// IsDBA implements planner.SessionFacts.
func (facts) IsDBA(ctx *sql.Context) bool { return session.IsDBA(ctx) }

// marking is the executor that notes in the session that protected tables are about to be read.
type marking struct{ plan.Executor }

// Begin implements planner.Executor.
func (m marking) Begin(ctx *sql.Context, s *plan.Statement) (plan.Execution, error) {
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	trace.Of(ctx).Private(s)
	return m.Executor.Begin(ctx, s)
}

// domains reads the public domains that come from a column of a public table.
type domains struct{ provider *tables.Provider }

var _ planner.DomainSource = domains{}

// Values implements planner.DomainSource: the distinct values in ascending order, NULL last.
func (d domains) Values(ctx *sql.Context, source catalog.Source, limit int) ([]any, error) {
	schema, name, ok := strings.Cut(source.Table, ".")
	if !ok {
		return nil, fmt.Errorf("engine: domain source %q", source.Table)
	}
	db, err := d.provider.Database(ctx, schema)
	if err != nil {
		return nil, err
	}
	t, ok, err := db.GetTableInsensitive(ctx, name)
	if err != nil {
		return nil, err
	}
	stored, isStored := t.(*tables.Table)
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

// collect runs a generated query of one column of one table on the client's store session.
func (d domains) collect(ctx *sql.Context, ref store.TableRef, query string, schema sql.Schema) ([]any, error) {
	rows, err := d.provider.QueryTables(ctx, []store.TableRef{ref}, query, nil, schema)
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
