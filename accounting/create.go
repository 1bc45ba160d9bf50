package accounting

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"scrim/accounting/internal/chain"
	"scrim/internal/durable"
)

// create makes an empty ledger at path, complete or not at all: its key first, then its mark, then
// the file, under another name first. A mark that is there already says whether there was a ledger
// before.
func create(path string, o Options) error {
	k, err := makeKey(path + KeySuffix)
	if err == nil {
		err = createMark(path, k, o)
	}
	if err == nil {
		err = createFile(path, k, o)
	}
	if err == nil || errors.Is(err, ErrKey) || errors.Is(err, ErrMissing) || errors.Is(err, ErrOlder) {
		return err
	}
	return fmt.Errorf("accounting: creating %s: %w", path, err)
}

func createMark(path string, k chain.Key, o Options) error {
	c := chain.New(k.Derive("mark"))
	first := chain.Mark{At: time.Unix(0, 0).UTC(), Hash: chain.New(k).Genesis(o.DirectoryID)}
	if err := placeFile(path+MarkSuffix, first.Encode(c)); err != nil {
		return err
	}
	m, err := readMark(path+MarkSuffix, c)
	if err == nil && m.ID > 0 {
		err = fmt.Errorf("%w: %s, of which %s has %d records. %s", ErrMissing, path, path+MarkSuffix, m.ID, repairMissing)
	}
	return err
}

func createFile(path string, k chain.Key, o Options) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	name := f.Name()
	defer os.Remove(name)
	if err = f.Close(); err != nil {
		return err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{Timeout: o.LockTimeout})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error { return empty(tx, k, o.DirectoryID) })
	if e := db.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	// A link fails where the name is taken, so a ledger that another process has just made is not
	// replaced: it is opened, and verified, like any other.
	if err = os.Link(name, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.SyncDir(dir)
}

// empty makes the buckets of a ledger without records.
func empty(tx *bolt.Tx, k chain.Key, directoryID string) error {
	for _, b := range [][]byte{metaBucket, chain.Records, answersBucket, orderBucket} {
		if _, err := tx.CreateBucket(b); err != nil {
			return err
		}
	}
	m, check := tx.Bucket(metaBucket), k.Derive("check")
	first := chain.Head{Mark: chain.Mark{At: time.Unix(0, 0).UTC(), Hash: chain.New(k).Genesis(directoryID)}}
	return errors.Join(
		m.Put(formatKey, []byte(chain.Format)),
		m.Put(directoryKey, []byte(directoryID)),
		m.Put(checkKey, check[:]),
		m.Put(headKey, first.Encode()))
}
