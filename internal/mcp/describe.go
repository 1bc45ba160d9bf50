package mcp

import (
	"context"
	"strings"

	"scrim/internal/sqltext"
)

// Described is what describe is asked.
type Described struct {
	Table string `json:"table,omitempty" jsonschema:"schema.table, as the list of tables has it; without it the tables are listed"`
}

// Description is what describe answers.
type Description struct {
	Tables    Records `json:"tables" jsonschema:"name, state (protected, public, undeclared), the unit whose privacy is protected, its entity"`
	Columns   Records `json:"columns,omitempty" jsonschema:"of the table"`
	Keys      Records `json:"public_keys,omitempty" jsonschema:"columns whose possible values are public: GROUP BY them shows every key"`
	Functions Records `json:"functions,omitempty" jsonschema:"aggregates with privacy; COUNT, SUM, AVG, VARIANCE and STDDEV work too"`
	Budgets   Records `json:"budgets,omitempty" jsonschema:"see the tool budget"`
}

const (
	policies  = "SELECT table_name, state, unit, unit_column, entity, neighbours, defaults FROM dp.policies"
	functions = "SELECT name, signature, result, description FROM dp.functions"
	// a domain may be long: its beginning tells what its values look like
	domains = "SELECT column_name, domain_type, size, LEFT(domain, 2000) AS domain FROM dp.domains"
)

func (s *session) describe(ctx context.Context, c *call, in Described) (d Description, err error) {
	if in.Table == "" {
		return c.overview(ctx)
	}
	name := " WHERE table_name = " + sqltext.Text(in.Table)
	if d.Tables, err = c.records(ctx, policies+name); err != nil {
		return d, err
	}
	if d.Columns, err = c.records(ctx, "DESCRIBE "+quoted(in.Table)); err != nil {
		return d, err
	}
	d.Keys, err = c.records(ctx, domains+name)
	return d, err
}

// overview is what there is without a table.
func (c *call) overview(ctx context.Context) (d Description, err error) {
	if d.Tables, err = c.records(ctx, policies); err != nil {
		return d, err
	}
	if d.Functions, err = c.records(ctx, functions); err != nil {
		return d, err
	}
	d.Budgets, err = c.records(ctx, budgets)
	return d, err
}

// quoted quotes a name that may have its schema before it.
func quoted(name string) string {
	parts := strings.Split(strings.ReplaceAll(name, "`", ""), ".")
	for i := range parts {
		parts[i] = sqltext.Name(parts[i])
	}
	return strings.Join(parts, ".")
}
