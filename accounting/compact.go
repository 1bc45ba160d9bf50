package accounting

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
	"scrim/internal/durable"
)

// Compact writes the file of a ledger that nobody has open anew, without free pages: all records,
// stored answers and the rest stay as they are. The new file is verified before it takes the place
// of the old one, in one step. It returns the sizes before and after, and tells progress, which may
// be nil, how many records are copied. The key and the mark stay.
func Compact(ctx context.Context, path string, o Options, progress func(done, total int64)) (before, after int64, err error) {
	o.Create, o.Accept, o.ReadOnly = false, nil, true
	if err := o.complete(); err != nil {
		return 0, 0, err
	}
	l, err := Open(path, o)
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	name := path + ".compact"
	defer os.Remove(name)
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if before, after, err = l.rewrite(ctx, name, progress); err != nil {
		return 0, 0, fmt.Errorf("accounting: compacting %s: %w", path, err)
	}
	if err := l.same(name, o); err != nil {
		return 0, 0, err
	}
	if err := os.Rename(name, path); err != nil {
		return 0, 0, fmt.Errorf("accounting: compacting %s: %w", path, err)
	}
	return before, after, durable.SyncDir(filepath.Dir(path))
}

// rewrite copies the ledger into a new file.
func (l *Ledger) rewrite(ctx context.Context, name string, progress func(done, total int64)) (before, after int64, err error) {
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return 0, 0, err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		return 0, 0, err
	}
	db.AllocSize = growth
	err = boltfile.Guard(func() error {
		return l.db.View(func(from *bolt.Tx) error {
			for _, b := range [][]byte{metaBucket, chain.Records, answersBucket, orderBucket} {
				if err := copyBucket(ctx, db, from.Bucket(b), b, func(n int64) { progress(n, int64(l.end.ID)) }); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err == nil {
		err = db.Sync()
	}
	if e := db.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, 0, err
	}
	return sizes(l.path, name)
}

// copyBucket copies one bucket, in transactions of a few thousand values.
func copyBucket(ctx context.Context, db *bolt.DB, from *bolt.Bucket, name []byte, progress func(int64)) error {
	const together = 20_000
	c := from.Cursor()
	var done int64
	for k, v := c.First(); ; {
		err := db.Update(func(tx *bolt.Tx) error {
			to, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			to.FillPercent = 1 // keys come in order
			for i := 0; i < together && k != nil; i++ {
				if err := to.Put(k, v); err != nil {
					return err
				}
				done++
				k, v = c.Next()
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		if string(name) == string(chain.Records) {
			progress(done)
		}
		if k == nil {
			return nil
		}
	}
}

// same checks that a file is a sound ledger that ends where this one does, and comes to the same.
func (l *Ledger) same(name string, o Options) error {
	db, err := openFile(name, o)
	if err != nil {
		return err
	}
	defer func() { _ = boltfile.Guard(db.Close) }()
	m := newLedger(l.path, db, o) // with this one's key
	err = m.verify(o)
	if err == nil && (m.end.ID != l.end.ID || m.end.Hash != l.end.Hash || !bytes.Equal(m.state.Encode(nil), l.state.Encode(nil))) {
		err = fmt.Errorf("%s is not a copy of %s", name, l.path)
	}
	return err
}

func sizes(a, b string) (int64, int64, error) {
	x, err := os.Stat(a)
	if err != nil {
		return 0, 0, err
	}
	y, err := os.Stat(b)
	if err != nil {
		return 0, 0, err
	}
	return x.Size(), y.Size(), nil
}
