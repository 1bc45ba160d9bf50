package shuffler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
	"scrim/internal/durable"
)

// bucketBundles is the one bucket of a batch's file: SHA-256(token) -> SHA-256(token | bundle),
// sealed messages. Its sequence is the number of its entries.
var bucketBundles = []byte("bundles")

// batch is a batch whose bundles are there.
type batch struct {
	number uint32
	path   string // without a suffix
	db     *bolt.DB
	n      uint64 // reports
}

// openBatch opens a batch's file, or makes it. Its name is durable before anything is in it.
func (s *Shuffler) openBatch(p place, number uint32) (*batch, error) {
	b := &batch{number: number, path: filepath.Join(s.dir, batchesDir, p.file(number))}
	var err error
	if b.db, err = openBolt(b.path + suffixStore); err != nil {
		return nil, err
	}
	err = b.db.Update(func(tx *bolt.Tx) error {
		bundles, err := tx.CreateBucketIfNotExists(bucketBundles)
		if err == nil {
			b.n = bundles.Sequence()
		}
		return err
	})
	if err == nil {
		err = durable.SyncDir(filepath.Dir(b.path))
	}
	if err != nil {
		b.db.Close()
		return nil, err
	}
	return b, nil
}

// digest returns what a token brought to the batch; nil if nothing.
func (b *batch) digest(hash [32]byte) (digest []byte) {
	_ = b.db.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket(bucketBundles).Get(hash[:]); v != nil {
			digest = bytes.Clone(v[:sha256.Size])
		}
		return nil
	})
	return digest
}

// add puts in the bundles of tokens that are not there, as many as there is room for, and returns
// how many of the list it has looked at. Those whose token is there with another digest get an
// error in answers. All of it is one transaction.
func (b *batch) add(list []*request, room uint64) (looked int, err error) {
	added := uint64(0)
	err = b.db.Update(func(tx *bolt.Tx) error {
		bundles := tx.Bucket(bucketBundles)
		looked, added = 0, 0
		for _, r := range list {
			if v := bundles.Get(r.hash[:]); v != nil {
				r.answer = sameDigest(v[:sha256.Size], r.digest)
			} else if added == room {
				break
			} else {
				added++
				if err := bundles.Put(r.hash[:], append(r.digest[:], r.sealed...)); err != nil {
					return err
				}
			}
			looked++
		}
		return bundles.SetSequence(b.n + added)
	})
	if err == nil {
		b.n += added
	}
	return looked, err
}

// each calls f for every token, in the order of hashes.
func (b *batch) each(f func(hash, sealed []byte) error) error {
	return b.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketBundles).ForEach(func(k, v []byte) error { return f(k, v[sha256.Size:]) })
	})
}

// erase closes and deletes the batch's files.
func (b *batch) erase() error {
	err := b.db.Close()
	for _, suffix := range []string{suffixBag, suffixStore} {
		err = errors.Join(err, durable.Remove(b.path+suffix))
	}
	return errors.Join(err, durable.SyncDir(filepath.Dir(b.path)))
}

// writeBag permutes the batch's messages into its bag, durably. most bounds the messages of one
// bundle.
func (s *Shuffler) writeBag(b *batch, most int) (messages uint64, digest []byte, err error) {
	piles, err := newScatter(exact.Secure(), filepath.Dir(b.path), int64(b.n)*int64(most)*int64(seal.SealedSize), s.memory)
	if err != nil {
		return 0, nil, err
	}
	defer piles.close()
	if err := b.each(func(_, sealed []byte) error {
		messages += uint64(len(sealed) / seal.SealedSize)
		return piles.add(sealed)
	}); err != nil {
		return 0, nil, err
	}
	h := sha256.New()
	err = durable.Replace(b.path+suffixBag, 0o600, func(w io.Writer) error { return piles.writeTo(io.MultiWriter(w, h)) })
	if err != nil {
		return 0, nil, err
	}
	return messages, h.Sum(nil), nil
}

// checkBag compares a bag on disk with what was recorded of it. A bag that changed is not sent: the
// server would have parts of two.
func checkBag(path string, r Record) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	if uint64(n) != r.Messages*uint64(seal.SealedSize) || !bytes.Equal(h.Sum(nil), r.Digest) {
		return fmt.Errorf("shuffler: the bag %s is damaged: SHA-256 is %s, want %s", path, hex.EncodeToString(h.Sum(nil)), hex.EncodeToString(r.Digest))
	}
	return nil
}
