package local

import (
	"encoding/binary"
	"math/bits"

	"scrim/engine/collect"
)

// values counts how often each value was reported, by binary response in one byte or by k-ary
// response in two.
type values struct {
	cell   collect.Cell
	size   int
	counts []uint64
}

func (v *values) add(payload []byte, times uint64) error {
	if len(payload) != v.size {
		return malformed(v.cell)
	}
	x := int(payload[0])
	if v.size == 2 {
		x = int(binary.BigEndian.Uint16(payload))
	}
	if x >= len(v.counts) {
		return malformed(v.cell)
	}
	v.counts[x] += times
	return nil
}

func (v *values) merge(other accumulator) { addTo(v.counts, other.(*values).counts) }

// signs sums ±1 for each index of Hadamard response: three bytes of index, and a byte of 1 for +1.
type signs struct {
	cell collect.Cell
	sums []int64
}

func (s *signs) add(payload []byte, times uint64) error {
	if len(payload) != 4 || payload[3] > 1 {
		return malformed(s.cell)
	}
	index := binary.BigEndian.Uint32(payload) >> 8
	if uint64(index) >= uint64(len(s.sums)) {
		return malformed(s.cell)
	}
	s.sums[index] += (2*int64(payload[3]) - 1) * int64(times)
	return nil
}

func (s *signs) merge(other accumulator) { addTo(s.sums, other.(*signs).sums) }

// moments sums the eight-byte reports of discrete Laplace, and their squares.
type moments struct {
	cell    collect.Cell
	sum     int64
	squares float64
}

func (m *moments) add(payload []byte, times uint64) error {
	if len(payload) != 8 {
		return malformed(m.cell)
	}
	x := int64(binary.BigEndian.Uint64(payload))
	if x != int64(int32(x)) {
		return malformed(m.cell)
	}
	m.sum += x * int64(times)
	m.squares += float64(x) * float64(x) * float64(times)
	return nil
}

func (m *moments) merge(other accumulator) {
	o := other.(*moments)
	m.sum += o.sum
	m.squares += o.squares
}

// coordinates sums the reports of discrete Gaussian, four bytes a coordinate.
type coordinates struct {
	cell collect.Cell
	sums []int64
}

func (c *coordinates) add(payload []byte, times uint64) error {
	if len(payload) != 4*len(c.sums) {
		return malformed(c.cell)
	}
	for i := range c.sums {
		c.sums[i] += int64(int32(binary.BigEndian.Uint32(payload[4*i:]))) * int64(times)
	}
	return nil
}

func (c *coordinates) merge(other accumulator) { addTo(c.sums, other.(*coordinates).sums) }

// ones counts how often each bit of a unary encoding was set. Up to 255 reports are counted eight
// bits at a time in the bytes of words, and then moved to counts.
type ones struct {
	cell   collect.Cell
	counts []uint64
	// of each byte of a report: eight counts, one a byte, the first bit in the lowest
	bytes []uint64
	held  int // reports in bytes
}

func newOnes(c collect.Cell) *ones {
	return &ones{cell: c, counts: make([]uint64, c.Domain), bytes: make([]uint64, (c.Domain+7)/8)}
}

// spread has, for each byte, its bits in the bytes of a word: bit 7 in the lowest.
var spread = func() (table [256]uint64) {
	for b := range table {
		for i := range 8 {
			table[b] |= uint64(b) >> (7 - i) & 1 << (8 * i)
		}
	}
	return table
}()

func (o *ones) add(payload []byte, times uint64) error {
	if len(payload) != len(o.bytes) || len(payload) > 0 && payload[len(payload)-1]&o.padding() != 0 {
		return malformed(o.cell)
	}
	if times != 1 {
		o.addMany(payload, times)
		return nil
	}
	for i, b := range payload {
		o.bytes[i] += spread[b]
	}
	if o.held++; o.held == 255 {
		o.flush()
	}
	return nil
}

// padding has the bits of the last byte that stand for no value.
func (o *ones) padding() byte { return byte(1)<<(8*len(o.bytes)-len(o.counts)) - 1 }

func (o *ones) addMany(payload []byte, times uint64) {
	for i, b := range payload {
		for ; b != 0; b &= b - 1 {
			o.counts[8*i+7-bits.TrailingZeros8(b)] += times
		}
	}
}

// flush moves what bytes holds to counts.
func (o *ones) flush() {
	for i := range o.counts {
		o.counts[i] += o.bytes[i/8] >> (8 * (i % 8)) & 0xff
	}
	clear(o.bytes)
	o.held = 0
}

func (o *ones) merge(other accumulator) {
	from := other.(*ones)
	o.flush()
	from.flush()
	addTo(o.counts, from.counts)
}

// addTo adds src to dst; the lengths are equal.
func addTo[T int64 | uint64 | float64](dst, src []T) {
	for i, x := range src {
		dst[i] += x
	}
}
