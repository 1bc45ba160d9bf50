package store

import (
	"context"
	"fmt"
)

// BucketSources has, under a table's key, what is kept of a table that is or was read from files of
// others, as JSON.
const BucketSources = "sources"

// Attached tells a DBA how a table was attached.
type Attached struct {
	Columns []Column
	// Left are the columns of the files that the table has not, because no type here holds them.
	Left []Column
}

// Unfit says why files cannot be a table. It is for a DBA: it names files, and nothing of rows.
type Unfit struct{ Cause, Remedy string }

// Error tells the cause.
func (u *Unfit) Error() string { return u.Cause }

// Unfitted returns an Unfit.
func Unfitted(remedy, format string, args ...any) error {
	return &Unfit{fmt.Sprintf(format, args...), remedy}
}

// SourceState is what of an attached table can be told without reading it.
type SourceState struct {
	Files int // 0 for a table of another server
	Bytes int64
}

// Pinner is implemented by a Snapshot of a store that reads what others keep.
type Pinner interface {
	// Pin fixes the files of those of the tables that are attached, as they are now, and copies
	// what the statements to come name of the tables of other servers. All statements of the
	// snapshot are among these, or read no such table.
	Pin(ctx context.Context, refs []TableRef, statements []string) error
}

// Pin fixes what is read of attached tables, so that all that a statement reads is of one moment.
// Without it a snapshot fixes a table when it is first scanned.
func Pin(ctx context.Context, s Snapshot, refs []TableRef, statements []string) error {
	if p, ok := s.(Pinner); ok {
		return p.Pin(ctx, refs, statements)
	}
	return nil
}
