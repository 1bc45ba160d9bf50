// Package virtual is what go-mysql-server asks of databases and tables that no store keeps, and of
// plans' nodes without children: their rows are made when they are read, by the server itself. A
// package that has some embeds the types here and says what they hold.
package virtual

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
)

// Named is a table but for its rows: its name and its columns, in one partition.
type Named struct {
	Title   string
	Columns sql.Schema
}

// Name implements sql.Table.
func (n Named) Name() string { return n.Title }

// String implements sql.Table.
func (n Named) String() string { return n.Title }

// Schema implements sql.Table.
func (n Named) Schema(*sql.Context) sql.Schema { return n.Columns }

// Collation implements sql.Table.
func (Named) Collation() sql.CollationID { return sql.Collation_Default }

// Partitions implements sql.Table: there is one.
func (Named) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(whole{}), nil
}

// whole is all of a table.
type whole struct{}

// Key implements sql.Partition.
func (whole) Key() []byte { return []byte("all") }

// Pages returns rows that come by pages, of which an empty one is the end. open is called when the
// first row is asked for: the server may drop the iterator unused.
func Pages(open func(*sql.Context) func() ([]sql.Row, error)) sql.RowIter { return &pages{open: open} }

// Rows returns rows that come all at once, when the first of them is asked for.
func Rows(read func(*sql.Context) ([]sql.Row, error)) sql.RowIter { return Pages(Once(read)) }

// Once makes one page of all rows.
func Once(read func(*sql.Context) ([]sql.Row, error)) func(*sql.Context) func() ([]sql.Row, error) {
	return func(ctx *sql.Context) func() ([]sql.Row, error) {
		done := false
		return func() ([]sql.Row, error) {
			if done {
				return nil, nil
			}
			done = true
			return read(ctx)
		}
	}
}

type pages struct {
	open func(*sql.Context) func() ([]sql.Row, error)
	next func() ([]sql.Row, error)
	page []sql.Row
}

// Next implements sql.RowIter.
func (p *pages) Next(ctx *sql.Context) (sql.Row, error) {
	if p.next == nil {
		p.next = p.open(ctx)
	}
	if len(p.page) == 0 {
		page, err := p.next()
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return nil, io.EOF
		}
		p.page = page
	}
	row := p.page[0]
	p.page = p.page[1:]
	return row, nil
}

// Close implements sql.RowIter.
func (*pages) Close(*sql.Context) error { return nil }

// Objects are the views and stored procedures of a database that has none. Whoever would make or
// drop one gets the error of the function.
type Objects func() error

// CreateView implements sql.ViewDatabase.
func (o Objects) CreateView(*sql.Context, string, string, string) error { return o() }

// DropView implements sql.ViewDatabase.
func (o Objects) DropView(*sql.Context, string) error { return o() }

// GetViewDefinition implements sql.ViewDatabase.
func (Objects) GetViewDefinition(*sql.Context, string) (def sql.ViewDefinition, ok bool, err error) {
	return def, false, nil
}

// AllViews implements sql.ViewDatabase.
func (Objects) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// GetStoredProcedure implements sql.StoredProcedureDatabase.
func (Objects) GetStoredProcedure(*sql.Context, string) (p sql.StoredProcedureDetails, ok bool, err error) {
	return p, false, nil
}

// GetStoredProcedures implements sql.StoredProcedureDatabase.
func (Objects) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (o Objects) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error { return o() }

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (o Objects) DropStoredProcedure(*sql.Context, string) error { return o() }

// Triggers are those of a database that has none, as Objects.
type Triggers func() error

// GetTriggers implements sql.TriggerDatabase.
func (Triggers) GetTriggers(*sql.Context) ([]sql.TriggerDefinition, error) { return nil, nil }

// CreateTrigger implements sql.TriggerDatabase.
func (t Triggers) CreateTrigger(*sql.Context, sql.TriggerDefinition) error { return t() }

// DropTrigger implements sql.TriggerDatabase.
func (t Triggers) DropTrigger(*sql.Context, string) error { return t() }

// Leaf is what nodes of a plan without children and expressions have in common.
type Leaf struct{}

// Resolved implements sql.Node.
func (Leaf) Resolved() bool { return true }

// Children implements sql.Node.
func (Leaf) Children() []sql.Node { return nil }

// CollationCoercibility implements sql.CollationCoercible.
func (Leaf) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}
