// Package store is the boundary between the server and what holds the tables. A store runs
// generated SQL in its own dialect (DuckDB's by default), hands results over column by column in
// chunks, and keeps, for every table, a version that each committed write changes.
//
// The package imports nothing of ours; implementations live in packages below it.
package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"
)

// TableRef names a table. Both parts are lower case: names of tables are stored folded.
type TableRef struct{ Schema, Name string }

// String returns schema.name.
func (r TableRef) String() string { return r.Schema + "." + r.Name }

// Column describes one column as the store keeps it. Its name has the letters that it was made
// with; two columns of a table differ in more than case.
type Column struct {
	Name string
	Type string // the store's own type name, e.g. DECIMAL(10,2), DOUBLE[3]
	// the MySQL column type text it was created with, "" when it came from an import
	MySQL    string
	Nullable bool
	Default  string // SQL text of the default, "" for none
	Comment  string
}

// HiddenColumn begins the names of columns whose values statements compute and nobody reads.
const HiddenColumn = "!hidden!"

// Key is a PRIMARY KEY or UNIQUE constraint that the store enforces.
type Key struct {
	Primary bool
	Columns []string
}

// Table describes one table or view as of some moment. It is immutable.
type Table struct {
	Ref     TableRef
	View    bool
	Columns []Column // but for the hidden ones, which keys may name
	Hidden  []Column
	Keys    []Key
	Comment string
	// Source is the kind of what others keep that the table is read from, "" for the store's own.
	// No key of such a table is enforced, and nobody here changes its rows.
	Source string
	// Promise says, with Source, what of a statement's rows of the table is of one moment.
	Promise string
}

// Store is an open backing store. It is safe for concurrent use.
type Store interface {
	// Schemas lists the schemas (MySQL databases), sorted.
	Schemas(ctx context.Context) ([]string, error)
	// Tables lists a schema's tables, sorted by name, from a cache that DDL through this process
	// refreshes.
	Tables(ctx context.Context, schema string) ([]Table, error)
	// Table finds one table; ok is false when there is none.
	Table(ctx context.Context, ref TableRef) (t Table, ok bool, err error)
	// ReservedSchema tells whether the store keeps a schema name for itself: such a schema is never
	// listed, and none can be created, written or read under that name.
	ReservedSchema(name string) bool
	// Session opens a connection for one client session.
	Session(ctx context.Context) (Session, error)
	// Snapshot opens a read-only view of one committed state on a connection of its own.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Once is Snapshot for one Scan only, which is faster: the state is the one when the scan
	// starts, or when Versions is asked before.
	Once(ctx context.Context) (Snapshot, error)
	// Room tells by an error of kind NoRoom that the directory which statements spill to cannot
	// take anything, or that the disk has less free space than it is to keep. It looks at the disk
	// only, not at rows.
	Room() error
	// Versions returns what Snapshot.Versions of a snapshot would that is opened now.
	Versions(ctx context.Context, refs ...TableRef) ([]string, error)
	// Close closes the store after checkpointing it.
	Close() error
}

// Session is a connection of one client: its reads see its own uncommitted writes. Not safe for
// concurrent use. Without Begin every call commits by itself.
type Session interface {
	Begin(ctx context.Context) error
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
	InTransaction() bool
	// Write runs one generated statement that changes the rows or the definition of the tables
	// named, and in the same transaction changes the version of each of them. It returns the number
	// of rows changed. A renamed table is named by both of its names. An error inside a transaction
	// aborts it: what follows fails with Aborted until Rollback.
	Write(ctx context.Context, tables []TableRef, sql string, args ...any) (int64, error)
	// Append inserts rows (Go values by column, in the order of columns) through the store's fast
	// path, in the same transaction discipline as Write.
	Append(ctx context.Context, table TableRef, columns []string, rows [][]any) error
	// Change is Append of columns of rows that are there: the first column is rowid, the store's
	// number of a row in the transaction.
	Change(ctx context.Context, table TableRef, columns []string, rows [][]any) error
	// Mark returns a function that aborts the transaction if it has changed anything since: what a
	// statement has done that fails half way is not to be committed.
	Mark() (undo func())
	// Refer notes that the transaction has looked, for a foreign key, at a parent's rows: before it
	// takes keys away from them, or else to reference them. Commit fails with Conflict where a
	// transaction that has committed since Begin did the other of the two.
	Refer(parent TableRef, removes bool)
	// Query runs one generated SELECT and returns rows as Go values. The rows stay readable while
	// other statements run on the session.
	Query(ctx context.Context, sql string, args ...any) (Rows, error)
	// Meta reads and writes the store's key-value entries in the session's transaction.
	Meta() Meta
	// Close rolls back what is open and closes the connection.
	Close() error
}

// Rows is the result of Session.Query, read in batches of rows.
type Rows interface {
	Columns() []Column
	// Batch returns the next rows, at least one, or io.EOF. The kinds are the same in all batches
	// of a result. A batch is valid for as long as it is used, after Close, too.
	Batch() (*Batch, error)
	Close() error
}

// Each hands a result over row by row to its end, or to the first error, and closes it.
func Each(r Rows, f func(row []any) error) error {
	defer r.Close()
	for {
		b, err := r.Batch()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Len {
			row := make([]any, len(b.Columns))
			for c := range row {
				row[c] = b.Columns[c].At(i)
			}
			if err := f(row); err != nil {
				return err
			}
		}
	}
}

// Snapshot is one committed state, read-only. All scans of one statement use the same one.
//
// Materialise and Keep make tables of the snapshot's own, which its later scans may name and nobody
// else sees. They are gone when the snapshot is closed, is alone, or fails. A snapshot by Once has
// none before it is alone.
type Snapshot interface {
	// Versions returns the versions of the tables in this state, in the order of refs. A version is
	// an opaque text that differs after any committed write to the table or its definition.
	Versions(ctx context.Context, refs ...TableRef) ([]string, error)
	// Scan runs a generated SELECT and hands over its result chunk by chunk, as the types say, one
	// type a column. A chunk is valid until each returns. It stops at each's first error. each must
	// not run statements of the store, which may be waiting for this one. The rows come in no
	// order, whatever the SELECT says. Of several functions each gets some of the chunks; different
	// ones are called at the same time.
	Scan(ctx context.Context, sql string, args []any, types []ScanType, each ...func(Chunk) error) error
	// ScanInOrder is Scan with the rows in the order of the SELECT, which takes longer where they
	// are many.
	ScanInOrder(ctx context.Context, sql string, args []any, types []ScanType, each func(Chunk) error) error
	// Materialise keeps the rows of a generated SELECT in a table, whose columns get the names
	// given, and returns the table's name as it is written in SQL. The rows do not have to fit into
	// memory.
	Materialise(ctx context.Context, sql string, args []any, columns []string) (table string, err error)
	// Keep makes a table of the server's own values: int64 for ScanInt64, float64 for ScanFloat64,
	// string for ScanText, nil for NULL.
	Keep(ctx context.Context, columns []string, types []ScanType, rows [][]any) (table string, err error)
	// Alone lets the snapshot begin again after a failure that is Crowded, with the store to
	// itself: it waits until no other statement runs, and from then on the others wait until it is
	// closed. Its statements run on one thread. So what they need of memory follows from
	// themselves and from nothing that happens beside them. It shows the same state of the store's
	// tables, the same files and the same copies as before, whatever has been written since: who
	// writes does not see in an answer that there was a failure. A table whose copy failed is
	// copied anew. Once only.
	Alone(ctx context.Context) error
	Close() error
}

// ScanType is how a scanned column is handed over.
type ScanType uint8

// Scan types. The SQL must produce exactly BIGINT, DOUBLE, VARCHAR or DOUBLE[n] for them.
const (
	ScanInt64 ScanType = iota
	ScanFloat64
	ScanText
	ScanVector // DOUBLE[n]: fixed-size arrays
)

// Vector is one column of a chunk: exactly one of the slices is set, as the scan's type says.
type Vector struct {
	Ints   []int64
	Floats []float64
	Texts  []string
	Null   []bool // nil when no value of the chunk is NULL; an array with a NULL inside is NULL
	// Width is n for arrays of n numbers, whose Floats hold n numbers a row; 0 otherwise.
	Width int
}

// Chunk is a run of result rows, column by column.
type Chunk struct {
	Len     int
	Columns []Vector
}

type accountKey struct{}

// ForAccount returns a context whose statements are an account's. Where statements have to wait,
// accounts take turns.
func ForAccount(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, accountKey{}, account)
}

// AccountOf is the account whose statements run in ctx, "" for the server's own.
func AccountOf(ctx context.Context) string {
	account, _ := ctx.Value(accountKey{}).(string)
	return account
}

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

// Meta is durable key-value storage beside the tables, read and written in the transaction of the
// session that it comes from: a definition kept in it commits or rolls back together with the DDL
// that it describes. Snapshots and table listings see what is committed.
type Meta interface {
	// Put sets an entry.
	Put(ctx context.Context, bucket, key string, value []byte) error
	// Get reads an entry; ok is false when there is none.
	Get(ctx context.Context, bucket, key string) (value []byte, ok bool, err error)
	// List reads all entries of a bucket, sorted by key.
	List(ctx context.Context, bucket string) ([]MetaEntry, error)
	// Delete removes an entry if it is there.
	Delete(ctx context.Context, bucket, key string) error
}

// MetaEntry is one entry of a bucket.
type MetaEntry struct {
	Key   string
	Value []byte
}

// BucketColumns is the bucket from which Column.MySQL is filled. An entry's key is TableKey of the
// table, its value a JSON object from lower-case column name to MySQL column type text.
const BucketColumns = "columns"

// TableKey is the entry key of a table: unlike r.String() it is unambiguous for names with dots.
func TableKey(r TableRef) string { return r.Schema + "\x1f" + r.Name }

// ValueKind is how the values of a column are held.
type ValueKind uint8

// Kinds, and the Go type of a value of each.
const (
	KindAny       ValueKind = iota // Any: see At
	KindBool                       // Ints: 0 or 1; bool
	KindInt                        // Ints; int64
	KindUint                       // Ints: the bits of a uint64; uint64
	KindFloat                      // Floats; float64
	KindText                       // Texts; string
	KindDate                       // Ints: days since 1970; time.Time
	KindTime                       // Ints: microseconds of the day; time.Duration
	KindTimestamp                  // Ints: microseconds since 1970, in UTC; time.Time
	KindDecimal                    // Ints: the number times 10^Scale; *apd.Decimal
)

// Values are a run of the values of one column. They are immutable.
type Values struct {
	Kind   ValueKind
	Scale  int // of decimals
	Ints   []int64
	Floats []float64
	Texts  []string
	Any    []any
	Null   []bool // nil when no value is NULL
}

// Batch is a run of result rows, column by column.
type Batch struct {
	Len     int
	Columns []Values
}

// IsNull tells whether the value at i is NULL.
func (v *Values) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// At returns the value at i: nil, bool, int64, uint64, float64, string, []byte, time.Time,
// time.Duration (TIME and INTERVAL; a month counts 30 days), *big.Int (huge integers),
// *apd.Decimal, which is the caller's own, or []any of these. JSON and UUID come as text.
func (v *Values) At(i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch v.Kind {
	case KindBool:
		return v.Ints[i] != 0
	case KindInt:
		return v.Ints[i]
	case KindUint:
		return uint64(v.Ints[i])
	case KindFloat:
		return v.Floats[i]
	case KindText:
		return v.Texts[i]
	case KindDate:
		return time.Unix(v.Ints[i]*24*60*60, 0).UTC()
	case KindTime:
		return time.Duration(v.Ints[i]) * time.Microsecond
	case KindTimestamp:
		return time.UnixMicro(v.Ints[i]).UTC()
	case KindDecimal:
		return apd.New(v.Ints[i], -int32(v.Scale))
	}
	if d, ok := v.Any[i].(*apd.Decimal); ok {
		return new(apd.Decimal).Set(d)
	}
	return v.Any[i]
}

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
