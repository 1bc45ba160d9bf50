package admin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/collections/collect"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/internal/remark"
)

// views lists the tables of dp in the order of their names.
func (a *Admin) views() []*table {
	return slices.SortedFunc(slices.Values(append(a.collectionTables(), a.policyTables()...)), func(x, y *table) int { return strings.Compare(x.Title, y.Title) })
}

// policyTables are the views on policies, budgets and what the server knows.
func (a *Admin) policyTables() []*table {
	return []*table{
		newTable("accounts", a.accounts,
			text("account"), text("account_type"), text("roles"), text("is_dba"), text("grants")),
		newTable("budgets", a.budgets,
			text("account_type"), text("account"), text("budget"), text("principal"),
			real("epsilon"), real("rho"), real("delta"), text("budget_window"),
			real("spent_rho"), real("spent_delta"), real("spent_pure_epsilon"), real("spent_epsilon"), text("conversion"),
			real("remaining_epsilon"), real("remaining_rho"),
			moment("window_start"), moment("window_end"), text("set_by"), moment("set_at"), text("reason"), text("remark"),
			real("remaining_pure_epsilon"), real("renyi_order"), count("questions_left"), text("accounting"), count("scheduled_refreshes"), real("scheduled_rho")),
		newTable("continual", a.seriesRows, seriesColumns...),
		newTable("domains", a.domains,
			text("table_name"), text("column_name"), text("domain_type"), count("size"), text("domain")),
		newTable("errors", errorRows,
			text("code"), count("errno"), text("sql_state"), text("cause"), text("remedy")),
		newTable("functions", functionRows,
			text("name"), text("aliases"), text("function_type"), text("signature"), text("result"),
			text("weight"), text("options"), text("description"), text("example")),
		newTable("last_cost", a.lastCost, lastCostColumns...),
		newTable("last_warnings", lastWarnings,
			text("level"), text("code"), text("message"), text("remedy"), count("cells"), count("of_cells")),
		a.ledgerTable(),
		newTable("periods", a.periods, periodsColumns...),
		newTable("policies", a.policies,
			text("table_name"), text("state"), text("unit"), text("unit_column"), text("link_parent"), text("link_column"),
			text("entity"), text("account"), text("neighbours"), text("number_of_persons"), text("defaults"), text("period"), text("unit_collation")),
		newTable("procedures", procedureRows,
			text("name"), text("signature"), text("description"), text("example")),
		a.replaysTable(),
		newTable("protocols", protocolRows,
			text("protocol"), text("model"), count("rounds"), text("estimates"), text("parameters")),
		newTable("scales", a.scales,
			text("table_name"), text("column_name"), count("size"), text("scales")),
		newTable("sources", a.sources,
			text("table_name"), text("kind"), text("path"), count("files"), count("bytes"), moment("attached_at"), moment("detached_at"), text("status")),
		newTable("synthetic", a.syntheticRows, syntheticColumns...),
		newTable("variables", variableRows,
			text("name"), text("default_value"), text("value_range"), text("description")),
		newTable("views", a.viewRows, viewColumns...),
		newTable("warnings", warningRows,
			text("code"), text("level"), count("errno"), text("cause"), text("remedy")),
	}
}

// sources shows DBAs the tables of files.
func (a *Admin) sources(ctx *sql.Context) ([]sql.Row, error) {
	if a.o.Sources == nil || !a.o.IsDBA(ctx) {
		return nil, nil
	}
	return sourceRows(ctx, a.o.Sources)
}

// lastWarnings are the remarks on the last private statement of the session that asks, for clients
// that drop MySQL's warnings.
func lastWarnings(ctx *sql.Context) ([]sql.Row, error) {
	k, ok := ctx.Session.(remark.Keeper)
	if !ok {
		return nil, nil
	}
	var out []sql.Row
	for _, r := range k.Remarks() {
		row := sql.Row{string(r.Level()), string(r.Code), r.Text, r.Help(), nil, nil}
		if r.Of > 0 {
			row[4], row[5] = int64(r.Cells), int64(r.Of)
		}
		out = append(out, row)
	}
	return out, nil
}

func warningRows(*sql.Context) ([]sql.Row, error) {
	return lists.Map(remark.Table, func(e remark.Entry) sql.Row {
		return sql.Row{string(e.Code), string(e.Level), int64(refuse.MySQLErrno), e.Cause, e.Remedy}
	}), nil
}

// knownTables lists what the catalogue knows of, and the tables of the store that nobody has
// declared, of which an account sees those that it sees otherwise.
func (a *Admin) knownTables(ctx *sql.Context) ([]catalog.Table, error) {
	s := a.o.Catalog.Snapshot()
	list := s.All()
	if a.o.StoredTables == nil {
		return list, nil
	}
	stored, err := a.o.StoredTables(ctx, a.seesAll(ctx))
	if err != nil {
		return nil, err
	}
	declared := lists.Set(lists.Map(list, func(t catalog.Table) string { return t.Name }))
	for _, name := range stored {
		if !declared[name] {
			list = append(list, s.Table(name))
		}
	}
	slices.SortFunc(list, func(x, y catalog.Table) int { return strings.Compare(x.Name, y.Name) })
	return list, nil
}

func (a *Admin) policies(ctx *sql.Context) ([]sql.Row, error) {
	list, err := a.knownTables(ctx)
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	for _, t := range list {
		row := sql.Row{t.Name, t.State.String(), nil, nil, nil, nil, orNull(t.Entity), orNull(t.Account), nil, nil, nil, nil, nil}
		if t.State == catalog.Protected {
			row[8], row[9] = t.Relation.String(), "private"
			if t.Sized {
				row[9] = "public"
			}
		}
		if t.Defaults != (catalog.Defaults{}) {
			text, err := json.Marshal(t.Defaults)
			if err != nil {
				return nil, err
			}
			row[10] = string(text)
		}
		if t.State != catalog.Protected {
			out = append(out, row)
		}
		for _, o := range t.Owners() {
			out = append(out, a.ownerRow(ctx, slices.Clone(row), t.Name, o))
		}
	}
	return out, nil
}

// ownerRow is the row of a protected table for a person whom its rows belong to.
func (a *Admin) ownerRow(ctx *sql.Context, row sql.Row, table string, o catalog.Owner) sql.Row {
	row[6] = o.Entity
	switch u := o.Unit; {
	case u.Row:
		row[2] = "row"
	case u.Column != "":
		row[2], row[3], row[11], row[12] = "column", a.lettered(ctx, table, u.Column), orNull(u.Period.String()), orNull(u.Collation)
	case u.Link != nil:
		row[2], row[3] = "link", a.lettered(ctx, table, u.Link.Column)
		row[4], row[5] = u.Link.Parent, a.lettered(ctx, u.Link.Parent, u.Link.ParentColumn)
	}
	return row
}

// lettered is a column's name in the letters that its table has it in, where the store has it.
// Policies keep names in lower case.
func (a *Admin) lettered(ctx *sql.Context, table, column string) string {
	if c, ok := lists.Find(a.o.Columns(ctx, table), func(c *sql.Column) bool { return strings.EqualFold(c.Name, column) }); ok {
		return c.Name
	}
	return column
}

func (a *Admin) domains(ctx *sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, t := range a.o.Catalog.Snapshot().All() {
		for _, c := range slices.Sorted(maps.Keys(t.Domains)) {
			d := t.Domains[c]
			row := sql.Row{t.Name, a.lettered(ctx, t.Name, c), "values", int64(len(d.Values)), d.String()}
			switch {
			case d.Source != nil:
				row[2], row[3] = "table", nil
			case d.Range != nil, d.Span != nil:
				row[2], row[3] = "range", nil
			}
			out = append(out, row)
		}
	}
	return out, nil
}

func (a *Admin) scales(ctx *sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, t := range a.o.Catalog.Snapshot().All() {
		for _, c := range slices.Sorted(maps.Keys(t.Scales)) {
			text, err := json.Marshal(t.Scales[c])
			if err != nil {
				return nil, err
			}
			out = append(out, sql.Row{t.Name, a.lettered(ctx, t.Name, c), int64(len(t.Scales[c])), string(text)})
		}
	}
	return out, nil
}

func errorRows(*sql.Context) ([]sql.Row, error) {
	return lists.Map(refuse.Table, func(e refuse.Entry) sql.Row {
		return sql.Row{string(e.Code), int64(refuse.MySQLErrno), e.SQLState, e.Cause, e.Remedy}
	}), nil
}

func functionRows(*sql.Context) ([]sql.Row, error) {
	return lists.Map(functions.Rows(), func(f functions.Row) sql.Row {
		return sql.Row{f.Name, f.Aliases, f.Kind, f.Signature, f.Result, f.Weight, f.Options, f.Description, f.Example}
	}), nil
}

func procedureRows(*sql.Context) ([]sql.Row, error) {
	return lists.Map(Procedures(), func(p Procedure) sql.Row { return sql.Row{p.Name, p.Signature, p.Doc, p.Example} }), nil
}

func protocolRows(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, p := range collect.Protocols {
		out = append(out, sql.Row{string(p.Protocol), string(p.Model), int64(p.Rounds), p.For, strings.Join(collect.Keys(p.Protocol), ", ")})
	}
	return out, nil
}

func variableRows(*sql.Context) ([]sql.Row, error) {
	var out []sql.Row
	for _, p := range params.At(params.Session) {
		builtIn := p.BuiltIn()
		if p == params.Rho {
			builtIn = privacy.RhoFor(params.DefaultEpsilon, params.DefaultDelta).Float()
		}
		out = append(out, sql.Row{p.Name, fmt.Sprint(builtIn), p.Range(), p.Doc})
	}
	return out, nil
}

// Account is an account or a role in dp.accounts.
type Account struct {
	Name   string // user@host; of a role its name
	Role   bool
	Roles  []string
	DBA    bool
	Grants []string
}

// accounts makes dp.accounts. A DBA and an auditor see everybody, others themselves.
func (a *Admin) accounts(ctx *sql.Context) ([]sql.Row, error) {
	who := a.o.Principal(ctx)
	if who == "" || a.o.Accounts == nil {
		return nil, nil
	}
	all := a.seesAll(ctx)
	var out []sql.Row
	for _, c := range a.o.Accounts() {
		if !all && (c.Role || c.Name != who) {
			continue
		}
		kind := "account"
		if c.Role {
			kind = "role"
		}
		out = append(out, sql.Row{c.Name, kind, orNull(strings.Join(c.Roles, ", ")), yes(c.DBA), strings.Join(c.Grants, "; ")})
	}
	return out, nil
}

// TableDoc documents one table of the database dp.
type TableDoc struct {
	Name    string
	Columns []string
	Doc     string
}

// tableDocs says what each table shows.
var tableDocs = map[string]string{
	"accounts":               "Accounts and roles, and what they can do. An analyst sees themself.",
	"budgets":                "Limits, what is spent and what remains, per account and principal; per entity, the sum over its tables. An analyst sees what concerns them.",
	"collection_batches":     "The batches of shuffle collections that were loaded.",
	"collection_cells":       "The cells of every round, also of those to come: the law of their reports, how many are planned, and how many there are.",
	"collection_results":     "What is kept of collections that are FINAL: the estimates, by stratum, as JSON.",
	"collection_rounds":      "The public parameters of every round, exactly as the fingerprint is of them. Contributors read them here.",
	"collection_sim_results": "The runs of the latest 20 simulations of each collection; a collector sees their own, a DBA all. Truth and error are told of public sources only.",
	"collection_tokens":      "How many tokens the server has issued of each cell, and how many of them have reported.",
	"collections":            "The collections, their state, and what each contributor to them pays.",
	"continual":              "The series of running totals: their days, how many are released, for how much one person counts in each measure, and the standard error of the last total; the schedule by which the server releases days, and how that went last. An account sees those whose tables it sees.",
	"domains":                "Declared public domains.",
	"errors":                 "Every refusal with its SQLSTATE, cause and remedy.",
	"functions":              "The aggregate functions with options and examples.",
	"last_cost":              "What the last private statement of this connection was charged: of each charge the ledger's lines, of each stored answer which charge it is of. number counts the connection's private statements. They stay until the next one.",
	"last_warnings":          "The warnings and notes on the last private statement of this connection, for clients that drop MySQL's. They stay until the next private statement.",
	"ledger":                 "Who asked what, when, what it cost and what remained. An analyst sees their own entries. Of entries that were archived, a line with the outcome archive says where they are.",
	"periods":                "Where each budget stands on each block of days, where the unit of a table is one person's rows of one period and something was charged to some periods only. An open end is NULL. A line with account_type 'person' is of a budget on what one person loses over all periods. An analyst sees what concerns them.",
	"policies":               "What each table is declared to be, and its defaults. A table that nobody has declared is undeclared: refused to analysts until dp_protect, dp_link or dp_public. unit_collation is the collation by which spellings of the unit column are one person, NULL where its bytes are.",
	"procedures":             "The procedures for DBAs.",
	"protocols":              "The protocols of collections, and the parameters that each takes.",
	"replays":                "Stored answers, that the same query gets again for nothing: whose, of which charge, how large, how often used since the server started. An analyst sees their own.",
	"scales":                 "Declared standard deviations of columns.",
	"sources":                "Tables that are, or were, read from files in place. Analysts see none: which files there are may depend on persons.",
	"synthetic":              "The synthetic tables: what they are of, what they cost, how old their rows are, and how far off they are in pairs of columns on average. An account sees those whose tables it sees.",
	"variables":              "The session variables.",
	"views":                  "The DP views: what they hold, what they cost, how old their rows are. Their measures as JSON have the clip, the share that it is expected to have taken, which the rows have been enlarged by, and how much more it may be. Of a schedule they have who set it, when it is due next, and how that went last. An account sees those whose tables it sees.",
	"warnings":               "Every warning on answers with its level, cause and remedy.",
}

// Tables documents the tables of dp in the order of their names.
func Tables() []TableDoc {
	var out []TableDoc
	for _, t := range new(Admin).views() {
		d := TableDoc{Name: t.Title, Doc: tableDocs[t.Title]}
		d.Columns = append(d.Columns, lists.Map(t.Columns, func(c *sql.Column) string { return c.Name })...)
		out = append(out, d)
	}
	return out
}
