package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// protecting is what scrim protect was told.
type protecting struct {
	asking
	server    string
	yes, look bool
	hints     hints
	days      span
	analyst   string
	ask       func(question string) string // nil where nobody is there to answer
	told      map[string]span              // answers, by column
	next      string                       // how the new account asks
}

// protectCommand proposes what is to be declared of tables.
func protectCommand(s streams) *cobra.Command {
	var p protecting
	cmd := &cobra.Command{
		Use:   "protect [SCHEMA...]",
		Short: "Propose what to declare of tables that analysts are refused: persons, links, domains, budgets, an account",
		Long: `Protect looks at tables that nobody has declared, proposes statements with a word of reason for each, asks, and runs
them. It looks at names and types of columns, and at no row. What cannot be guessed is said, with the statement to write.

The column of the person is guessed by its name (customer_id, userId, patient …) or told by --unit. A guess that is wrong
voids the promise to these persons: read it before you agree. No table is declared public unless --public names it. Run
again, it proposes only what is missing; where a statement fails it stops, and goes on from there the next time. Columns of
days get a public range where --from and --to, or your answer, say it: declare what anybody may know, not what the rows have.
It works on a server, or with --data on a directory that nobody serves.`,
		Example: `  scrim protect --data /var/lib/scrim --dry-run
  scrim protect --data /var/lib/scrim --public ml.movies ml
  scrim protect --server db.example.org:3307 --tls-ca ca.pem --from 2020-01-01 --to 2026-12-31 shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.data != "" && cmd.Flags().Changed("server") {
				return errors.New("--data serves the directory itself; it excludes --server")
			}
			if err := errors.Join(p.at(p.server), p.days.check()); err != nil {
				return err
			}
			p.hints.schemas = args
			return p.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.data, "data", "", "data directory that nobody serves, in the place of a server")
	f.StringVar(&p.server, "server", "127.0.0.1:3307", "server, as HOST:PORT, or the path of its socket")
	p.registerAccount(f, "root", "account on the server")
	f.BoolVar(&p.yes, "yes", false, "run the statements without asking")
	f.BoolVar(&p.look, "dry-run", false, "show the statements, and change nothing")
	f.StringSliceVar(&p.hints.units, "unit", nil, "names of columns that name the person")
	f.StringSliceVar(&p.hints.public, "public", nil, "tables, as schema.table, that tell of no person")
	f.StringVar(&p.days.from, "from", "", "first day that columns of days may have, as anybody may know")
	f.StringVar(&p.days.to, "to", "", "last day that they may have")
	f.StringVar(&p.analyst, "analyst", "analyst1", "account to make for an analyst; empty for none")
	return cmd
}

func (p *protecting) run(ctx context.Context, s streams) (err error) {
	db, leave, err := p.connect(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), leave()) }()
	answers := bufio.NewReader(s.in)
	if !p.yes && !p.look {
		p.told = map[string]span{}
		p.ask = func(question string) string {
			fmt.Fprint(s.err, question)
			line, _ := answers.ReadString('\n')
			return strings.TrimSpace(line)
		}
	}
	proposed := false
	for _, plan := range []func(context.Context, *sql.DB) (proposal, error){p.declarations, p.domains} {
		todo, err := plan(ctx, db)
		if err != nil {
			return err
		}
		todo.show(s.out)
		if len(todo.steps) == 0 {
			continue
		}
		proposed = true
		if p.look {
			continue
		}
		if !p.yes && !p.agreed() {
			return errors.New("nothing more was run; run it again, or copy the statements that you want")
		}
		if err := todo.apply(ctx, db, s.out); err != nil {
			return err
		}
	}
	switch {
	case !proposed:
		fmt.Fprintln(s.out, "Nothing is missing that can be guessed.")
	case p.next != "" && !p.look:
		fmt.Fprintln(s.out, p.next)
	}
	return nil
}

func (p *protecting) agreed() bool {
	line := strings.ToLower(p.ask("Run these statements? [y/N] "))
	return line == "y" || line == "yes"
}

// declarations proposes keys, policies, budgets and an account.
func (p *protecting) declarations(ctx context.Context, db *sql.DB) (proposal, error) {
	all, err := readTables(ctx, db)
	if err != nil {
		return proposal{}, err
	}
	schemas := schemasOf(all.tables, p.hints)
	if empty := p.hints.without(schemas); empty != "" {
		return proposal{}, fmt.Errorf("%s has no table; scrim import --table SCHEMA.NAME FILE brings one, and then scrim protect proposes what to declare of it", empty)
	}
	out := propose(all, p.hints)
	if p.analyst == "" {
		return out, nil
	}
	known, err := firstColumn(ctx, db, "SELECT account FROM dp.accounts")
	if err != nil {
		return out, err
	}
	for _, a := range known {
		if name, _, _ := strings.Cut(a, "@"); strings.Trim(name, "'`") == p.analyst {
			return out, p.grants(ctx, db, schemas, &out)
		}
	}
	account := p.account()
	word := rand.Text()
	out.add("CREATE USER "+account+" IDENTIFIED BY '"+word+"'", "an analyst's account; change the password by ALTER USER")
	out.add("GRANT analyst TO "+account, "may ask, within the budgets")
	for _, schema := range schemas {
		out.add(p.grant(schema), "these tables")
	}
	out.hide, out.shown = word, "the password of "+p.analyst
	p.next = p.asksBy(schemas[0])
	return out, nil
}

func (p *protecting) account() string { return sqltext.Text(p.analyst) + "@'%'" }

func (p *protecting) grant(schema string) string {
	return "GRANT SELECT ON " + name(schema) + ".* TO " + p.account()
}

// grants tells which schemas an account that there was may not read. To give it these is for the
// DBA, who may have kept it out.
func (p *protecting) grants(ctx context.Context, db *sql.DB, schemas []string, out *proposal) error {
	may, err := firstColumn(ctx, db, "SELECT table_schema FROM information_schema.schema_privileges WHERE privilege_type = 'SELECT' AND grantee = "+sqltext.Text(p.account()))
	if err != nil {
		return err
	}
	for _, schema := range schemas {
		if !slices.ContainsFunc(may, func(s string) bool { return strings.EqualFold(s, schema) }) {
			out.say(p.analyst+" may not read "+schema, p.grant(schema))
		}
	}
	return nil
}

// asksBy says how the new account asks, at the same place.
func (p *protecting) asksBy(schema string) string {
	serve, at := "", ""
	switch {
	case p.data != "":
		serve = "scrim serve --data " + p.data + " serves them; "
	case strings.HasPrefix(p.host, "/"):
		at = " --host " + p.host
	default:
		at = fmt.Sprintf(" --host %s --port %d", p.host, p.port)
	}
	return fmt.Sprintf("%s%s asks, with the password in %s: scrim sql%s --user %s %s", serve, p.analyst, clientPassword, at, p.analyst, schema)
}

// firstColumn is the first column of an answer.
func firstColumn(ctx context.Context, db *sql.DB, query string) (out []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// step is a statement and the reason for it. An optional one may fail.
type step struct {
	sql, why string
	optional bool
}

// proposal is what may be run, and what only a DBA can decide.
type proposal struct {
	steps, open []step
	// hide is a password in the steps, which is not shown before it is in force; shown names it
	hide, shown string
}

func (p *proposal) add(sql, why string) { p.steps = append(p.steps, step{sql: sql, why: why}) }
func (p *proposal) say(why, sql string) { p.open = append(p.open, step{sql: sql, why: why}) }

// text is a step's statement without the password.
func (p *proposal) text(s step) string {
	if p.hide == "" {
		return s.sql + ";"
	}
	return strings.ReplaceAll(s.sql, p.hide, "(generated)") + ";"
}

// show writes the statements, each under its reason.
func (p *proposal) show(w io.Writer) {
	for _, s := range p.steps {
		fmt.Fprintf(w, "-- %s\n%s\n", s.why, p.text(s))
	}
	if len(p.open) > 0 {
		fmt.Fprintln(w, "\n-- You decide, and write:")
	}
	for _, s := range p.open {
		fmt.Fprintf(w, "-- %s\n--   %s;\n", s.why, s.sql)
	}
}

// apply runs the steps in order. Statements on tables are in force one by one; where one fails it
// says which, and what is in force is not proposed again.
func (p *proposal) apply(ctx context.Context, db *sql.DB, w io.Writer) error {
	ran := 0
	for i, s := range p.steps {
		var refused *mysql.MySQLError
		_, err := db.ExecContext(ctx, s.sql)
		if s.optional && errors.As(err, &refused) {
			fmt.Fprintf(w, "left out: %s %s\n", p.text(s), refused.Message)
			continue
		}
		if err != nil {
			return fmt.Errorf("statement %d of %d failed; those before it are in force, it and those behind it are not: %s\n%w\nmend what it says and run scrim protect again, which goes on there", i+1, len(p.steps), p.text(s), err)
		}
		ran++
		if p.hide != "" && strings.Contains(s.sql, p.hide) {
			fmt.Fprintf(w, "%s is %s (it is not shown again)\n", p.shown, p.hide)
		}
	}
	fmt.Fprintf(w, "%s run.\n", count(ran, "statement"))
	return nil
}

// described is a table as its names, types and policy tell it.
type described struct {
	schema, table, state, entity string
	columns                      []describedColumn
	keys                         []string // columns that are a key by themselves
	refers                       []refersTo
	primary, budget              bool
}

// refersTo is a foreign key of one column, to a table of the name.
type refersTo struct{ column, table, key string }

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
	if c, ok := lists.Find(t.columns, func(c describedColumn) bool { return strings.EqualFold(c.name, column) }); ok {
		return c.typ
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
		{`SELECT table_schema, table_name, index_name, MIN(column_name) FROM information_schema.statistics WHERE non_unique = 0
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
		{`SELECT MIN(CONCAT(table_schema, '.', table_name)), MIN(column_name), MIN(CONCAT(referenced_table_schema, '.', referenced_table_name)), MIN(referenced_column_name)
			FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL
			GROUP BY table_schema, table_name, constraint_name HAVING COUNT(*) = 1`, func(f [4]string) {
			if t := by[strings.ToLower(f[0])]; t != nil {
				t.refers = append(t.refers, refersTo{f[1], strings.ToLower(f[2]), f[3]})
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
