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
