package estimator

import "math"

// AppendEntry appends an entry of a packed chunk: how far its coordinate is behind the one before it, which is −1 before the first, and its value.
// Both are written in groups of seven bits, the lowest first, with the eighth bit set in all but the last; the sign of a value is its lowest bit. Small numbers
// take a byte each.
func AppendEntry(dst []byte, gap uint32, value int64) []byte {
	return AppendNumber(appendBits(dst, uint64(gap)), value)
}

// AppendNumber appends a number as AppendEntry does a value.
func AppendNumber(dst []byte, x int64) []byte { return appendBits(dst, uint64(x)<<1^uint64(x>>63)) }

// MostBytes is the length of the longest number.
const MostBytes = 10

// appendBits and readBits are small enough to become part of their callers' loops; what is longer than a byte is for others.
func appendBits(dst []byte, u uint64) []byte {
	if u < 1<<7 {
		return append(dst, byte(u))
	}
	return appendLong(dst, u)
}

func appendLong(dst []byte, u uint64) []byte {
	for ; u >= 1<<7; u >>= 7 {
		dst = append(dst, byte(u)|1<<7)
	}
	return append(dst, byte(u))
}

// Number reads a number that AppendNumber wrote, and returns what is behind it.
func Number(b []byte) (int64, []byte) {
	u, n := readBits(b)
	return int64(u>>1) ^ -int64(u&1), b[n:]
}

func readBits(b []byte) (u uint64, n int) {
	if b[0] < 1<<7 {
		return uint64(b[0]), 1
	}
	return readLong(b)
}

func readLong(b []byte) (u uint64, n int) {
	for shift := uint(0); ; shift += 7 {
		c := b[n]
		n++
		if u |= uint64(c&(1<<7-1)) << shift; c < 1<<7 {
			return u, n
		}
	}
}

// Unpack appends the coordinates and the values of person i of a packed chunk.
func (c *Chunk) Unpack(i int, index []int32, values []int64) ([]int32, []int64) {
	at := int32(-1)
	for b := c.Packed[c.Starts[i]:c.Starts[i+1]]; len(b) > 0; {
		gap, n := readBits(b)
		var v int64
		v, b = Number(b[n:])
		at += int32(min(gap, math.MaxInt32))
		index, values = append(index, at), append(values, v)
	}
	return index, values
}
