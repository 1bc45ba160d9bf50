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

	_ "github.com/mattn/go-sqlite3" // catalogues of lakes

	"scrim/engine/lake"
	"scrim/engine/source"
)

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
