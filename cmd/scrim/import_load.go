package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/datadir"
	"scrim/engine/datadir/fileimport"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/internal/upload"
)

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
