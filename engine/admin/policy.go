package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/catalog"
	"scrim/engine/mysql/tables"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// policy is a procedure with n arguments that returns no rows, and sets a policy on the table that
// the first one names. Tables of collections have no policy but being public.
func policy(n int, p Procedure, f func(a *Admin, ctx *sql.Context, table string, args []string) error) procedure {
	return policyUpTo(n, n, p, f)
}

// policyUpTo is policy with from n to most arguments.
func policyUpTo(n, most int, p Procedure, f func(a *Admin, ctx *sql.Context, table string, args []string) error) procedure {
	return procedure{Procedure: p, min: n, max: most, run: quiet(func(a *Admin, ctx *sql.Context, args []string) error {
		t, err := tableName(ctx, args[0])
		if err == nil {
			err = a.notHeld(t)
		}
		if err != nil {
			return err
		}
		return f(a, ctx, t, args[1:])
	})}
}

func (a *Admin) protect(ctx *sql.Context, table string, args []string) error {
	unit, entity := columnName(args[0]), strings.TrimSpace(args[1])
	if len(args) < 3 {
		return a.o.Catalog.Protect(a.o.Schema(ctx), table, unit, entity)
	}
	p, err := catalog.ParsePeriod(args[2])
	if err != nil {
		return err
	}
	p.Of = columnName(p.Of)
	return a.o.Catalog.ProtectPeriods(a.o.Schema(ctx), table, unit, entity, p)
}

func (a *Admin) unprotect(_ *sql.Context, table string, _ []string) error {
	return a.o.Catalog.Unprotect(table)
}

func (a *Admin) public(ctx *sql.Context, args []string) error {
	t, err := tableName(ctx, args[0])
	if err != nil {
		return err
	}
	return a.o.Catalog.Public(a.o.Schema(ctx), t)
}

func (a *Admin) link(ctx *sql.Context, child string, args []string) error {
	parent, err := tableName(ctx, args[1])
	if err != nil {
		return err
	}
	return a.o.Catalog.Link(a.o.Schema(ctx), child, columnName(args[0]), parent, columnName(args[2]))
}

func (a *Admin) setDomain(ctx *sql.Context, table string, args []string) error {
	if err := a.distinctly(ctx, table, columnName(args[0]), args[1]); err != nil {
		return err
	}
	return a.o.Catalog.SetDomain(a.o.Schema(ctx), ctx.GetCurrentDatabase(), table, columnName(args[0]), args[1])
}

// distinctly refuses a list of values in which two are equal by the column's collation.
func (a *Admin) distinctly(ctx *sql.Context, table, column, text string) error {
	s, ok := a.o.Schema(ctx).(storeSchema)
	d, err := catalog.ParseDomain(text)
	if !ok || err != nil {
		return nil // which SetDomain tells
	}
	t, _ := s.table(table)
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, column) {
			return d.Distinct(tables.CollationOf(c))
		}
	}
	return nil
}

func (a *Admin) setScale(ctx *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetScale(a.o.Schema(ctx), table, columnName(args[0]), args[1])
}

func (a *Admin) setDefaults(ctx *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetDefaults(a.o.Schema(ctx), table, args[0])
}

func (a *Admin) setNeighbours(_ *sql.Context, table string, args []string) error {
	return a.o.Catalog.SetNeighbours(table, strings.TrimSpace(args[0]))
}

func (a *Admin) setDisjoint(_ *sql.Context, args []string) error {
	return a.o.Catalog.SetDisjoint(strings.TrimSpace(args[0]), strings.TrimSpace(args[1]))
}

// suggestDoc documents the procedure for DBAs that have no domains declared yet.
var suggestDoc = Procedure{"dp_suggest_domains", "dp_suggest_domains(table)",
	"Lists the columns of a protected table without a public domain: a statement that would declare one, and which questions it would give public keys. The ends and the values in the statement are examples, and the DBA puts in what is publicly known. It looks at types and public tables, and at no row of the table.",
	"CALL dp_suggest_domains('shop.orders')"}

var suggestColumns = []column{text("column_name"), text("type"), text("statement"), text("frees")}

// suggestDomains lists what could be declared of a table's columns.
func (a *Admin) suggestDomains(ctx *sql.Context, args []string) ([]sql.Row, error) {
	name, err := tableName(ctx, args[0])
	if err != nil {
		return nil, err
	}
	snapshot := a.o.Catalog.Snapshot()
	policy := snapshot.Table(name)
	if policy.State != catalog.Protected {
		return nil, refuse.New(refuse.Policy, "The table %s is not protected, so its columns need no domains.", name).
			With("CALL dp_protect('%s', …) first.", name)
	}
	var out []sql.Row
	for _, c := range a.o.Columns(ctx, name) {
		column := strings.ToLower(c.Name)
		_, declared := policy.Domains[column]
		names := func(o catalog.Owner) bool {
			return column == o.Unit.Column || o.Unit.Link != nil && column == o.Unit.Link.Column
		}
		if declared || slices.ContainsFunc(policy.Owners(), names) {
			continue
		}
		json, frees := a.suggestion(ctx, snapshot, name, c)
		if json == "" {
			continue
		}
		statement := fmt.Sprintf("CALL dp_set_domain(%s, %s, %s)", sqltext.Text(name), sqltext.Text(c.Name), sqltext.Text(json))
		out = append(out, sql.Row{c.Name, c.Type.String(), statement, frees})
	}
	return out, nil
}

// suggestion is the domain that a column could have, as JSON, and what it would do; "" where none
// would help.
func (a *Admin) suggestion(ctx *sql.Context, s *catalog.Snapshot, table string, c *sql.Column) (json, frees string) {
	col := c.Name
	if source := a.publicSource(ctx, s, table, c); source != nil {
		return catalog.Domain{Source: source}.String(), fmt.Sprintf("GROUP BY %s answers every value of %s.%s", col, source.Table, source.Column)
	}
	year := time.Now().UTC().Year()
	span := fmt.Sprintf(`{"min":"%d-01-01","max":"%d-12-31"}`, year-9, year)
	first, last := time.Date(year-9, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC)
	switch {
	case types.IsDateType(c.Type):
		return span, fmt.Sprintf("GROUP BY %[1]s, YEAR(%[1]s), DATE_FORMAT(%[1]s, '%%Y-%%m'), YEARWEEK(%[1]s), LAST_DAY(%[1]s) answer every day, year, month and week; MIN and MAX of %[1]s", col)
	case types.IsDatetimeType(c.Type), types.IsTimestampType(c.Type):
		return span, fmt.Sprintf("GROUP BY DATE(%[1]s), YEAR(%[1]s), DATE_FORMAT(%[1]s, '%%Y-%%m-%%d %%H:00'), YEARWEEK(%[1]s) answer every day, year, hour and week; MIN and MAX of %[1]s", col)
	case types.IsEnum(c.Type):
		return "", "" // the type has the values
	case types.IsInteger(c.Type) && secondsName(strings.ToLower(col)):
		return fmt.Sprintf(`{"min":%d,"max":%d}`, first.Unix(), last.Unix()), fmt.Sprintf("GROUP BY DATE(FROM_UNIXTIME(%[1]s)), YEAR(FROM_UNIXTIME(%[1]s)), %[1]s DIV 3600 answer every day, year and hour, if it holds seconds since 1970", col)
	case types.IsInteger(c.Type):
		return `{"min":0,"max":100}`, fmt.Sprintf("GROUP BY %[1]s, %[1]s DIV 10, FLOOR(%[1]s / 5) answer every value; SUM and AVG of %[1]s know the range; MIN and MAX of %[1]s", col)
	case types.IsDecimal(c.Type), types.IsFloat(c.Type):
		return `{"min":0,"max":1000}`, fmt.Sprintf("SUM, AVG and quantiles of %[1]s know the range; MIN and MAX of %[1]s", col)
	case types.IsTextOnly(c.Type):
		return `["a","b",null]`, fmt.Sprintf("GROUP BY %s answers every listed value, where they are few and publicly known", col)
	}
	return "", ""
}

// secondsName reports whether a column of whole numbers is named as one that holds moments.
func secondsName(name string) bool {
	return strings.Contains(name, "time") || strings.Contains(name, "epoch") || strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_ts")
}

// publicSource finds the column of a public table of the same schema that a column seems to refer
// to, by its name and type: product_id and products.id, or one name in both.
func (a *Admin) publicSource(ctx *sql.Context, s *catalog.Snapshot, table string, c *sql.Column) *catalog.Source {
	schema, _, _ := strings.Cut(table, ".")
	name := strings.ToLower(c.Name)
	for _, p := range s.All() {
		own, other, _ := strings.Cut(p.Name, ".")
		if p.State != catalog.Public || own != schema {
			continue
		}
		for _, k := range a.o.Columns(ctx, p.Name) {
			key := strings.ToLower(k.Name)
			if !k.Type.Equals(c.Type) {
				continue
			}
			if key == name && key != "id" && strings.HasSuffix(key, "id") {
				return &catalog.Source{Table: p.Name, Column: k.Name}
			}
			if !a.o.Schema(ctx).IsEnforcedKey(p.Name, key) {
				continue
			}
			for _, of := range []string{other, strings.TrimSuffix(other, "s"), strings.TrimSuffix(other, "es")} {
				if key == name && key != "id" || of+"_"+key == name || of+key == name {
					return &catalog.Source{Table: p.Name, Column: k.Name}
				}
			}
		}
	}
	return nil
}
