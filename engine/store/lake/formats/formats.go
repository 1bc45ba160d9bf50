// Package formats lists the files of attached tables, whatever their kind: those that a pattern
// names, and those that the metadata of Iceberg or the catalogue of a DuckLake list. It opens
// catalogues: files of DuckDB and SQLite below the declared roots, to be read only, and databases
// of declared servers.
//
//	lake.From ─▶ First ─▶ lake.Attachment, which is kept ─▶ Again, for every statement ─▶ lake.Pin
//
// A catalogue is opened for each listing and closed with it.
package formats

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	_ "github.com/mattn/go-sqlite3" // catalogues of lakes

	"scrim/engine/store/lake"
	"scrim/engine/store/lake/ducklake"
	"scrim/engine/store/lake/iceberg"
	"scrim/engine/store/source"
)

// Lister lists the files of tables.
type Lister struct {
	Roots   lake.Roots
	Kinds   map[string]source.Kind // of servers that may have catalogues
	Servers source.Servers
	// DuckDB opens a file of DuckDB to be read, with no access to other files.
	DuckDB func(path string) (*sql.DB, error)
}

// Below is the pattern of all files below the directory of a table, or of a lake.
func Below(dir string) string { return dir + "/**/*.parquet" }

// list reads what the metadata of a table list, and the directory that its files lie below.
func (l *Lister) list(ctx context.Context, kind, dir string, in *lake.Catalog) (*lake.Listing, string, error) {
	if kind == lake.Iceberg {
		found, err := iceberg.List(dir)
		return found, dir, err
	}
	c, err := l.catalog(ctx, in)
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	return ducklake.List(ctx, c, in.Data, in.Table)
}

// First lists the files of a table that is to be attached, and notes what its metadata say it is.
// at names the directory of a table, or of a lake, until it names the table's own.
func (l *Lister) First(ctx context.Context, a *lake.Attachment, at lake.Pattern) (lake.Pattern, *lake.Pin, error) {
	if a.Kind == lake.Parquet {
		pin, err := at.Pin()
		return at, pin, err
	}
	if a.In != nil {
		a.In.Data = directory(at)
	}
	found, dir, err := l.list(ctx, a.Kind, directory(at), a.In)
	if err != nil {
		return at, nil, err
	}
	if at, err = l.Roots.Pattern(Below(dir)); err != nil {
		return at, nil, fmt.Errorf("the files of the table are to lie below %q, which cannot be: %w", dir, err)
	}
	a.Path, a.Table, a.Fields = at.String(), found.Table, found.Columns
	pin, err := at.Listed(found)
	return at, pin, err
}

// Again lists the files of an attached table, and fails where it is another table, or has other
// columns, than it was attached with.
func (l *Lister) Again(ctx context.Context, a lake.Attachment, at lake.Pattern) (*lake.Pin, error) {
	if a.Kind == lake.Parquet {
		return at.Pin()
	}
	found, dir, err := l.list(ctx, a.Kind, directory(at), a.In)
	var unfit *lake.Unfit
	switch {
	case errors.As(err, &unfit):
		return nil, fmt.Errorf("the table in %s cannot be read: %s. %s", directory(at), unfit.Cause, unfit.Remedy)
	case err != nil:
		return nil, err
	case found.Table != a.Table || dir != directory(at):
		return nil, fmt.Errorf("%s is another table than the one that was attached: CALL dp_detach, and dp_attach it under the same name", directory(at))
	case !slices.Equal(found.Columns, a.Fields):
		return nil, fmt.Errorf("%s does not have the columns that it was attached with: CALL dp_detach, and dp_attach it under the same name", directory(at))
	}
	return at.Listed(found)
}

// directory is that of a table whose files a pattern names.
func directory(at lake.Pattern) string { return filepath.Dir(filepath.Dir(at.String())) }

// catalog opens the catalogue of a lake. Whoever gets it closes it.
func (l *Lister) catalog(ctx context.Context, in *lake.Catalog) (*source.Database, error) {
	if in.File == "" {
		return l.served(ctx, in)
	}
	if err := l.Roots.File(in.File); err != nil {
		return nil, fmt.Errorf("the catalogue %s: %w", in.File, err)
	}
	db, tables, err := l.open(in.File)
	if err != nil {
		return nil, fmt.Errorf("the catalogue %s: %w", in.File, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("the catalogue %s: %w", in.File, err)
	}
	end := func() {
		tx.Rollback() //nolint:errcheck // nothing was written
		db.Close()
	}
	return &source.Database{Tx: tx, Text: "VARCHAR", Tables: tables, Close: end}, nil
}

// open opens a file of DuckDB or SQLite to be read, by what it begins with. tables lists the names
// of its tables.
func (l *Lister) open(path string) (db *sql.DB, tables string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	var begin [16]byte
	if _, err := io.ReadFull(f, begin[:]); err != nil {
		return nil, "", fmt.Errorf("it is no database of DuckDB or SQLite")
	}
	switch {
	case string(begin[:]) == "SQLite format 3\x00":
		at := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_query_only=1&_busy_timeout=5000"}
		db, err = sql.Open("sqlite3", at.String())
		return db, "SELECT name FROM sqlite_master WHERE type = 'table'", err
	case bytes.Equal(begin[8:12], []byte("DUCK")):
		db, err = l.DuckDB(path)
		return db, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND database_name = current_database()", err
	}
	return nil, "", fmt.Errorf("it is no database of DuckDB or SQLite")
}

// served opens the catalogue that a declared server has.
func (l *Lister) served(ctx context.Context, in *lake.Catalog) (*source.Database, error) {
	server, ok := l.Servers[in.Server]
	if !ok {
		return nil, &lake.Unfit{Cause: "no server is declared as " + in.Server, Remedy: fmt.Sprintf("Whoever runs the server declares it: scrim serve --source %s=postgres://USER@HOST:PORT?password=file:PATH.", in.Server)}
	}
	db, err := server.Database(ctx, l.Kinds, in.Database)
	var unfit *source.Unfit
	switch {
	case errors.As(err, &unfit):
		return nil, &lake.Unfit{Cause: unfit.Cause, Remedy: unfit.Remedy}
	case err != nil:
		return nil, fmt.Errorf("the catalogue of the server %s: %w", in.Server, err)
	}
	return db, nil
}
