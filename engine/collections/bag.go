package collections

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"scrim/engine/collect"
	"scrim/engine/collect/seal"
)

// bagSum is a sum of SHA-256 of sealed messages modulo 2^256: it depends neither on their order nor
// on how a bag is cut into parts. Whoever finds two bags of one sum has found out how to have a
// batch of their own refused.
type bagSum [4]uint64

// add adds every message of a bag, or of a part of it.
func (s *bagSum) add(sealed []byte) {
	for ; len(sealed) >= seal.SealedSize; sealed = sealed[seal.SealedSize:] {
		h := sha256.Sum256(sealed[:seal.SealedSize])
		s.plus(h[:])
	}
}

// plus adds 32 bytes.
func (s *bagSum) plus(b []byte) {
	carry := uint64(0)
	for i := range s {
		s[i], carry = bits.Add64(s[i], binary.LittleEndian.Uint64(b[8*i:]), carry)
	}
}

func (s *bagSum) bytes() []byte {
	var b []byte
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// hash finishes the sum with the number of messages.
func (s *bagSum) hash(messages uint64) [32]byte {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(s.bytes(), messages))
}

// sift keeps the messages of a batch's cell that a device could have made. The slice is used again.
func sift(p *collect.Params, cell uint32, messages []byte) []byte {
	kept := messages[:0]
	for ; len(messages) >= seal.PlainSize; messages = messages[seal.PlainSize:] {
		if m := collect.Message(messages[:seal.PlainSize]); p.CheckMessageOf(cell, m) == nil {
			kept = append(kept, m[:]...)
		}
	}
	return kept
}
