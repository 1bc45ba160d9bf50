package store

import "context"

// Own is what a Store offers to the server itself: tables of the server's own beside those of
// clients, in one file and one transaction with them, and bytes handed over without a detour
// through text.
//
// A table in the schema OwnSchema is like the store's own: it is never listed, no client's SQL
// reaches it, and it has no version. A Session creates, changes and reads such tables by Write,
// naming no table, and by Query inside a transaction, because results that are kept between
// statements know only of versions.
type Own interface {
	// OwnSchema is the schema of the server's own tables, as it is written in SQL.
	OwnSchema() string
	// ScanBytes runs a generated SELECT on one committed state and hands over its result chunk by
	// chunk. Each column must be a BIGINT or a BLOB. A chunk is valid until each returns. It stops
	// at each's first error.
	ScanBytes(ctx context.Context, sql string, args []any, each func(BytesChunk) error) error
}

// Filler is implemented by the sessions of a Store that is an Own.
type Filler interface {
	// Fill inserts rows through the store's appender: all columns of the table in their order, each
	// value of the Go type that its column has (int8 for TINYINT, …; time.Time for DATE). It
	// changes the table's version unless the table is the server's own. It is for values that the
	// server has made: a failure tells no kind.
	Fill(ctx context.Context, table TableRef, rows [][]any) error
}

// BytesChunk is a run of result rows, column by column.
type BytesChunk struct {
	Len     int
	Columns []BytesColumn
}

// BytesColumn holds Ints of a BIGINT or Bytes of a BLOB. What is NULL is 0 or nil.
type BytesColumn struct {
	Ints  []int64
	Bytes [][]byte
}
