package shuffler

import (
	"encoding/binary"
	"fmt"
)

// place is where a token reports: a cell of a stratum of a round of a collection. Each has its own
// batches.
type place struct {
	collection uint32 // number, in the order of first pins
	round      uint8
	stratum    uint16 // in the declaration's list; 0 where there is none
	cell       uint32
}

const placeSize = 4 + 1 + 2 + 4

// key is the place in the order of its parts.
func (p place) key() []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, placeSize+4), p.collection)
	b = binary.BigEndian.AppendUint16(append(b, p.round), p.stratum)
	return binary.BigEndian.AppendUint32(b, p.cell)
}

// placeOf reads a key.
func placeOf(b []byte) place {
	return place{binary.BigEndian.Uint32(b), b[4], binary.BigEndian.Uint16(b[5:]), binary.BigEndian.Uint32(b[7:])}
}

// file names a batch's files, without their suffix.
func (p place) file(batch uint32) string {
	return fmt.Sprintf("%d-%d-%d-%d-%d", p.collection, p.round, p.stratum, p.cell, batch)
}

// batchKey is the key of a batch's record.
func batchKey(p place, batch uint32) []byte { return binary.BigEndian.AppendUint32(p.key(), batch) }
