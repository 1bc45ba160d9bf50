package source

import (
	"context"
	"crypto/tls"
	"database/sql"
	"regexp"
	"slices"
	"strconv"
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

// Origin is what is kept of a table of another server.
type Origin struct {
	Server   string `json:"server"` // as the operator calls it
	Database string `json:"database"`
	Table    string `json:"table"`
	// Identities are those of all data that the table ever was.
	Identities []string `json:"identities"`
	// Columns are the columns that the table has here, and had there.
	Columns []Column `json:"columns"`
}

// Is reports whether data of these identities are, or were, this table, in whole or in part.
func (o *Origin) Is(identities []string) bool {
	return slices.ContainsFunc(identities, func(i string) bool { return slices.Contains(o.Identities, i) })
}

// Same reports whether data of these identities are this table, and nothing else.
func (o *Origin) Same(identities []string) bool {
	return len(identities) > 0 && !slices.ContainsFunc(identities, func(i string) bool { return !slices.Contains(o.Identities, i) })
}

// Has reports whether a table has all columns of this one as they were.
func (o *Origin) Has(t *Table) bool {
	for _, c := range o.Columns {
		if !slices.Contains(t.Columns, c) {
			return false
		}
	}
	return true
}

var decimal = regexp.MustCompile(`^DECIMAL\(([0-9]+),([0-9]+)\)$`)

// Decimal returns how many digits a DECIMAL of the store has, and how many of them are behind the
// point.
func Decimal(typ string) (digits, scale int, ok bool) {
	m := decimal.FindStringSubmatch(typ)
	if m == nil {
		return 0, 0, false
	}
	digits, _ = strconv.Atoi(m[1])
	scale, _ = strconv.Atoi(m[2])
	return digits, scale, 0 < digits && digits <= 38 && scale <= digits
}

// ShapeOf returns which slice of a Vector has the values of a type of the store.
func ShapeOf(typ string) Shape {
	switch typ {
	case "VARCHAR", "BLOB":
		return Texts
	case "FLOAT", "DOUBLE":
		return Floats
	}
	if digits, _, ok := Decimal(typ); ok && digits > 18 {
		return Wide
	}
	return Ints
}
