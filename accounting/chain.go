package accounting

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"scrim/accounting/internal/codec"
)

// sum is a SHA-256 value, keyed or not.
type sum = [sha256.Size]byte

// chainer computes the hashes of the chain: HMAC-SHA256 with the ledger's key. It is not safe for
// concurrent use.
type chainer struct {
	mac  hash.Hash
	head [len(sum{}) + 8]byte
	out  []byte
}

func newChainer(k key) *chainer { return &chainer{mac: hmac.New(sha256.New, k[:])} }

// next returns the hash of a record: over the hash before it, its number and its payload.
func (c *chainer) next(previous *sum, id uint64, payload []byte) sum {
	copy(c.head[:], previous[:])
	binary.BigEndian.PutUint64(c.head[len(sum{}):], id)
	c.mac.Reset()
	c.mac.Write(c.head[:])
	c.mac.Write(payload)
	c.out = c.mac.Sum(c.out[:0])
	return sum(c.out)
}

// genesis is the hash before the first record: it ties the chain to format and directory.
func (c *chainer) genesis(directoryID string) sum {
	return c.next(&sum{}, 0, codec.AppendText(codec.AppendText(nil, format), directoryID))
}

// derive returns the key for another purpose. The purposes are shorter than any message of the
// chain, so none is one.
func (k key) derive(purpose string) key {
	m := hmac.New(sha256.New, k[:])
	m.Write([]byte(purpose))
	return key(m.Sum(nil))
}
