package chain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"scrim/accounting/internal/codec"
)

// Sum is a SHA-256 value, keyed or not.
type Sum = [sha256.Size]byte

// Chainer computes the hashes of the chain: HMAC-SHA256 with the ledger's key. It is not safe for
// concurrent use.
type Chainer struct {
	mac  hash.Hash
	head [len(Sum{}) + 8]byte
	out  []byte
}

func New(k Key) *Chainer { return &Chainer{mac: hmac.New(sha256.New, k[:])} }

// Next returns the hash of a record: over the hash before it, its number and its payload.
func (c *Chainer) Next(previous *Sum, id uint64, payload []byte) Sum {
	copy(c.head[:], previous[:])
	binary.BigEndian.PutUint64(c.head[len(Sum{}):], id)
	c.mac.Reset()
	c.mac.Write(c.head[:])
	c.mac.Write(payload)
	c.out = c.mac.Sum(c.out[:0])
	return Sum(c.out)
}

// Genesis is the hash before the first record: it ties the chain to format and directory.
func (c *Chainer) Genesis(directoryID string) Sum {
	return c.Next(&Sum{}, 0, codec.AppendText(codec.AppendText(nil, Format), directoryID))
}

// Derive returns the key for another purpose. The purposes are shorter than any message of the
// chain, so none is one.
func (k Key) Derive(purpose string) Key {
	m := hmac.New(sha256.New, k[:])
	m.Write([]byte(purpose))
	return Key(m.Sum(nil))
}

// Key is what the chain's hashes are made with.
type Key [32]byte

// RecordKey is a record's key in the file.
func RecordKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// Records holds the records by their number: the hash of each, and then its payload.
var Records = []byte("records")

// Format names the layout. A program that changes the layout changes the number.
const Format = "scrim ledger 3"

// ArchivedFormat is that of a file whose first records are in an archive: it says under baseKey
// what they come to. The chain is the same, and begins with the name of the other format.
const ArchivedFormat = "scrim ledger 4"

// RenewedFormat is that of a file, with an archive or without, that has charges which renew others,
// which earlier programs would take for damage. The chain is the same.
const RenewedFormat = "scrim ledger 5"

// keyMode is who may read the key: its owner alone.
const FileMode = 0o600
