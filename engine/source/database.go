package source

import (
	"context"
	"database/sql"
)

// Database is a transaction in a database, in which Scrim's own queries read. All of them see one
// state of it.
type Database struct {
	Tx interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	In     string // what stands before the names of tables: a schema and a dot, or nothing
	Text   string // the type of texts in a CAST
	Tables string // a query of the names of the tables, without views
	Close  func()
}

// Databases is implemented by kinds of servers that may have the catalogue of a lake.
type Databases interface {
	// Database begins a transaction in a database of a server. Whoever gets it closes it.
	Database(ctx context.Context, at Endpoint, name string) (*Database, error)
}
