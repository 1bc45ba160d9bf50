package chain

import (
	"encoding/binary"
	"errors"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
)

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
