package duckdb

import (
	"context"

	"scrim/engine/store"
)

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
	out := make([]store.MetaEntry, len(rows))
	for i, r := range rows {
		out[i] = store.MetaEntry{Key: r[0].(string), Value: r[1].([]byte)}
	}
	return out, nil
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
