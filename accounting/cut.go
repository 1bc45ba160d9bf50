package accounting

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
)

// cut is what the records up to one of them come to: what is counted on when they are not read.
type cut struct {
	end   mark
	state []byte // encoded; nil: nothing is spent and no budget is set
}

// errSeal says that sealed bytes were not written with the ledger's key, or for another purpose.
var errSeal = errors.New("the seal does not match")

// What cuts are sealed for: one is never taken for the other.
const (
	baseSeal       = "ledger base"
	checkpointSeal = "ledger checkpoint"
)

// seal encodes the cut with a keyed hash over all of it, and over what it is bound to, which is of
// one length for each purpose:
//
//	record u64, unix nanos i64, hash [32], state, hash [32]
func (c cut) seal(k key, purpose string, to []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, c.end.id)
	b = binary.BigEndian.AppendUint64(b, uint64(c.end.at.UnixNano()))
	b = append(append(b, c.end.hash[:]...), c.state...)
	t := tagOf(k, purpose, to, b)
	return append(b, t[:]...)
}

// unseal is seal's inverse. The state is not decoded.
func unseal(k key, purpose string, to, b []byte) (c cut, err error) {
	const least = 8 + 8 + 2*len(sum{})
	if len(b) < least {
		return c, errSeal
	}
	body, tag := b[:len(b)-len(sum{})], b[len(b)-len(sum{}):]
	if want := tagOf(k, purpose, to, body); !hmac.Equal(tag, want[:]) {
		return c, errSeal
	}
	c.end.id = binary.BigEndian.Uint64(body)
	c.end.at = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:]))).UTC()
	c.end.hash = sum(body[16:])
	if rest := body[16+len(sum{}):]; len(rest) > 0 {
		c.state = bytes.Clone(rest)
	}
	return c, nil
}

// tagOf is the keyed hash of bytes that are written for a purpose, and of what they are bound to.
func tagOf(k key, purpose string, to, b []byte) sum {
	derived := k.derive(purpose)
	m := hmac.New(sha256.New, derived[:])
	m.Write(to)
	m.Write(b)
	return sum(m.Sum(nil))
}

// decode returns the state, which is the caller's own.
func (c cut) decode() (*state, error) {
	if c.state == nil {
		return newState(), nil
	}
	s, err := decodeState(c.state)
	if err == nil && s.lastID != c.end.id {
		err = errState
	}
	return s, err
}

// beginning is the cut before the first record of all.
func (l *Ledger) beginning() cut {
	return cut{end: mark{at: time.Unix(0, 0).UTC(), hash: l.chain.genesis(l.directory)}}
}

// baseOf returns the cut at which the records of the file begin: what the archived ones come to, or
// the beginning where none are.
func (l *Ledger) baseOf(sealed []byte) (cut, error) {
	if sealed == nil {
		return l.beginning(), nil
	}
	c, err := unseal(l.key, baseSeal, nil, sealed)
	if err != nil {
		return c, errors.New("what its archived records come to is not what was written")
	}
	if c.end.id > 0 && (c.end.id+1)%blockSize != 0 {
		return c, errState
	}
	_, err = c.decode()
	return c, err
}
