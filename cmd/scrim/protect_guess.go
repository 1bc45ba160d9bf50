package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scrim/internal/sqltext"
)

// hints are what the DBA told beforehand.
type hints struct{ schemas, units, public []string }

func (h hints) has(schema string) bool {
	return len(h.schemas) == 0 || slices.ContainsFunc(h.schemas, func(s string) bool { return strings.EqualFold(s, schema) })
}

// described is a table as its names, types and policy tell it.
type described struct {
	schema, table, state, entity string
	columns                      []string
	keys                         []string // columns that are a key by themselves
	primary, budget              bool
}

func (t *described) name() string { return t.schema + "." + t.table }

func (t *described) quoted() string { return sqltext.Text(t.name()) }

// column is the table's column of that plain name, "" for none.
func (t *described) column(plain string) string {
	for _, c := range t.columns {
		if bare(c) == plain {
			return c
		}
	}
	return ""
}

// bare is a name without its letters' case and underscores: customer_id and customerId are one.
func bare(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }

// persons are words for whom data are of, as tables and columns name them.
var persons = []string{"user", "customer", "person", "patient", "member", "client", "employee", "student", "subscriber", "visitor",
	"participant", "respondent", "citizen", "resident", "passenger", "driver", "donor", "voter", "household", "applicant", "learner"}

// unit guesses the column that names the person, and what kind of person that is.
func (t *described) unit(h hints) (column, entity string) {
	for _, u := range h.units {
		if c := t.column(bare(u)); c != "" {
			return c, strings.TrimSuffix(bare(u), "id")
		}
	}
	for _, p := range persons {
		if c := t.column("id"); c != "" && slices.Contains([]string{p, p + "s", p + "es"}, bare(t.table)) || p == "person" && bare(t.table) == "people" && c != "" {
			return c, p
		}
		for _, n := range []string{p + "id", p, p + "no", p + "number", p + "key"} {
			if c := t.column(n); c != "" {
				return c, p
			}
		}
	}
	return "", ""
}

// parent guesses the table through which rows of t find their person: order_id is the id of orders.
func (t *described) parent(all []*described, personal map[string]string) (column string, up *described, key string) {
	for _, c := range t.columns {
		stem, ok := strings.CutSuffix(bare(c), "id")
		if !ok || stem == "" {
			continue
		}
		for _, p := range all {
			if p == t || p.schema != t.schema || personal[p.name()] == "" {
				continue
			}
			if !slices.Contains([]string{stem, stem + "s", stem + "es"}, bare(p.table)) {
				continue
			}
			for _, k := range []string{"id", stem + "id"} {
				if key := p.column(k); key != "" {
					return c, p, key
				}
			}
		}
	}
	return "", nil, ""
}

// propose makes the statements for the tables that nobody has declared, and the budgets that
// protected ones lack: keys first, since they look at rows, then persons, then links.
func propose(all []*described, h hints) (out proposal) {
	personal := map[string]string{} // the entity of tables that are protected, or will be
	var keys, policies, budgets []step
	var rest []*described
	for _, t := range all {
		if t.state == "protected" {
			personal[t.name()] = t.entity
		}
		if t.state != "undeclared" || !h.has(t.schema) {
			continue
		}
		column, entity := t.unit(h)
		switch {
		case slices.ContainsFunc(h.public, func(p string) bool { return strings.EqualFold(p, t.name()) }):
			policies = append(policies, step{"CALL dp_public(" + t.quoted() + ")", "you said that it tells of no person: it is answered exactly"})
		case column != "":
			personal[t.name()] = entity
			policies = append(policies, step{fmt.Sprintf("CALL dp_protect(%s, %s, %s)", t.quoted(), sqltext.Text(column), sqltext.Text(entity)),
				fmt.Sprintf("%s seems to name the %s behind each row", column, entity)})
		default:
			rest = append(rest, t)
		}
	}
	for again := true; again; {
		again = false
		for i, t := range rest {
			column, up, key := t.parent(all, personal)
			if up == nil {
				continue
			}
			keyed := slices.ContainsFunc(up.keys, func(k string) bool { return strings.EqualFold(k, key) })
			if !keyed && up.state == "protected" {
				continue // a key would look at its rows
			}
			if !keyed {
				keys = append(keys, step{"ALTER TABLE " + name(up.schema) + "." + name(up.table) + " ADD " + up.keyWord() + " (" + name(key) + ")", "for the link from " + t.name() + ": a row has one parent"})
				up.keys, up.primary = append(up.keys, key), true
			}
			policies = append(policies, step{fmt.Sprintf("CALL dp_link(%s, %s, %s, %s)", t.quoted(), sqltext.Text(column), up.quoted(), sqltext.Text(key)),
				fmt.Sprintf("%s seems to be a row of %s, which has the person", column, up.name())})
			personal[t.name()] = personal[up.name()]
			rest, again = append(rest[:i:i], rest[i+1:]...), true
			break
		}
	}
	for _, t := range all {
		if personal[t.name()] != "" && !t.budget && h.has(t.schema) {
			budgets = append(budgets, step{fmt.Sprintf("CALL dp_set_budget(%s, '*', 8, 2e-6, 'month')", t.quoted()), "about 60 questions a month, of everybody together"})
		}
	}
	for _, t := range rest {
		out.say(t.name()+" has no column that seems to name a person; if its rows tell of none", "CALL dp_public("+t.quoted()+")")
		out.say("if they do, by the column that names them", "CALL dp_protect("+t.quoted()+", 'COLUMN', 'ENTITY')")
	}
	out.steps = slices.Concat(keys, policies, budgets)
	return out
}

func (t *described) keyWord() string {
	if t.primary {
		return "UNIQUE"
	}
	return "PRIMARY KEY"
}

// schemasOf are the schemas of the tables that are looked at.
func schemasOf(all []*described, h hints) (out []string) {
	for _, t := range all {
		if h.has(t.schema) && !slices.Contains(out, t.schema) {
			out = append(out, t.schema)
		}
	}
	return out
}

// readTables reads names, types, keys and policies; no row of a table.
func readTables(ctx context.Context, db *sql.DB) (out []*described, err error) {
	by := map[string]*described{}
	if err := each(ctx, db, "SELECT table_name, state, COALESCE(entity, ''), '' FROM dp.policies", func(f [4]string) {
		schema, table, _ := strings.Cut(f[0], ".")
		t := &described{schema: schema, table: table, state: f[1], entity: f[2]}
		by[f[0]], out = t, append(out, t)
	}); err != nil {
		return nil, err
	}
	if err := each(ctx, db, "SELECT table_schema, table_name, column_name, '' FROM information_schema.columns ORDER BY ordinal_position", func(f [4]string) {
		if t := by[strings.ToLower(f[0]+"."+f[1])]; t != nil {
			t.columns = append(t.columns, f[2])
		}
	}); err != nil {
		return nil, err
	}
	if err := each(ctx, db, `SELECT table_schema, table_name, index_name, MIN(column_name) FROM information_schema.statistics
		GROUP BY table_schema, table_name, index_name HAVING COUNT(*) = 1`, func(f [4]string) {
		if t := by[strings.ToLower(f[0]+"."+f[1])]; t != nil {
			t.keys, t.primary = append(t.keys, f[3]), t.primary || f[2] == "PRIMARY"
		}
	}); err != nil {
		return nil, err
	}
	err = each(ctx, db, "SELECT account, principal, '', '' FROM dp.budgets WHERE principal = '*'", func(f [4]string) {
		if t := by[f[0]]; t != nil {
			t.budget = true
		}
	})
	return out, err
}

// each calls f with the rows of an answer of four texts.
func each(ctx context.Context, db *sql.DB, query string, f func([4]string)) (err error) {
	rows, err := db.QueryContext(ctx, query)
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
