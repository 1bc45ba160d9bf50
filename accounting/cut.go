package accounting

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"scrim/accounting/internal/chain"
	"scrim/accounting/internal/state"
)

// cut is what the records up to one of them come to: what is counted on when they are not read.
type cut struct {
	end   chain.Mark
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
func (c cut) seal(k chain.Key, purpose string, to []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, c.end.ID)
	b = binary.BigEndian.AppendUint64(b, uint64(c.end.At.UnixNano()))
	b = append(append(b, c.end.Hash[:]...), c.state...)
	t := tagOf(k, purpose, to, b)
	return append(b, t[:]...)
}

// unseal is seal's inverse. The state is not decoded.
func unseal(k chain.Key, purpose string, to, b []byte) (c cut, err error) {
	const least = 8 + 8 + 2*len(chain.Sum{})
	if len(b) < least {
		return c, errSeal
	}
	body, tag := b[:len(b)-len(chain.Sum{})], b[len(b)-len(chain.Sum{}):]
	if want := tagOf(k, purpose, to, body); !hmac.Equal(tag, want[:]) {
		return c, errSeal
	}
	c.end.ID = binary.BigEndian.Uint64(body)
	c.end.At = time.Unix(0, int64(binary.BigEndian.Uint64(body[8:]))).UTC()
	c.end.Hash = chain.Sum(body[16:])
	if rest := body[16+len(chain.Sum{}):]; len(rest) > 0 {
		c.state = bytes.Clone(rest)
	}
	return c, nil
}

// tagOf is the keyed hash of bytes that are written for a purpose, and of what they are bound to.
func tagOf(k chain.Key, purpose string, to, b []byte) chain.Sum {
	derived := k.Derive(purpose)
	m := hmac.New(sha256.New, derived[:])
	m.Write(to)
	m.Write(b)
	return chain.Sum(m.Sum(nil))
}

// decode returns the state, which is the caller's own.
func (c cut) decode() (*state.State, error) {
	if c.state == nil {
		return state.New(), nil
	}
	s, err := state.Decode(c.state)
	if err == nil && s.LastID != c.end.ID {
		err = state.ErrState
	}
	return s, err
}
