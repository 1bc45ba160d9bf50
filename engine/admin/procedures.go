package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/catalog"
	"scrim/internal/refuse"
)

// Procedure documents one stored procedure. The README's reference is made from Procedures.
type Procedure struct{ Name, Signature, Doc, Example string }

// procedure is a Procedure and what it does.
type procedure struct {
	Procedure
	params int
	run    func(a *Admin, ctx *sql.Context, args []string) error
}

var procedures = []procedure{
	{Procedure{"dp_protect", "dp_protect(table, unit_column | 'row', entity)",
		"Declares a table protected: the column that identifies the person, or 'row' where each row is one person, and the kind of person, whose neighbour relation the table gets.",
		"CALL dp_protect('shop.orders', 'customer_id', 'customer')"}, 3, (*Admin).protect},
	{Procedure{"dp_unprotect", "dp_unprotect(table)",
		"Makes a protected table undeclared: refused to analysts. Its budget and what is spent stay.",
		"CALL dp_unprotect('shop.orders')"}, 1, (*Admin).unprotect},
	{Procedure{"dp_public", "dp_public(table)",
		"Declares that a table holds nobody's data: analysts may read its rows.",
		"CALL dp_public('shop.regions')"}, 1, (*Admin).public},
	{Procedure{"dp_link", "dp_link(child, child_column, parent, parent_column)",
		"Protects a table by a foreign key: a row belongs to the person that its parent row belongs to. The parent column is a PRIMARY or UNIQUE key.",
		"CALL dp_link('shop.lineitem', 'order_id', 'shop.orders', 'id')"}, 4, (*Admin).link},
	{Procedure{"dp_set_domain", "dp_set_domain(table, column, json)",
		"Declares the public domain of a column: a list of group keys, the values of a column of a public table, or a numeric range. 'null' removes it.",
		`CALL dp_set_domain('shop.orders', 'region', '["north","south"]')`}, 3, (*Admin).setDomain},
	{Procedure{"dp_set_scale", "dp_set_scale(table, column, json)",
		"Declares the public standard deviations of a column of vectors or numbers: one for all coordinates, or an array of one for each. They shape the noise of means of vectors. 'null' removes them.",
		"CALL dp_set_scale('shop.profiles', 'embedding', '[2.5, 0.5, 0.1]')"}, 3, (*Admin).setScale},
	{Procedure{"dp_set_defaults", "dp_set_defaults(table, json)",
		"Replaces the defaults of the privacy parameters for queries on a table.",
		`CALL dp_set_defaults('shop.orders', '{"dp_epsilon":0.5}')`}, 2, (*Admin).setDefaults},
	{Procedure{"dp_set_budget", "dp_set_budget(table | 'entity:NAME', principal, epsilon, delta, window)",
		"Caps what may be spent on a table or on an entity: by all principals ('*'), by each without a budget of their own ('default'), or by one account (user@host), in a window never, day, week or month. With delta 0 the account is pure: only mechanisms without a delta run there, and their epsilons add up.",
		"CALL dp_set_budget('shop.orders', '*', 8, 1e-6, 'month')"}, 5, (*Admin).setBudget},
	{Procedure{"dp_drop_budget", "dp_drop_budget(table | 'entity:NAME', principal)",
		"Removes a budget. What is spent stays on record; a table without a '*' budget refuses every query.",
		"CALL dp_drop_budget('shop.orders', 'ann@%')"}, 2, (*Admin).dropBudget},
	{Procedure{"dp_set_neighbours", "dp_set_neighbours(table, relation)",
		"Sets which databases are neighbours: 'add-remove', one person more or less, or 'replace-one', one person's rows exchanged, which also declares that the number of persons in the table is public. All tables of an entity have one relation; it changes only while nothing has been charged to them.",
		"CALL dp_set_neighbours('shop.orders', 'replace-one')"}, 2, (*Admin).setNeighbours},
}

// Procedures lists the procedures in the order of the documentation.
func Procedures() []Procedure {
	out := make([]Procedure, len(procedures))
	for i, p := range procedures {
		out[i] = p.Procedure
	}
	return append(out, priceDoc, backupDoc)
}

// Reference returns the Markdown tables of the procedures and of the keys of dp_set_defaults.
func Reference() string {
	var b strings.Builder
	b.WriteString("| procedure | what it does | example |\n| --- | --- | --- |\n")
	for _, p := range Procedures() {
		b.WriteString("| `" + strings.ReplaceAll(p.Signature, "|", `\|`) + "` | " + p.Doc + " | `" + p.Example + "` |\n")
	}
	b.WriteString("\n| key of dp_set_defaults | value |\n| --- | --- |\n")
	for _, k := range catalog.DefaultKeys() {
		b.WriteString("| `" + k[0] + "` | " + k[1] + " |\n")
	}
	return b.String()
}

// Registry returns the procedures for go-mysql-server. They can be called with and without a current
// database.
func (a *Admin) Registry() sql.ExternalStoredProcedureRegistry {
	r := sql.NewExternalStoredProcedureRegistry()
	for _, p := range procedures {
		r.Register(sql.ExternalStoredProcedureDetails{Name: p.Name, Function: a.function(p)})
	}
	r.Register(a.price())
	r.Register(a.backup())
	return r
}

// function wraps a procedure in a Go function with as many text parameters, as go-mysql-server wants it.
func (a *Admin) function(p procedure) any {
	type rows = sql.RowIter
	call := func(ctx *sql.Context, args ...string) (sql.RowIter, error) { return nil, a.call(ctx, p, args) }
	switch p.params {
	case 1:
		return func(ctx *sql.Context, x1 string) (rows, error) { return call(ctx, x1) }
	case 2:
		return func(ctx *sql.Context, x1, x2 string) (rows, error) { return call(ctx, x1, x2) }
	case 3:
		return func(ctx *sql.Context, x1, x2, x3 string) (rows, error) { return call(ctx, x1, x2, x3) }
	case 4:
		return func(ctx *sql.Context, x1, x2, x3, x4 string) (rows, error) { return call(ctx, x1, x2, x3, x4) }
	case 5:
		return func(ctx *sql.Context, x1, x2, x3, x4, x5 string) (rows, error) {
			return call(ctx, x1, x2, x3, x4, x5)
		}
	}
	panic("admin: procedure with an unforeseen number of parameters")
}

// call checks who calls, notes the call, and runs it.
func (a *Admin) call(ctx *sql.Context, p procedure, args []string) error {
	who := a.o.Principal(ctx)
	if who == "" || !a.o.IsDBA(ctx) {
		return refuse.New(refuse.NotDBA, "%s may be called by a DBA only.", p.Name)
	}
	quoted := make([]string, len(args))
	for i, s := range args {
		quoted[i] = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	text := "CALL " + p.Name + "(" + strings.Join(quoted, ", ") + ")"
	if err := a.o.Ledger.Note(who, p.Name, text); err != nil {
		return err
	}
	err := p.run(a, ctx, args)
	if err == nil {
		return nil
	}
	if noted := a.o.Ledger.Note(who, p.Name, text+": refused"); noted != nil {
		return noted
	}
	return err
}
