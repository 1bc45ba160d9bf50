package estimator

import (
	"context"
	"unsafe"
)

// Block holds one vector a person, in chunks of persons: it grows without being copied, and the
// chunks are worked on by all cores. A block is dense or sparse as a whole; every chunk has the
// same form. Estimators write nothing in it. The order of persons means nothing.
//
// The values are grid indexes as everywhere in the core: person i's entry j is the sum of k(x_j)
// over the person's rows, within ±MaxUnits. Persons without a row are not in the block.
type Block struct {
	Dim    int
	Sparse bool
	Chunks []Chunk
	Memory Memory // for blocks and lists made of this one; nil: the Go heap
}

// Chunk is a run of persons.
//
//	dense    Dense[i*Dim : (i+1)*Dim] is person i's vector
//	sparse   person i has the entries Starts[i] to Starts[i+1]-1: coordinate Index[e] is Values[e], or 1 where
//	         Values is nil; all other coordinates are 0. A coordinate comes once, in ascending order.
//	packed   sparse, for vectors over groups: the groups in which person i has an entry are in Packed[Starts[i]:Starts[i+1]], as
//	         Packing says. A fifth of the memory, for estimators that read a person at a time (block.EachPerson)
type Chunk struct {
	Persons int
	Packed  []byte
	Packing *Packing
	Rows    []int64 // number of rows of each person, >= 1; nil: one each
	Dense   []int64
	Starts  []int
	Index   []int32
	Values  []int64
}

// Persons is the number of persons in the block.
func (b *Block) Persons() int64 {
	n := int64(0)
	for i := range b.Chunks {
		n += int64(b.Chunks[i].Persons)
	}
	return n
}

// Pairs holds what belongs to two at once: persons of two entities, two persons of one, or a person
// and a value. Entry i says that Weights[i] belongs to Left[i] and Right[i] together. A pair may
// come more than once: its weights add up. The order of the entries, and the numbers by which
// persons go, mean nothing. Estimators write nothing in it.
type Pairs struct {
	// how many there are of each, together below 2^31: Left[i] < Lefts, Right[i] < Rights
	Lefts, Rights int
	Left, Right   []uint32 // of equal length
	Weights       []int64  // within ±MaxUnits; nil: 1 each
	Counts        []int64  // numbers of results, where Weights are sums that a mean is made of
	Memory        Memory   // for what is made of them; nil: the Go heap
	// Context ends work that takes long: a release panics with its error then, as where Memory has
	// no room. nil: nothing ends it.
	Context context.Context
}

// Packing says what a packed chunk holds of a person: for each group, in order, how far it is
// behind the one before it, which is −1 before the first, then Numbers numbers, of which coordinate
// c of the group is number Of[c]; all as AppendNumber writes them.
type Packing struct {
	Numbers int
	Of      []int // one for each coordinate of a group
}

// AppendNumber appends a number in groups of seven bits, the lowest first, with the eighth bit set
// in all but the last; the sign is the lowest bit of all. Small numbers take a byte.
func AppendNumber(dst []byte, x int64) []byte {
	if u := uint64(x)<<1 ^ uint64(x>>63); u < 1<<7 {
		return append(dst, byte(u))
	}
	return appendLong(dst, x)
}

// MostBytes is the length of the longest number.
const MostBytes = 10

func appendLong(dst []byte, x int64) []byte {
	u := uint64(x)<<1 ^ uint64(x>>63)
	for ; u >= 1<<7; u >>= 7 {
		dst = append(dst, byte(u)|1<<7)
	}
	return append(dst, byte(u))
}

// Number reads a number that AppendNumber wrote, and returns what is behind it.
func Number(b []byte) (int64, []byte) {
	if c := b[0]; c < 1<<7 {
		return int64(c>>1) ^ -int64(c&1), b[1:]
	}
	return longNumber(b)
}

func longNumber(b []byte) (int64, []byte) {
	u := uint64(0)
	for shift, n := uint(0), 0; ; shift += 7 {
		c := b[n]
		n++
		if u |= uint64(c&(1<<7-1)) << shift; c < 1<<7 {
			return int64(u>>1) ^ -int64(u&1), b[n:]
		}
	}
}

// Skip returns what is behind a number.
func Skip(b []byte) []byte {
	n := 0
	for b[n] >= 1<<7 {
		n++
	}
	return b[n+1:]
}

// EachGroup calls visit for each group of person i of a packed chunk, in order, with its
// coordinates, which lie in x.
func (c *Chunk) EachGroup(i int, x []int64, visit func(g int, x []int64)) {
	var few [8]int64
	numbers := few[:min(len(few), c.Packing.Numbers)]
	if c.Packing.Numbers > len(few) {
		numbers = make([]int64, c.Packing.Numbers)
	}
	of := c.Packing.Of
	x = x[:len(of)]
	at, v := int64(-1), int64(0)
	for b := c.Packed[c.Starts[i]:c.Starts[i+1]]; len(b) > 0; {
		v, b = Number(b)
		at += v
		for k := range numbers {
			numbers[k], b = Number(b)
		}
		for k, n := range of {
			x[k] = numbers[n]
		}
		visit(int(at), x)
	}
}

// Memory is where numbers lie of which there are as many as persons or rows. How many these are is
// private, so nothing may fail because of it: a Memory is on disk where it is more than the server
// keeps in its own, and a mechanism asks it for everything whose size is not a public one. It is
// safe for concurrent use, and given back as a whole after the release; an Estimate holds none of
// it.
type Memory interface {
	// Take returns n zero bytes, aligned for words.
	Take(n int) ([]byte, error)
	// Free gives back what Take returned, before the rest. It is not used any more.
	Free([]byte)
}

// Make returns n zeros of a type without pointers from m; from the Go heap where m is nil, as in
// tests and benches. Where m has no room, which is a full disk, it panics with m's error: a
// mechanism has no answer then, and who runs it makes the panic the end of the release.
func Make[T any](m Memory, n int) []T {
	if m == nil || n == 0 {
		return make([]T, n)
	}
	var zero T
	b, err := m.Take(n * int(unsafe.Sizeof(zero)))
	if err != nil {
		panic(err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Free gives back what Make returned, the whole of it, before the rest of m.
func Free[T any](m Memory, x []T) {
	if m != nil && cap(x) > 0 {
		x = x[:cap(x)]
		m.Free(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(x[0]))))
	}
}

// Grow returns x with room for n more numbers, in memory from m where it has to be moved: for lists
// that are appended to. What it was in is given back.
func Grow[T any](m Memory, x []T, n int) []T {
	if cap(x)-len(x) >= n {
		return x
	}
	y := Make[T](m, max(len(x)+n, 2*cap(x), 16))[:len(x)]
	copy(y, x)
	Free(m, x)
	return y
}
