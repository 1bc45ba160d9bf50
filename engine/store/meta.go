package store

import "context"

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
