package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scrim/internal/sqltext"
)

// protecting is what scrim protect was told.
type protecting struct {
	asking
	yes, look bool
	hints     hints
	analyst   string
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
again, it proposes only what is missing; where a statement fails it stops, and goes on from there the next time. It works
on a server, or with --data on a directory that nobody serves.`,
		Example: `  scrim protect --data /var/lib/scrim --dry-run
  scrim protect --data /var/lib/scrim --public ml.movies ml
  scrim protect --host db.example.org --user root --tls-ca ca.pem shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.data != "" && (cmd.Flags().Changed("host") || cmd.Flags().Changed("port")) {
				return errors.New("--data serves the directory itself; it excludes --host and --port")
			}
			p.hints.schemas = args
			return p.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.data, "data", "", "data directory that nobody serves, in the place of a server")
	f.StringVar(&p.host, "host", "127.0.0.1", "host of the server, or the path of its socket")
	f.IntVarP(&p.port, "port", "P", 3307, "port of the server")
	f.StringVarP(&p.user, "user", "u", "root", "account, of a DBA")
	f.StringVar(&p.passwordFile, "password-file", "", "file whose one line is the password")
	f.StringVar(&p.ca, "tls-ca", "", "PEM file of the certificates that the server's has to be signed by")
	f.BoolVar(&p.yes, "yes", false, "run the statements without asking")
	f.BoolVar(&p.look, "dry-run", false, "show the statements, and change nothing")
	f.StringSliceVar(&p.hints.units, "unit", nil, "names of columns that name the person")
	f.StringSliceVar(&p.hints.public, "public", nil, "tables, as schema.table, that tell of no person")
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
		if !p.yes && !agreed(s, answers) {
			return errors.New("nothing more was run; run it again, or copy the statements that you want")
		}
		if err := todo.apply(ctx, db, s.out); err != nil {
			return err
		}
	}
	if !proposed {
		fmt.Fprintln(s.out, "Nothing is missing that can be guessed.")
	}
	return nil
}

func agreed(s streams, answers *bufio.Reader) bool {
	fmt.Fprint(s.err, "Run these statements? [y/N] ")
	line, _ := answers.ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// declarations proposes keys, policies, budgets and an account.
func (p *protecting) declarations(ctx context.Context, db *sql.DB) (proposal, error) {
	tables, err := readTables(ctx, db)
	if err != nil {
		return proposal{}, err
	}
	out := propose(tables, p.hints)
	if p.analyst == "" {
		return out, nil
	}
	known, err := firstColumn(ctx, db, "SELECT account FROM dp.accounts")
	if err != nil {
		return out, err
	}
	for _, a := range known {
		if name, _, _ := strings.Cut(a, "@"); strings.Trim(name, "'`") == p.analyst {
			return out, nil
		}
	}
	account := sqltext.Text(p.analyst) + "@'%'"
	word := rand.Text()
	out.add("CREATE USER "+account+" IDENTIFIED BY '"+word+"'", "an analyst's account; change the password by ALTER USER")
	out.add("GRANT analyst TO "+account, "may ask, within the budgets")
	for _, schema := range schemasOf(tables, p.hints) {
		out.add("GRANT SELECT ON "+name(schema)+".* TO "+account, "these tables")
	}
	out.hide, out.shown = word, "the password of "+p.analyst
	return out, nil
}

// domains proposes the public keys of protected tables that public tables have; examples that only
// a DBA can fill in are said.
func (p *protecting) domains(ctx context.Context, db *sql.DB) (out proposal, err error) {
	tables, err := readTables(ctx, db)
	if err != nil {
		return out, err
	}
	for _, t := range tables {
		if t.state != "protected" || !p.hints.has(t.schema) {
			continue
		}
		rows, err := db.QueryContext(ctx, "CALL dp_suggest_domains(?)", t.name())
		if err != nil {
			return out, err
		}
		for rows.Next() {
			var column, typ, statement, frees string
			if err := rows.Scan(&column, &typ, &statement, &frees); err != nil {
				return out, errors.Join(err, rows.Close())
			}
			if strings.Contains(statement, `"table"`) {
				out.add(statement, frees)
			} else {
				out.say("the public values of "+t.name()+"."+column+", if anybody may know them ("+frees+")", statement)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return out, err
		}
	}
	return out, nil
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
