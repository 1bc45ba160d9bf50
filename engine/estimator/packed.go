package estimator

import (
	"encoding/binary"
	"math/bits"
)

// Packing says what a packed chunk holds of a person: for each group, in order, how far it is behind the one before it, which is −1 before the
// first, as AppendNumber writes it, and Numbers numbers, of which coordinate c of the group is number Of[c], as AppendNumbers writes them.
type Packing struct {
	Numbers int
	Of      []int // one for each coordinate of a group
}

// AppendNumber appends a number: one of −64 to 63 as a byte of 0 to 127, others in groups of seven bits, the lowest first, with the eighth bit
// set in all but the last; the sign is the lowest bit of all.
func AppendNumber(dst []byte, x int64) []byte {
	if u := uint64(x + zero); u < 1<<7 {
		return append(dst, byte(u))
	}
	return appendLong(dst, x)
}

// MostBytes is the length of the longest number. A list with room for as many bytes is not moved when a number is appended.
const MostBytes = 10

// zero is the byte that 0 is.
const zero = 1 << 6

// appendLong spreads the groups of a number of up to 56 bits over the bytes of a word. Behind the number it writes what
// is overwritten next, or not read.
func appendLong(dst []byte, x int64) []byte {
	u := uint64(x)<<1 ^ uint64(x>>63)
	if u < 1<<56 {
		n := (bits.Len64(u) + 6) / 7
		u = u&(1<<28-1) | u>>28<<32
		u = u&0x00003fff00003fff | u<<2&0x3fff00003fff0000
		u = u&0x007f007f007f007f | u<<1&0x7f007f007f007f00
		u |= 0x8080808080808080 & (1<<(8*n-8) - 1)
		return binary.LittleEndian.AppendUint64(dst, u)[:len(dst)+n]
	}
	for ; u >= 1<<7; u >>= 7 {
		dst = append(dst, byte(u)|1<<7)
	}
	return append(dst, byte(u))
}

// Number reads a number that AppendNumber wrote, and tells how many bytes it is.
func Number(b []byte) (x int64, size int) {
	if b[0] < 1<<7 {
		return int64(b[0]) - zero, 1
	}
	return longNumber(b)
}

// longNumber gathers the groups of a number of up to 56 bits from a word at once.
func longNumber(b []byte) (x int64, size int) {
	if len(b) >= 8 {
		u := binary.LittleEndian.Uint64(b)
		if end := ^u & 0x8080808080808080; end != 0 {
			n := bits.TrailingZeros64(end)/8 + 1
			u &= 0x7f7f7f7f7f7f7f7f & (1<<(8*n) - 1)
			u = u&0x007f007f007f007f | u&0x7f007f007f007f00>>1
			u = u&0x00003fff00003fff | u&0x3fff00003fff0000>>2
			u = u&(1<<28-1) | u>>32<<28
			return int64(u>>1) ^ -int64(u&1), n
		}
	}
	u := uint64(0)
	for shift, n := uint(0), 0; ; shift += 7 {
		c := b[n]
		n++
		if u |= uint64(c&(1<<7-1)) << shift; c < 1<<7 {
			return int64(u>>1) ^ -int64(u&1), n
		}
	}
}

// Unpack reads all numbers of a list to the front of another, and returns the rest of that.
func Unpack(b []byte, to []int64) []int64 {
	for len(b) > 0 {
		if b[0] < 1<<7 { // as Number has it
			to[0], b = int64(b[0])-zero, b[1:]
		} else {
			x, n := longNumber(b)
			to[0], b = x, b[n:]
		}
		to = to[1:]
	}
	return to
}

// Skip returns the size of a number.
func Skip(b []byte) int {
	n := 0
	for b[n] >= 1<<7 {
		n++
	}
	return n + 1
}

// mostOnes is how many numbers may be told to be 1 by a bit: rows are counted, and most are one.
const mostOnes = 8

// AppendNumbers appends numbers: a byte whose bit c is set where number c is 1, and the others.
func AppendNumbers(dst []byte, x []int64) []byte {
	at, ones := len(dst), byte(0)
	dst = append(dst, 0)
	for c, v := range x {
		if v == 1 && c < mostOnes {
			ones |= 1 << c
		} else {
			dst = AppendNumber(dst, v)
		}
	}
	dst[at] = ones
	return dst
}

// Numbers reads numbers that AppendNumbers wrote, and tells how many bytes they are.
func Numbers(b []byte, x []int64) (size int) {
	ones := b[0]
	size = 1
	for c := range x {
		switch {
		case ones&1 != 0:
			x[c] = 1
		case b[size] < 1<<7: // as Number has it, which is not inlined
			x[c] = int64(b[size]) - zero
			size++
		default:
			v, n := longNumber(b[size:])
			x[c], size = v, size+n
		}
		ones >>= 1
	}
	return size
}

// SkipNumbers returns the size of so many numbers.
func SkipNumbers(b []byte, numbers int) int {
	size := 1
	for range numbers - bits.OnesCount8(b[0]) {
		size += Skip(b[size:])
	}
	return size
}

// Zeros tells whether all of the numbers in b are 0.
func Zeros(b []byte) bool {
	if b[0] != 0 {
		return false
	}
	for _, c := range b[1:] {
		if c != zero {
			return false
		}
	}
	return true
}

// EachGroup calls visit for each group of person i of a packed chunk, in order, with its coordinates, which lie in x.
func (c *Chunk) EachGroup(i int, x []int64, visit func(g int, x []int64)) {
	var few [8]int64
	numbers := few[:min(len(few), c.Packing.Numbers)]
	if c.Packing.Numbers > len(few) {
		numbers = make([]int64, c.Packing.Numbers)
	}
	of := c.Packing.Of
	x = x[:len(of)]
	at := int64(-1)
	for b := c.Packed[c.Starts[i]:c.Starts[i+1]]; len(b) > 0; {
		gap, n := Number(b)
		at += gap
		n += Numbers(b[n:], numbers)
		for k, m := range of {
			x[k] = numbers[m]
		}
		visit(int(at), x)
		b = b[n:]
	}
}
