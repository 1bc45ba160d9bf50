package duckdb

import (
	"database/sql"
	"strings"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/lake"
)

// openForeign opens a database of DuckDB that others keep, to be read. It has no access to other
// files, so that nothing in it, a view for instance, can lead elsewhere.
func openForeign(path string) (*sql.DB, error) {
	c, err := duckdb.NewConnector(path+"?access_mode=READ_ONLY&threads=1&memory_limit=256MB&enable_external_access=false&autoload_known_extensions=false&autoinstall_known_extensions=false", nil)
	switch {
	case err == nil:
		return sql.OpenDB(c), nil
	case strings.Contains(err.Error(), "Could not set lock on file"):
		return nil, &lake.Unfit{Cause: "another process has " + path + " open, and DuckDB lets nobody read what it may write", Remedy: "Let it detach the lake, or keep a catalogue that is written while it is read in SQLite or on a server."}
	}
	return nil, err
}
