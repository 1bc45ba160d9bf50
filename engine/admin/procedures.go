package admin

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/refuse"
)

// Procedure documents one stored procedure. docs/reference.md is made from Procedures.
type Procedure struct{ Name, Signature, Doc, Example string }

// procedure is a Procedure and what it does. It takes from min to max arguments, all of them text.
type procedure struct {
	Procedure
	min, max int
	result   []column // of the rows that run returns; nil: it returns none
	run      func(a *Admin, ctx *sql.Context, args []string) ([]sql.Row, error)
	// refuses who may not call it; nil: it is for DBAs
	may func(a *Admin, ctx *sql.Context) error
	// in the place of run, where rows are many
	stream func(a *Admin, ctx *sql.Context, args []string) (sql.RowIter, error)
	// the text of a call in the ledger, "" where it leaves none; nil: the call as it was written
	note   func(args []string) string
	binary bool // the last argument is bytes: as a text it could be changed on its way
}

// everybody is who may call a procedure that refuses nobody.
func everybody(*Admin, *sql.Context) error { return nil }

// unnoted is the note of a procedure that leaves none.
func unnoted([]string) string { return "" }

// quiet makes a procedure of a function that returns no rows.
func quiet(f func(a *Admin, ctx *sql.Context, args []string) error) func(a *Admin, ctx *sql.Context, args []string) ([]sql.Row, error) {
	return func(a *Admin, ctx *sql.Context, args []string) ([]sql.Row, error) { return nil, f(a, ctx, args) }
}

// fixed is a procedure with n arguments that returns no rows.
func fixed(n int, p Procedure, f func(a *Admin, ctx *sql.Context, args []string) error) procedure {
	return procedure{Procedure: p, min: n, max: n, run: quiet(f)}
}

// procedures are all.
var procedures = slices.Concat(policyProcedures, sourceProcedures, viewProcedures, seriesProcedures, syntheticProcedures, collectionProcedures, []procedure{
	simulateProcedure, forecastProcedure, loadProcedure, priceProcedure, backupProcedure, verifyProcedure,
})

// policyProcedures are those for policies and budgets, for DBAs.
var policyProcedures = []procedure{
	policyUpTo(3, 4, Procedure{"dp_protect", "dp_protect(table, unit_column | 'row', entity [, json])",
		"Declares a table protected: the column that identifies the person, or 'row' where each row is one person, and the kind of person, whose neighbour relation the table gets. Texts that the column's collation calls equal are one person. With the JSON object '{\"period\": \"month\", \"of\": \"placed\"}' the unit is one person's rows of one day, week, month, quarter or year of a column of dates, and each of these has the budget by itself.",
		"CALL dp_protect('shop.orders', 'customer_id', 'customer')"}, (*Admin).protect),
	policy(1, Procedure{"dp_unprotect", "dp_unprotect(table)",
		"Makes a protected table undeclared: refused to analysts. Its budget and what is spent stay.",
		"CALL dp_unprotect('shop.orders')"}, (*Admin).unprotect),
	fixed(1, Procedure{"dp_public", "dp_public(table)",
		"Declares that a table holds nobody's data: analysts may read its rows.",
		"CALL dp_public('shop.regions')"}, (*Admin).public),
	policy(4, Procedure{"dp_link", "dp_link(child, child_column, parent, parent_column)",
		"Protects a table by a foreign key: a row belongs to the person that its parent row belongs to. The parent column is a PRIMARY or UNIQUE key.",
		"CALL dp_link('shop.lineitem', 'order_id', 'shop.orders', 'id')"}, (*Admin).link),
	policy(3, Procedure{"dp_set_domain", "dp_set_domain(table, column, json)",
		"Declares the public domain of a column: a list of group keys, the values of a column of a public table, or a range of numbers, dates or moments. 'null' removes it.",
		`CALL dp_set_domain('shop.orders', 'region', '["north","south"]')`}, (*Admin).setDomain),
	{Procedure: suggestDoc, min: 1, max: 1, result: suggestColumns, run: (*Admin).suggestDomains},
	policy(3, Procedure{"dp_set_scale", "dp_set_scale(table, column, json)",
		"Declares the public standard deviations of a column of vectors or numbers: one for all coordinates, or an array of one for each. They shape the noise of means of vectors. 'null' removes them.",
		"CALL dp_set_scale('shop.profiles', 'embedding', '[2.5, 0.5, 0.1]')"}, (*Admin).setScale),
	policy(2, Procedure{"dp_set_defaults", "dp_set_defaults(table, json)",
		"Replaces the defaults of the privacy parameters for queries on a table.",
		`CALL dp_set_defaults('shop.orders', '{"dp_epsilon":0.5}')`}, (*Admin).setDefaults),
	{Procedure: Procedure{"dp_set_budget", "dp_set_budget(table | 'entity:NAME', principal, epsilon | 'rho=R', delta, window [, reason [, json]])",
		"Caps what may be spent on a table or on an entity: by all principals together ('*'), by each without a budget of their own ('default'), by the members of a role together ('role:NAME'), or by one account (user@host, or user for user@%), in a window never, day, week or month. The limit is an epsilon, or a zCDP loss 'rho=R'. With an epsilon and delta 0 the account is pure: only mechanisms without a delta run there, and their epsilons add up. The JSON object '{\"account\": \"gaussian\"}' makes it a Gaussian account, which admits a fifth more statements, and fewer beside pure ones of more than .06 times the epsilon; 'zcdp' is the default. Of an entity that is protected by period, 'entity:NAME' is for each period by itself, and 'entity:NAME over all periods' for what one person loses over all of them, for which a statement on n periods counts n² times its rho. A budget that replaces a tighter one wants a reason, which is recorded. It answers with the number of statements at the default loss that a window holds.",
		"CALL dp_set_budget('shop.orders', '*', 8, 2e-6, 'month')"}, min: 5, max: 7, result: questionColumns, run: (*Admin).setBudget},
	{Procedure: Procedure{"dp_alter_budget", "dp_alter_budget(table | 'entity:NAME', principal, json [, reason])",
		"Changes of a budget what the JSON object names, of epsilon, rho, delta, window and account, and nothing else, and returns what it was before and is now. What is spent stays spent. Whatever loosens the budget wants a reason, which is recorded.",
		`CALL dp_alter_budget('shop.orders', '*', '{"epsilon": 10}', 'the yearly report')`}, min: 3, max: 4, result: changeColumns, run: (*Admin).alterBudget},
	{Procedure: Procedure{"dp_drop_budget", "dp_drop_budget(table | 'entity:NAME', principal [, reason])",
		"Removes a budget. What is spent stays on record; a table without a '*' budget refuses every query. Whatever loosens a limit wants a reason, which is recorded.",
		"CALL dp_drop_budget('shop.orders', '*')"}, min: 2, max: 3, run: quiet((*Admin).dropBudget)},
	fixed(3, Procedure{"dp_reset_budget", "dp_reset_budget(table | 'entity:NAME', principal, reason)",
		"Lets the spending in one budget start anew, now: of '*', 'role:NAME' or an account. Nothing else ever refills a budget within its window. It is recorded with who and why, and what was spent stays on record.",
		"CALL dp_reset_budget('shop.orders', 'ann@%', 'spent by a faulty report; its answers were destroyed')"}, (*Admin).resetBudget),
	policy(2, Procedure{"dp_set_neighbours", "dp_set_neighbours(table, relation)",
		"Sets which databases are neighbours: 'add-remove', one person more or less, or 'replace-one', one person's rows exchanged, which also declares that the number of persons in the table is public. All tables of an entity have one relation; it changes only while nothing has been charged to them.",
		"CALL dp_set_neighbours('shop.orders', 'replace-one')"}, (*Admin).setNeighbours),
	fixed(2, Procedure{"dp_set_disjoint", "dp_set_disjoint(entity, entity)",
		"Declares that nobody is a person of both entities: a table may then belong to both, by one dp_protect or dp_link for each, and joins of their tables are answered. Somebody who were both would lose up to four times what is charged.",
		"CALL dp_set_disjoint('customer', 'supplier')"}, (*Admin).setDisjoint),
	fixed(2, nextLoadDoc, (*Admin).nextLoad),
}

// sourceProcedures are those for tables of files and of other servers, for DBAs.
var sourceProcedures = []procedure{
	{Procedure: Procedure{"dp_attach", "dp_attach(table, 'parquet' | 'iceberg' | 'ducklake' | 'mysql' | 'clickhouse', json)",
		"Makes a read-only table of Parquet files, or of a table of Iceberg or DuckLake, which are read in place, below a directory of --lake, or of a table of a MySQL, MariaDB or ClickHouse server of --source, of which each statement copies what it needs. The JSON object has, for files, path, in which * stands for letters of a name and ** for directories, and perhaps hive, true where names of directories such as day=2025-06-01 are columns; for Iceberg, path, the directory of the table; for DuckLake, path, the lake's data path, table, and catalog, a file of DuckDB or SQLite, or server and database, which have the catalogue; for a server, server, the name of its declaration, database and table. It lists the columns. What was attached before keeps its name, and with it what was spent on it.",
		`CALL dp_attach('lake.orders', 'parquet', '{"path": "/srv/lake/orders/**/*.parquet", "hive": true}')`},
		min: 3, max: 3, result: []column{text("column_name"), text("column_type"), text("remark")}, run: (*Admin).attach},
	fixed(1, Procedure{"dp_detach", "dp_detach(table)",
		"Removes a table that dp_attach made. The rows stay where they are, and so do the policy, the budgets and what is spent.",
		"CALL dp_detach('lake.orders')"}, (*Admin).detach),
}

// Procedures lists the procedures in the order of the documentation.
func Procedures() []Procedure {
	return lists.Map(procedures, func(p procedure) Procedure { return p.Procedure })
}

// Reference returns the Markdown tables of the procedures and of the keys of dp_set_defaults.
func Reference() string {
	var b strings.Builder
	b.WriteString("| procedure | what it does | example |\n| --- | --- | --- |\n")
	for _, p := range Procedures() {
		b.WriteString("| `" + strings.ReplaceAll(p.Signature, "|", `\|`) + "` | " + p.Doc + " | `" + p.Example + "` |\n")
	}
	b.WriteString("\n| key of dp_set_defaults | value | meaning |\n| --- | --- | --- |\n")
	for _, p := range params.At(params.Default) {
		meaning := p.Doc
		if p.Places&params.Session != 0 {
			meaning = "The session variable's value where the session sets none."
		}
		b.WriteString("| `" + p.Name + "` | " + p.Want() + " | " + meaning + " |\n")
	}
	return b.String()
}

// Registry returns the procedures for go-mysql-server, which looks them up by their number of
// arguments. They can be called with and without a current database.
func (a *Admin) Registry() sql.ExternalStoredProcedureRegistry {
	r := sql.NewExternalStoredProcedureRegistry()
	for _, p := range procedures {
		for n := p.min; n <= p.max; n++ {
			r.Register(sql.ExternalStoredProcedureDetails{Name: p.Name, Schema: schemaOf(p.Name, p.result), Function: a.function(p, n)})
		}
	}
	return r
}

// function wraps a procedure in a Go function with n parameters, as go-mysql-server wants it.
func (a *Admin) function(p procedure, n int) any {
	in := append([]reflect.Type{reflect.TypeFor[*sql.Context]()}, slices.Repeat([]reflect.Type{reflect.TypeFor[string]()}, n)...)
	if p.binary {
		in[n] = reflect.TypeFor[[]byte]()
	}
	out := []reflect.Type{reflect.TypeFor[sql.RowIter](), reflect.TypeFor[error]()}
	return reflect.MakeFunc(reflect.FuncOf(in, out, false), func(in []reflect.Value) []reflect.Value {
		args := lists.Map(in[1:], func(v reflect.Value) string { return v.Convert(reflect.TypeFor[string]()).String() })
		rows, err := a.call(in[0].Interface().(*sql.Context), p, args)
		if err != nil || p.result == nil {
			rows = nil
		}
		return []reflect.Value{reflect.ValueOf(&rows).Elem(), reflect.ValueOf(&err).Elem()}
	}).Interface()
}

// call checks who calls, notes the call, and runs it.
func (a *Admin) call(ctx *sql.Context, p procedure, args []string) (sql.RowIter, error) {
	who := a.o.Principal(ctx)
	switch {
	case p.may != nil:
		if err := p.may(a, ctx); err != nil {
			return nil, err
		}
	case who == "" || !a.o.IsDBA(ctx):
		return nil, refuse.New(refuse.NotDBA, "%s may be called by a DBA only.", p.Name)
	}
	note := ""
	if p.note != nil {
		note = p.note(args)
	} else {
		quoted := lists.Map(args, func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" })
		note = "CALL " + p.Name + "(" + strings.Join(quoted, ", ") + ")"
	}
	return a.noted(who, p.Name, note, func() (sql.RowIter, error) {
		if p.stream != nil {
			return p.stream(a, ctx, args)
		}
		rows, err := p.run(a, ctx, args)
		return sql.RowsToRowIter(rows...), err
	})
}

// noted notes a call in the ledger before it runs, and once more if it was refused; one without a
// text leaves no note. If the ledger takes no more by then, the call's own error is returned all
// the same.
func (a *Admin) noted(who, name, text string, run func() (sql.RowIter, error)) (sql.RowIter, error) {
	if text == "" {
		return run()
	}
	if err := a.o.Ledger.Note(who, name, text); err != nil {
		return nil, err
	}
	rows, err := run()
	if err == nil {
		return rows, nil
	}
	_ = a.o.Ledger.Note(who, name, text+": refused")
	return nil, err
}

// backupProcedure copies the server's data directory.
var backupProcedure = procedure{min: 1, max: 1, result: []column{text("path"), count("bytes")}, note: unnoted, run: (*Admin).backup, Procedure: Procedure{"dp_backup", "dp_backup(name)",
	"Writes a verified backup of data, policies, accounts and ledger, as of one moment, while everybody goes on working, into a new directory of that name where the operator keeps backups. scrim restore puts it back. For a DBA.",
	"CALL dp_backup('monday')"}}

func (a *Admin) backup(ctx *sql.Context, args []string) ([]sql.Row, error) {
	if a.o.Backup == nil {
		return nil, refuse.New(refuse.Unsupported, "There is nothing to back up here.").
			With("Start the server on a data directory, with a backup-dir.")
	}
	path, bytes, err := a.o.Backup(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return []sql.Row{{path, bytes}}, nil
}
