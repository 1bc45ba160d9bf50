package chain

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"encoding/hex"
	"time"
)

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
