package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// BucketImports has, under a table's key, the files that were imported into it, as JSON.
const BucketImports = "imports"

// ImportedFile is a file that is in a table.
type ImportedFile struct {
	SHA256 string    `json:"sha256"`
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
}

// Repeated tells that a file is in the table already. Nothing was imported.
type Repeated struct {
	File, As string // the file, and its name when it was imported
	At       time.Time
}

// Error tells when it was.
func (r *Repeated) Error() string {
	as := ""
	if r.As != r.File {
		as = " as " + r.As
	}
	return fmt.Sprintf("%s was imported%s on %s", r.File, as, r.At.UTC().Format("2006-01-02 15:04 UTC"))
}

// Load is what a load of files does beside inserting their rows, in the same transaction: it notes
// which files the table has.
type Load struct {
	Table   TableRef
	Replace bool // the rows take the place of the table's
	Again   bool // a file that is in the table is taken once more
	Files   []ImportedFile
}

// Imports is a table's list of files after the load, given the entry of BucketImports before it,
// nil for none. It fails with *Repeated where a file would come twice.
func (l *Load) Imports(before []byte) ([]byte, error) {
	var list []ImportedFile
	if before != nil && !l.Replace {
		if err := json.Unmarshal(before, &list); err != nil {
			return nil, &Error{Kind: Internal, Driver: "the list of imported files is damaged"}
		}
	}
	for _, f := range l.Files {
		i := slices.IndexFunc(list, func(in ImportedFile) bool { return in.SHA256 == f.SHA256 })
		if i >= 0 && !l.Again {
			return nil, &Repeated{File: f.Name, As: list[i].Name, At: list[i].At}
		}
		list = append(list, f)
	}
	return json.Marshal(list)
}

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
