package accounting

import (
	"encoding/binary"
	"errors"
	"os"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/boltfile"
	"scrim/accounting/internal/chain"
)

// write makes a new file out of what the ledger holds. It is on the disk when write returns.
func (a *archiving) write(name string, fill func(db *bolt.DB, from *bolt.Tx) error) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		return err
	}
	db.AllocSize = growth
	err = boltfile.Guard(func() error {
		return a.db.View(func(from *bolt.Tx) error { return fill(db, from) })
	})
	if err == nil {
		err = db.Sync()
	}
	return errors.Join(err, db.Close())
}

// meta copies what the ledger says of itself, with some of it replaced.
func (a *archiving) meta(db *bolt.DB, from *bolt.Tx, replaced map[string][]byte) error {
	return db.Update(func(tx *bolt.Tx) error {
		to, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		err = from.Bucket(metaBucket).ForEach(to.Put)
		for k, v := range replaced {
			err = errors.Join(err, to.Put([]byte(k), v))
		}
		return err
	})
}

// records copies records, some thousands in a transaction.
func (a *archiving) records(db *bolt.DB, from *bolt.Tx, first, last uint64) error {
	const together = 20_000
	c := from.Bucket(chain.Records).Cursor()
	k, v := c.Seek(chain.RecordKey(first))
	for done := false; !done; {
		err := db.Update(func(tx *bolt.Tx) error {
			to, err := tx.CreateBucketIfNotExists(chain.Records)
			if err != nil {
				return err
			}
			to.FillPercent = 1 // keys come in order
			for range together {
				if done = k == nil || binary.BigEndian.Uint64(k) > last; done {
					break
				}
				if err := to.Put(k, v); err != nil {
					return err
				}
				a.progress(int64(binary.BigEndian.Uint64(k)-a.base.end.ID), int64(a.end.ID-a.base.end.ID))
				k, v = c.Next()
			}
			return a.ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func emptyBuckets(db *bolt.DB, names ...[]byte) error {
	return db.Update(func(tx *bolt.Tx) (err error) {
		for _, n := range names {
			_, e := tx.CreateBucket(n)
			err = errors.Join(err, e)
		}
		return err
	})
}
