package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"scrim/engine/store/lake"
	"scrim/internal/sqltext"
)

// attaching is what scrim attach was told.
type attaching struct {
	asking
	place             string // of the server
	kind, table, from string
	source            sourced
}

// sourced is what dp_attach is told of a source.
type sourced struct {
	Path     string `json:"path,omitempty"`
	Hive     bool   `json:"hive,omitempty"`
	Catalog  string `json:"catalog,omitempty"`
	Server   string `json:"server,omitempty"`
	Database string `json:"database,omitempty"`
	Table    string `json:"table,omitempty"`
}

// attachCommand makes a table of what others keep.
func attachCommand(s streams) *cobra.Command {
	var a attaching
	cmd := &cobra.Command{
		Use:   "attach KIND --table SCHEMA.TABLE {--path PATH [--hive] | --source NAME --from DATABASE.TABLE}",
		Short: "Make a table of Parquet files, of Iceberg or DuckLake, or of a table of another database server, read in place",
		Long: `Attach runs CALL dp_attach on a running server, as a DBA, and shows the columns of the table that it makes, and those that
are left out because no column has their type. Nothing is imported: rows are read where they are, when a statement runs.

KIND parquet reads files: --path is a pattern in quotes, with * for letters within a name and ** for any directories, below a
directory that scrim serve --lake names. It is a path of the server's machine, and is read there. KIND iceberg reads the Iceberg
table in the directory --path. KIND ducklake reads the table --from, as SCHEMA.TABLE, of the lake whose data path is the
directory --path, and whose catalogue is the file --catalog, of DuckDB or SQLite, or the database --catalog of the server
--source. KIND mysql, and other kinds of servers, read a table of a server that scrim serve --source declares: --source is its
name there, --from the table there. Neither addresses nor passwords of sources are told here. The schema has to be there
(CREATE DATABASE).

Analysts are refused the new table until it is declared, by CALL dp_protect or dp_public. CALL dp_detach removes it; what was
spent on it stays.`,
		Example: `  scrim attach parquet --table lake.orders --path '/srv/lake/orders/**/*.parquet' --hive
  scrim attach iceberg --table lake.orders --path /srv/lake/shop/orders
  scrim attach ducklake --table lake.orders --path /srv/lake/shop --catalog /srv/lake/shop.ducklake --from main.orders
  scrim attach mysql --table far.orders --source shop --from shop.orders --server db.example.org:3307 --tls-ca ca.pem`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.kind = args[0]
			if err := errors.Join(a.check(), a.at(a.place)); err != nil {
				return err
			}
			return a.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.place, "server", "127.0.0.1:3307", "server, as HOST:PORT, or the path of its socket")
	a.registerAccount(f, "root", "account on the server")
	f.StringVar(&a.table, "table", "", "table to make, as schema.table (required)")
	f.StringVar(&a.source.Path, "path", "", "pattern of the files, or directory of the table or the lake, on the server's machine")
	f.StringVar(&a.source.Catalog, "catalog", "", "catalogue of a lake: a file, or with --source a database there")
	f.BoolVar(&a.source.Hive, "hive", false, "names of directories such as day=2025-06-01 are columns")
	f.StringVar(&a.source.Server, "source", "", "server that has the table, by the name that scrim serve --source gives it")
	f.StringVar(&a.from, "from", "", "table of that server, as database.table, or of the lake, as schema.table")
	return cmd
}

// check reports every problem of a command line at once.
func (a *attaching) check() error {
	var problems []error
	if schema, name, ok := strings.Cut(a.table, "."); !ok || schema == "" || name == "" {
		problems = append(problems, fmt.Errorf("table %q: want --table SCHEMA.TABLE", a.table))
	}
	if a.kind == lake.DuckLake {
		if a.source.Path == "" || a.source.Catalog == "" || a.from == "" || a.source.Hive {
			problems = append(problems, errors.New("a table of a lake: want --path DATA_PATH, --catalog and --from SCHEMA.TABLE"))
		}
		if a.source.Table = a.from; a.source.Server != "" {
			a.source.Database, a.source.Catalog = a.source.Catalog, ""
		}
		return errors.Join(problems...)
	}
	var ok bool
	files, server := a.source.Path != "", a.source.Server != "" || a.from != ""
	switch a.source.Database, a.source.Table, ok = strings.Cut(a.from, "."); {
	case a.source.Catalog != "":
		problems = append(problems, errors.New("--catalog is of a lake"))
	case files == server:
		problems = append(problems, errors.New("want --path of files, or --source and --from of a table of another server"))
	case server && (a.source.Server == "" || !ok || a.source.Database == "" || a.source.Table == ""):
		problems = append(problems, errors.New("a table of another server: want --source NAME and --from DATABASE.TABLE"))
	case server && a.source.Hive:
		problems = append(problems, errors.New("--hive is of files"))
	}
	return errors.Join(problems...)
}

func (a *attaching) run(ctx context.Context, s streams) (err error) {
	description, err := json.Marshal(a.source)
	if err != nil {
		return err
	}
	db, leave, err := a.connect(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), leave()) }()
	rows, err := db.QueryContext(ctx, "CALL dp_attach("+sqltext.Text(a.table)+", "+sqltext.Text(a.kind)+", "+sqltext.Text(string(description))+")")
	if err != nil {
		return a.told(err)
	}
	defer rows.Close()
	out := tabwriter.NewWriter(s.out, 0, 0, 1, ' ', 0)
	fmt.Fprintf(out, "%s is attached.\n", a.table)
	for rows.Next() {
		var column, typ string
		var note sql.NullString
		if err := rows.Scan(&column, &typ, &note); err != nil {
			return err
		}
		fmt.Fprintln(out, strings.TrimRight("  "+column+"\t"+typ+"\t"+note.String, "\t"))
	}
	if err := errors.Join(rows.Err(), out.Flush()); err != nil {
		return a.told(err)
	}
	fmt.Fprintf(s.out, "Analysts are refused it until it is declared: CALL dp_protect(%s, …), or dp_public.\n", sqltext.Text(a.table))
	return nil
}

// told says of an error whether the table is there.
func (a *attaching) told(err error) error {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s was not attached: the server refused it: %s", a.table, refused.Message)
	}
	return fmt.Errorf("whether %s is attached is not known: %w; SELECT * FROM dp.sources tells", a.table, err)
}
