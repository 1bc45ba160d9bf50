// Package chain is the chain of the ledger's records: the key and the hashes that are made with it,
// where a chain ends, and how the ledger's mark and head say so. It opens no files.
package chain

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"time"

	"scrim/accounting/budget"
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

// Head is what the file says of its end: the last record, and the day.
type Head struct {
	Mark
	Day budget.Date
}

// Encode returns the head as DecodeHead reads it.
func (h Head) Encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, h.ID)
	b = append(b, h.Hash[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(h.Day))
	return binary.BigEndian.AppendUint64(b, uint64(h.At.UnixNano()))
}

// DecodeHead reads what Head.Encode wrote; anything else is an error.
func DecodeHead(b []byte) (Head, error) {
	d := codec.NewDecoder(b)
	h := Head{Mark: Mark{ID: d.Uint64()}}
	copy(h.Hash[:], d.Take(uint64(len(Sum{}))))
	h.Day, h.At = budget.Date(d.Uint32()), time.Unix(0, int64(d.Uint64())).UTC()
	if d.Bad || d.Left() {
		return Head{}, errors.New("the head does not decode")
	}
	return h, nil
}

// Mark is a high-water mark: the last record that is known to have been durable. It is kept beside
// the ledger, in a file of its own, so that an older copy of the ledger that is put back there is
// noticed.
type Mark struct {
	ID   uint64
	At   time.Time // of the record
	Hash Sum
}

// markSize is the size of the file, within one sector: id, nanoseconds and hash, then the keyed
// hash of these, in hexadecimal. A change of this form must raise Format. The ledger's format is
// checked first; a mark that does not decode would be taken for that of an older copy.
const markSize = 2*(8+8+2*len(Sum{})) + 1

// Encode returns the text of the mark, authenticated with c's key.
func (m Mark) Encode(c *Chainer) []byte {
	b := binary.BigEndian.AppendUint64(nil, m.ID)
	b = binary.BigEndian.AppendUint64(b, uint64(m.At.UnixNano()))
	b = append(b, m.Hash[:]...)
	t := c.Next(&Sum{}, m.ID, b)
	return append(hex.AppendEncode(nil, append(b, t[:]...)), '\n')
}

// DecodeMark reads the text of a mark; ok is false where it is none, or not made with c's key.
func DecodeMark(text []byte, c *Chainer) (m Mark, ok bool) {
	b, err := hex.DecodeString(string(bytes.TrimSuffix(text, []byte("\n"))))
	if err != nil || len(text) != markSize {
		return m, false
	}
	body, t := b[:16+len(Sum{})], b[16+len(Sum{}):]
	m.ID = binary.BigEndian.Uint64(body)
	if want := c.Next(&Sum{}, m.ID, body); !hmac.Equal(t, want[:]) {
		return Mark{}, false
	}
	m.At = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:]))).UTC()
	return Mark{m.ID, m.At, Sum(body[16:])}, true
}
