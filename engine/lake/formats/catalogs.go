package formats

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"

	_ "github.com/mattn/go-sqlite3" // catalogues of lakes

	"scrim/engine/lake"
	"scrim/engine/lake/ducklake"
	"scrim/internal/sqltext"
)

// catalog opens the catalogue of a lake, whose state is that of one transaction until done.
func (l *Lister) catalog(ctx context.Context, in *lake.Catalog) (c *ducklake.Catalog, done func(), err error) {
	if in.File == "" {
		return l.servedCatalog(ctx, in)
	}
	if err := l.Roots.File(in.File); err != nil {
		return nil, nil, fmt.Errorf("the catalogue %s: %w", in.File, err)
	}
	db, tables, err := l.open(in.File)
	if err != nil {
		return nil, nil, fmt.Errorf("the catalogue %s: %w", in.File, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		db.Close()
		return nil, nil, fmt.Errorf("the catalogue %s: %w", in.File, err)
	}
	done = func() {
		tx.Rollback() //nolint:errcheck // nothing was written
		db.Close()
	}
	return &ducklake.Catalog{Tx: tx, Text: "VARCHAR", Tables: tables}, done, nil
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

// servedCatalog opens the catalogue that a declared server has.
func (l *Lister) servedCatalog(ctx context.Context, in *lake.Catalog) (*ducklake.Catalog, func(), error) {
	server, ok := l.Servers[in.Server]
	if !ok {
		return nil, nil, &lake.Unfit{Cause: "no server is declared as " + in.Server, Remedy: fmt.Sprintf("Whoever runs the server declares it: scrim serve --source %s=mysql://USER@HOST:PORT?password=file:PATH.", in.Server)}
	}
	snap, err := server.Open(ctx, l.Kinds)
	if err != nil {
		return nil, nil, fmt.Errorf("the catalogue of the server %s: %w", in.Server, err)
	}
	tx, ok := snap.(ducklake.Querier)
	if !ok {
		snap.Close()
		return nil, nil, &lake.Unfit{Cause: fmt.Sprintf("the server %s cannot have a catalogue", in.Server), Remedy: "Catalogues are in a file of DuckDB or SQLite, or in a database of MySQL or MariaDB."}
	}
	return &ducklake.Catalog{Tx: tx, In: sqltext.Name(in.Database) + ".", Text: "CHAR",
		Tables: "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA = " + sqltext.Text(in.Database)}, func() { snap.Close() }, nil
}
