package main

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"scrim/engine"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/fileimport"
	"scrim/engine/ops/upload"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// importing is what scrim import was told.
type importing struct {
	c                          engine.Config
	files                      []string
	table                      string
	server                     string
	reached                    asking // the server
	add, replace, header, look bool
	types                      string
	o                          fileimport.Options
}

// importCommand loads files into a data directory that nobody serves, or through a server.
func importCommand(s streams) *cobra.Command {
	im := importing{c: engine.DefaultConfig("")}
	cmd := &cobra.Command{
		Use:   "import {--data DIR | --server HOST:PORT} --table SCHEMA.TABLE FILE...",
		Short: "Load files (CSV, TSV, JSON, NDJSON, Parquet; also .gz, .zst) into a table",
		Long: `Import reads files through DuckDB's readers into a table of a data directory, all of it or nothing. A FILE is a path,
a pattern in quotes ('2025-*.csv'), or - for standard input. Names and types of a new table's columns are found out from
the first lines and shown; --dry-run shows them as CREATE TABLE and changes nothing, --types says others. Into a table
that is there, columns go by their names, and are read as its types.

A line that cannot be read (a text for a number, a column too few or too many) is told with its file and number, and
nothing is imported; --max-rejects N leaves up to N such lines out. A file that is in the table already is refused,
whatever its name, unless --again says so.

With --data the directory must not be served at the same time. With --server the same goes through a running server, as a
DBA: the files are read here, and their rows sent over the wire. A new table is refused to analysts until it is declared:
scrim protect proposes how.`,
		Example: `  scrim import --data /var/lib/scrim --table shop.orders --dry-run orders.csv
  scrim import --data /var/lib/scrim --table shop.orders --types 'code=VARCHAR(12),amount=DECIMAL(10,2)' orders.csv
  scrim import --data /var/lib/scrim --table shop.orders --append --null NA 'more-*.csv.gz'
  scrim import --server db.example.org:3307 --tls-ca ca.pem --table shop.orders --replace orders.parquet
  zstdcat day.ndjson.zst | scrim import --data /var/lib/scrim --table shop.events --format ndjson -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cmd.Flags().Changed("header") {
				im.o.Header = &im.header
			}
			if err := im.check(args); err != nil {
				return err
			}
			if im.server != "" {
				if err := im.reached.at(im.server); err != nil {
					return err
				}
			}
			remove, err := im.spool(s.in)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			if im.look {
				return im.show(cmd.Context(), s)
			}
			return im.load(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&im.c.DataDir, "data", "", "data directory that nobody serves (this or --server, but for --dry-run)")
	f.StringVar(&im.server, "server", "", "server to import through, as HOST:PORT, or the path of its socket")
	im.reached.registerAccount(f, "root", "account on the server")
	f.BoolVar(&im.reached.raw, "raw", false, "SET dp_raw = ON on the server, for a protected table with a key; its ledger records that")
	f.StringVar(&im.table, "table", "", "table to fill, as schema.table (required)")
	f.BoolVar(&im.add, "append", false, "add the rows to an existing table")
	f.BoolVar(&im.replace, "replace", false, "put the rows in the place of an existing table's")
	f.BoolVar(&im.look, "dry-run", false, "show the CREATE TABLE of a new table, and change nothing")
	f.BoolVar(&im.o.Again, "again", false, "append a file although it is in the table already")
	f.StringVar(&im.types, "types", "", "types of columns, as name=TYPE,name=TYPE")
	f.StringVar(&im.o.Format, "format", "", "format of the files: "+strings.Join(fileimport.Formats, ", ")+" (default: what their names say)")
	f.StringVar(&im.o.Delimiter, "delimiter", "", `what separates the columns of a CSV file; \t is a tab (default: found out)`)
	f.BoolVar(&im.header, "header", false, "whether the first line of a CSV file has the names (default: found out)")
	f.IntVar(&im.o.Sample, "sample", 0, "rows that decide the types of a text file; -1 is all (default 262144)")
	f.Int64Var(&im.o.MaxRejects, "max-rejects", 0, "lines of CSV files that may be left out because they cannot be read")
	f.StringSliceVar(&im.o.NullStrings, "null", nil, "texts of a CSV file that mean NULL, beside the empty one")
	f.StringVar(&im.c.MemoryLimit, "memory-limit", "", "memory of the store before it spills to disk (default 1GiB)")
	return cmd
}

// check reports every problem of a command line at once, before a directory is made for it, and
// fills in what it says.
func (im *importing) check(args []string) error {
	var problems []error
	bad := func(format string, a ...any) { problems = append(problems, fmt.Errorf(format, a...)) }
	if schema, name, ok := strings.Cut(im.table, "."); !ok || schema == "" || name == "" || strings.Contains(name, ".") {
		bad("table %q: want --table SCHEMA.TABLE", im.table)
	}
	if im.add && im.replace {
		bad("--append and --replace exclude each other")
	}
	if im.o.MaxRejects < 0 {
		bad("--max-rejects: want 0 or more")
	}
	if im.o.Sample < -1 {
		bad("--sample: want a number of rows, or -1 for all")
	}
	if im.o.Delimiter == `\t` {
		im.o.Delimiter = "\t"
	}
	if len(im.o.NullStrings) > 0 {
		im.o.NullStrings = append([]string{""}, im.o.NullStrings...)
	}
	var err error
	if im.o.Types, err = parseTypes(im.types); err != nil {
		problems = append(problems, err)
	}
	if im.files, err = matches(args); err != nil {
		problems = append(problems, err)
	}
	if im.add {
		im.o.Mode = fileimport.Append
	} else if im.replace {
		im.o.Mode = fileimport.Replace
	}
	switch {
	case im.server != "" && im.c.DataDir != "":
		bad("--data and --server exclude each other")
	case im.server == "" && !im.look:
		problems = append(problems, im.c.Validate())
	}
	return errors.Join(problems...)
}

// parseTypes reads name=TYPE,name=TYPE; commas in parentheses belong to a type.
func parseTypes(text string) (map[string]string, error) {
	out := map[string]string{}
	depth := 0
	for _, item := range strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	}) {
		name, typ, ok := strings.Cut(item, "=")
		if name, typ = strings.TrimSpace(name), strings.TrimSpace(typ); !ok || name == "" || typ == "" {
			return nil, fmt.Errorf("--types: %q: want name=TYPE", item)
		}
		out[name] = typ
	}
	return out, nil
}

// matches are the files that the arguments name, patterns replaced by what is there.
func matches(args []string) ([]string, error) {
	var files []string
	var problems []error
	for _, a := range args {
		fi, err := os.Stat(a)
		switch {
		case a == "-" && len(args) > 1:
			problems = append(problems, errors.New("- for standard input is the only FILE"))
		case a == "-":
			files = append(files, a)
		case err == nil && fi.IsDir():
			problems = append(problems, fmt.Errorf("%s is a directory; want files, or a pattern in quotes: '%s'", a, filepath.Join(a, "*.csv")))
		case err == nil:
			files = append(files, a)
		case strings.ContainsAny(a, "*?["):
			found, badPattern := filepath.Glob(a)
			if badPattern != nil || len(found) == 0 {
				problems = append(problems, fmt.Errorf("%s: there is no such file", a))
			}
			files = append(files, found...)
		default:
			problems = append(problems, err)
		}
	}
	return files, errors.Join(problems...)
}

// spool puts standard input into a file, where that is asked for; remove takes it away. The file
// lies where other users cannot read it.
func (im *importing) spool(in io.Reader) (remove func() error, err error) {
	remove = func() error { return nil }
	if im.files[0] != "-" {
		return remove, nil
	}
	dir, err := os.MkdirTemp("", "scrim-import-")
	if err != nil {
		return nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	im.o.Format = cmp.Or(im.o.Format, "csv")
	file := filepath.Join(dir, "stdin."+im.o.Format)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(f, in)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("standard input: %w", err), remove())
	}
	im.files = []string{file}
	return remove, nil
}

// named is how messages name what is imported.
func (im *importing) named() string {
	if len(im.files) > 1 {
		return fmt.Sprintf("%d files", len(im.files))
	}
	return im.files[0]
}

// show writes the table that the import would make.
func (im *importing) show(ctx context.Context, s streams) error {
	im.o.Also = im.files[1:]
	r, err := fileimport.Describe(ctx, im.files[0], im.o)
	if err != nil {
		return im.told(err)
	}
	lines := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		lines[i] = "  " + name(c) + " " + fileimport.MySQLType(c, r.Types[i], im.o.Types)
	}
	fmt.Fprintf(s.out, "CREATE TABLE %s (\n%s\n);\n", im.table, strings.Join(lines, ",\n"))
	return nil
}

// load fills the table, in a directory or through a server.
func (im *importing) load(ctx context.Context, s streams) error {
	start := time.Now()
	im.o.Also = im.files[1:]
	fill, protect := im.intoDirectory, "--data "+im.c.DataDir
	if im.server != "" {
		db, leave, err := im.reached.connect(ctx, s)
		if err != nil {
			return err
		}
		defer func() { _ = errors.Join(db.Close(), leave()) }()
		fill, protect = im.through(db), "--server "+im.server
	}
	progress, finish := progressOn(s.err, "import "+im.table)
	r, err := fill(ctx, progress)
	finish()
	if err != nil {
		return im.told(err)
	}
	for _, l := range r.Rejects {
		fmt.Fprintln(s.err, "left out:", l)
	}
	fmt.Fprintf(s.out, "%s: %s, %s, in %.1f s", im.table, count(int(r.Rows), "row"), count(len(r.Columns), "column"), time.Since(start).Seconds())
	if n := len(r.Rejects); n > 0 {
		fmt.Fprintf(s.out, "; %s left out", count(n, "line"))
	}
	fmt.Fprintln(s.out)
	for i, c := range r.Columns {
		fmt.Fprintf(s.out, "  %s %s\n", name(c), fileimport.MySQLType(c, r.Types[i], im.o.Types))
	}
	if im.o.Mode == fileimport.Create {
		fmt.Fprintf(s.out, "Analysts are refused it until it is declared: scrim protect %s proposes how.\n", protect)
	}
	return nil
}

// filling is one way of filling a table.
type filling func(ctx context.Context, progress func(done, total int64)) (fileimport.Result, error)

func (im *importing) intoDirectory(ctx context.Context, progress func(done, total int64)) (fileimport.Result, error) {
	return fileimport.Load(ctx, im.c.Place(), im.files[0], im.table, im.o, progress)
}

func (im *importing) through(db *sql.DB) filling {
	return func(ctx context.Context, progress func(done, total int64)) (fileimport.Result, error) {
		return upload.Load(ctx, db, im.files[0], im.table, im.o, progress)
	}
}

// told says of an error what would do, whatever way the table was to be filled.
func (im *importing) told(err error) error {
	var rejected *fileimport.Rejected
	var repeated *fileimport.Repeated
	var refused *mysql.MySQLError
	nothing := fmt.Sprintf("nothing of %s was imported", im.named())
	switch {
	case errors.Is(err, datadir.ErrInUse):
		return fmt.Errorf("%w; import through that server: --server HOST:PORT in the place of --data", err)
	case errors.As(err, &rejected) && rejected.More:
		return fmt.Errorf("%s: %w\nmend them, or see --types and --delimiter", nothing, err)
	case errors.As(err, &rejected):
		return fmt.Errorf("%s: %w\nmend them, see --types and --delimiter, or leave them out by --max-rejects %d", nothing, err, len(rejected.Lines))
	case errors.As(err, &repeated):
		return fmt.Errorf("nothing was imported into %s: %w; --again appends it once more", im.table, err)
	case errors.As(err, &refused) && string(refused.SQLState[:]) == refuse.Lookup(refuse.Repeated).SQLState:
		was, _, _ := strings.Cut(refused.Message, ". ")
		return fmt.Errorf("nothing was imported into %s: %s; --again appends it once more", im.table, was)
	case errors.As(err, &refused) && string(refused.SQLState[:]) == refuse.Lookup(refuse.RawRows).SQLState:
		return fmt.Errorf("%s: a refused duplicate of its key would tell who is in %s: --raw does it all the same, and the server's ledger records that", nothing, im.table)
	case errors.Is(err, upload.ErrExists), im.o.Mode == fileimport.Create && store.KindOf(err) == store.Exists:
		return fmt.Errorf("%s: the table already exists; --append adds the rows, --replace puts them in the place of the table's", im.table)
	case errors.Is(err, upload.ErrMissing), im.o.Mode == fileimport.Append && isMissing(err):
		return fmt.Errorf("%s: there is no such table; without --append the import makes it", im.table)
	case errors.As(err, &refused):
		return fmt.Errorf("%s: the server refused it: %w", nothing, err)
	case errors.Is(err, context.Canceled):
		return errors.New(nothing + ": it was interrupted")
	case broken(err):
		return fmt.Errorf("%s: the server at %s went away: %w\nimport it again when scrim health says that it is back", nothing, im.server, err)
	}
	return fmt.Errorf("%s: %w", nothing, err)
}

// broken reports whether a connection has ended by itself.
func broken(err error) bool {
	var network *net.OpError
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// isMissing reports whether a store has found no table; its readers' errors are of files.
func isMissing(err error) bool {
	var file *fileimport.Unreadable
	return store.KindOf(err) == store.NotFound && !errors.As(err, &file)
}

// plainName needs no quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name writes a name for MySQL, quoted where it has to be.
func name(s string) string {
	if plainName.MatchString(s) {
		return s
	}
	return sqltext.Name(s)
}
