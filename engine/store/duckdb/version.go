package duckdb

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"scrim/engine/store"
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
	have, ok, err := c.get(ctx, bucketSelf, keyDirectory)
	if err != nil {
		return err
	}
	if ok && string(have) != directory {
		return store.ErrForeign
	}
	if ok {
		return nil
	}
	return c.put(ctx, bucketSelf, keyDirectory, []byte(directory))
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
		err := keeper.fold(context.Background())
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
