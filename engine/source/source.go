package source

import (
	"context"
	"crypto/tls"
)

// Kind is a kind of server whose tables can be read.
type Kind interface {
	// Open connects to a server. What the snapshot reads is what the server has committed then, or
	// later, as Promise says.
	Open(ctx context.Context, at Endpoint) (Snapshot, error)
	// Port is the port of a server whose address names none.
	Port() string
	// Promise says in a few words what of a statement is of one moment.
	Promise() string
}

// Endpoint is where a server is, and the account that reads there.
type Endpoint struct {
	Address        string // host:port
	User, Password string
	TLS            *tls.Config // nil: in the clear
}

// Snapshot is one reading of a server. It is not safe for concurrent use. When a context ends the
// call ends, and the snapshot is of no use any more.
type Snapshot interface {
	// Look looks a table up. It fails with an Unfit where the table cannot be read at all.
	Look(ctx context.Context, database, table string) (*Table, error)
	// Version returns a text that differs after any committed change of the table, and after some
	// others. It is asked before Rows, and is of that state or of an earlier one. "" says that the
	// server does not tell.
	Version(ctx context.Context, database, table string) (string, error)
	// Rows hands over the columns named of all rows, in the order of columns and in no order of
	// rows. A batch is valid until each returns. It stops at each's first error.
	Rows(ctx context.Context, database, table string, columns []Column, each func(*Batch) error) error
	Close() error
}

// Table is a table of a server as it is at one moment.
type Table struct {
	Columns []Column
	// Left are columns of types that no table here has, with the server's own types.
	Left []Column
	// Identities name the data, whatever the address is that the server is reached by.
	Identities []string
}

// Column is a column of such a table.
type Column struct {
	Name string
	Type string // the store's type
	Null bool   // a row may have no value
}

// Unfit says why a table, or a server, cannot be read. It is for a DBA, and names nothing of rows.
type Unfit struct{ Cause, Remedy string }

// Error tells the cause.
func (u *Unfit) Error() string { return u.Cause }
