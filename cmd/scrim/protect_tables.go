package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"scrim/internal/sqltext"
)

// described is a table as its names, types and policy tell it.
type described struct {
	schema, table, state, entity string
	columns                      []describedColumn
	keys                         []string // columns that are a key by themselves
	primary, budget              bool
}

type describedColumn struct{ name, typ string }

func (t *described) name() string { return t.schema + "." + t.table }

func (t *described) quoted() string { return sqltext.Text(t.name()) }

// alter begins a statement that changes the table's definition.
func (t *described) alter() string { return "ALTER TABLE " + name(t.schema) + "." + name(t.table) }

func (t *described) keyed(column string) bool {
	return slices.ContainsFunc(t.keys, func(k string) bool { return strings.EqualFold(k, column) })
}

// typeOf is the type of a column.
func (t *described) typeOf(column string) string {
	for _, c := range t.columns {
		if strings.EqualFold(c.name, column) {
			return c.typ
		}
	}
	return ""
}

// held is what a server has: tables, and entities with a budget of their own.
type held struct {
	tables   []*described
	budgeted map[string]bool
}

// readTables reads names, types, keys and policies; no row of a table.
func readTables(ctx context.Context, db *sql.DB) (out held, err error) {
	by := map[string]*described{}
	out.budgeted = map[string]bool{}
	for _, q := range []struct {
		query string
		each  func([4]string)
	}{
		{"SELECT table_name, state, COALESCE(entity, ''), '' FROM dp.policies", func(f [4]string) {
			schema, table, _ := strings.Cut(f[0], ".")
			if by[f[0]] == nil { // a table of two entities has two rows
				by[f[0]] = &described{schema: schema, table: table, state: f[1], entity: f[2]}
				out.tables = append(out.tables, by[f[0]])
			}
		}},
		{"SELECT table_schema, table_name, column_name, column_type FROM information_schema.columns ORDER BY ordinal_position", func(f [4]string) {
			if t := by[strings.ToLower(f[0]+"."+f[1])]; t != nil {
				t.columns = append(t.columns, describedColumn{f[2], strings.ToLower(f[3])})
			}
		}},
		{`SELECT table_schema, table_name, index_name, MIN(column_name) FROM information_schema.statistics
			GROUP BY table_schema, table_name, index_name HAVING COUNT(*) = 1`, func(f [4]string) {
			if t := by[strings.ToLower(f[0]+"."+f[1])]; t != nil {
				t.keys = append(t.keys, f[3])
			}
		}},
		{"SELECT table_schema, table_name, '', '' FROM information_schema.statistics WHERE index_name = 'PRIMARY'", func(f [4]string) {
			if t := by[strings.ToLower(f[0]+"."+f[1])]; t != nil {
				t.primary = true
			}
		}},
		{"SELECT account_type, account, '', '' FROM dp.budgets WHERE principal = '*' AND account_type IN ('table', 'entity')", func(f [4]string) {
			if t := by[f[1]]; t != nil && f[0] == "table" {
				t.budget = true
			} else if f[0] == "entity" {
				out.budgeted[f[1]] = true
			}
		}},
	} {
		if err := each(ctx, db, q.query, q.each); err != nil {
			return held{}, err
		}
	}
	return out, nil
}

// each calls f with the rows of an answer of four texts.
func each(ctx context.Context, db *sql.DB, query string, f func([4]string), args ...any) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var t [4]string
		if err := rows.Scan(&t[0], &t[1], &t[2], &t[3]); err != nil {
			return err
		}
		f(t)
	}
	return rows.Err()
}
