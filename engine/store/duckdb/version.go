package duckdb

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"scrim/engine/store"
	"scrim/internal/lists"
)

// hidden is the schema of our own tables.
const hidden = "__scrim"

// foldAfter is how many committed log entries are let grow before they are folded while the store
// is open. Reading that many takes well under a millisecond.
const foldAfter = 8192

// bucketSelf holds what the store knows about itself.
const bucketSelf, keyDirectory = "self", "directory"

// initSchema makes our own tables where they are missing, and drops deleted entries.
func (c *conn) initSchema(ctx context.Context) error {
	return c.configure(ctx, []string{
		`CREATE SCHEMA IF NOT EXISTS ` + hidden,
		`CREATE TABLE IF NOT EXISTS ` + hidden + `.version (
			schema_name VARCHAR NOT NULL, table_name VARCHAR NOT NULL, entries BIGINT NOT NULL, token BIGINT NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS ` + hidden + `.meta (
			bucket VARCHAR NOT NULL, "key" VARCHAR NOT NULL, "value" BLOB, PRIMARY KEY (bucket, "key"))`,
		`CREATE TABLE IF NOT EXISTS ` + hidden + `.mark ("order" BIGINT NOT NULL, "text" VARCHAR NOT NULL)`,
		`DELETE FROM ` + hidden + `.meta WHERE "value" IS NULL`,
		// There where a file beside counts what was acknowledged. It has no rows.
		`CREATE TABLE IF NOT EXISTS ` + hidden + `.counted (beside BOOLEAN)`,
	})
}

// claim checks that the file belongs to the data directory, or makes it so.
func (c *conn) claim(ctx context.Context, directory string) error {
	if directory == "" {
		return nil
	}
	claimed, err := c.claimed(ctx, directory)
	if err != nil || claimed {
		return err
	}
	return c.put(ctx, bucketSelf, keyDirectory, []byte(directory))
}

// claimed tells whether the file belongs to a data directory, and that it belongs to this one.
func (c *conn) claimed(ctx context.Context, directory string) (bool, error) {
	have, ok, err := c.get(ctx, bucketSelf, keyDirectory)
	if err == nil && ok && string(have) != directory {
		err = store.ErrForeign
	}
	return ok, err
}

const bumpSQL = `INSERT INTO ` + hidden + `.version VALUES ($1, $2, 1, $3)`

// bump logs one change of a table in the transaction that runs, and returns the entry's token.
func (c *conn) bump(ctx context.Context, r store.TableRef) (token int64, err error) {
	if token, err = newToken(); err != nil {
		return 0, err
	}
	if c.bumping == nil {
		if c.bumping, _, err = c.prepare(bumpSQL); err != nil {
			return 0, err
		}
	}
	_, err = c.run(ctx, c.bumping, []any{r.Schema, r.Name, token})
	return token, err
}

// newToken draws what tells apart two histories of equally many changes, as after the return to an
// older copy of the file.
func newToken() (int64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}

const sums = `SELECT schema_name, table_name, CAST(sum(entries) AS BIGINT), bit_xor(token), count(*) FROM ` +
	hidden + `.version GROUP BY ALL`

// fold replaces a table's log entries by one that stands for them all, which keeps every version.
// A concurrent writer's entry is not seen, hence not touched.
func (c *conn) fold(ctx context.Context) error {
	return c.within(ctx, func() error {
		rows, err := c.collect(ctx, sums)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r[4].(int64) == 1 {
				continue
			}
			if _, err := c.exec(ctx, `DELETE FROM `+hidden+`.version WHERE schema_name = $1 AND table_name = $2`, r[0], r[1]); err != nil {
				return err
			}
			if _, err := c.exec(ctx, `INSERT INTO `+hidden+`.version VALUES ($1, $2, $3, $4)`, r[0], r[1], r[2], r[3]); err != nil {
				return err
			}
		}
		return c.foldMarks(ctx)
	})
}

// logged counts committed entries and folds the log when it has grown long.
func (s *Store) logged(n int) {
	if n == 0 || s.entries.Add(int64(n)) < foldAfter {
		return
	}
	// A failure leaves the log as it was: correct, only longer. The next write tries again.
	_ = s.use(func(keeper *conn) error {
		if s.entries.Load() < foldAfter {
			return nil
		}
		err := s.commit(nil, func() error { return keeper.fold(context.Background()) })
		if err == nil {
			s.entries.Store(0)
		}
		return err
	})
}

// versionText is a version: how many changes were committed, and which.
func versionText(entries, token int64) string {
	return fmt.Sprintf("%d-%016x", entries, uint64(token))
}

// readVersions reads the versions of all tables: the whole log, which folding keeps short. That is
// faster than having DuckDB filter and aggregate it. s.mu is held.
func (s *snapshot) readVersions(ctx context.Context) (map[store.TableRef]tableVersion, error) {
	versions := map[store.TableRef]tableVersion{}
	types := []store.ScanType{store.ScanText, store.ScanText, store.ScanInt64, store.ScanInt64}
	err := s.scan(ctx, query{`SELECT schema_name, table_name, entries, token FROM ` + hidden + `.version`, nil, types, true}, nil, func(c store.Chunk) error {
		for i := range c.Len {
			ref := store.TableRef{Schema: c.Columns[0].Texts[i], Name: c.Columns[1].Texts[i]}
			v := versions[ref]
			versions[ref] = tableVersion{v.entries + c.Columns[2].Ints[i], v.token ^ c.Columns[3].Ints[i]}
		}
		return nil
	})
	return versions, err
}

// put sets an entry. A deleted entry stays as a row without a value until the next opening, because
// DuckDB's index does not let a key be deleted and inserted again in one transaction.
func (c *conn) put(ctx context.Context, bucket, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}
	_, err := c.exec(ctx, putSQL, bucket, key, value)
	return err
}

const putSQL = `INSERT INTO ` + hidden + `.meta VALUES ($1, $2, $3)
	ON CONFLICT (bucket, "key") DO UPDATE SET "value" = excluded."value"`

func (c *conn) get(ctx context.Context, bucket, key string) ([]byte, bool, error) {
	rows, err := c.collect(ctx, `SELECT "value" FROM `+hidden+`.meta
		WHERE bucket = $1 AND "key" = $2 AND "value" IS NOT NULL`, bucket, key)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	return rows[0][0].([]byte), true, nil
}

func (c *conn) list(ctx context.Context, bucket string) ([]store.MetaEntry, error) {
	rows, err := c.collect(ctx, `SELECT "key", "value" FROM `+hidden+`.meta
		WHERE bucket = $1 AND "value" IS NOT NULL ORDER BY "key"`, bucket)
	if err != nil {
		return nil, err
	}
	return lists.Map(rows, func(r []any) store.MetaEntry { return store.MetaEntry{Key: r[0].(string), Value: r[1].([]byte)} }), nil
}

// meta is a session's view of the entries.
type meta struct{ s *session }

// Meta implements store.Session.
func (s *session) Meta() store.Meta { return meta{s} }

// Put implements store.Meta.
func (m meta) Put(ctx context.Context, bucket, key string, value []byte) error {
	return m.change(ctx, bucket, func() error { return m.s.c.put(ctx, bucket, key, value) })
}

// Delete implements store.Meta.
func (m meta) Delete(ctx context.Context, bucket, key string) error {
	return m.change(ctx, bucket, func() error {
		_, err := m.s.c.exec(ctx, `UPDATE `+hidden+`.meta SET "value" = NULL WHERE bucket = $1 AND "key" = $2`, bucket, key)
		return err
	})
}

func (m meta) change(ctx context.Context, bucket string, f func() error) error {
	if bucket == bucketSelf {
		return &store.Error{Kind: store.Refused, Driver: "the bucket is the store's own"}
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return m.s.mutate(ctx, nil, func() (bool, error) { return bucket == store.BucketColumns, f() })
}

// Get implements store.Meta.
func (m meta) Get(ctx context.Context, bucket, key string) ([]byte, bool, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if err := m.s.usable(); err != nil {
		return nil, false, err
	}
	v, ok, err := m.s.c.get(ctx, bucket, key)
	return v, ok, classify(ctx, err)
}

// List implements store.Meta.
func (m meta) List(ctx context.Context, bucket string) ([]store.MetaEntry, error) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if err := m.s.usable(); err != nil {
		return nil, err
	}
	v, err := m.s.c.list(ctx, bucket)
	return v, classify(ctx, err)
}
