package block

import (
	"math/bits"
	"sync"

	"scrim/engine/estimator"
)

// rotateBits bounds the entries of a rotated block: within ±2^61, for which every pass has room: a
// difference of two is within ±2^62.
const rotateBits = 61

// Padded is the dimension of a rotated vector: the least power of two that is at least dim.
func Padded(dim int) int { return 1 << bits.Len(uint(dim-1)) }

// Coarse is the number of bits by which entries are shortened before a rotation: the least k with
// Padded(dim)·bound/2^k ≤ 2^61, where bound > 0 is the public bound on an entry's absolute value.
// With bound = MaxUnits it is 0 up to dimension 2048.
func Coarse(dim int, bound int64) uint {
	limit := int64(1) << (rotateBits - bits.Len(uint(dim-1)))
	k := uint(0)
	for (bound-1)>>k >= limit {
		k++
	}
	return k
}

// Rotate returns the block of the vectors H·diag(ε)·x, where H is the Hadamard matrix of order
// Padded(Dim) in Sylvester's form, with entries ±1, x is filled up with zeros, and ε_j is −1 where
// signs[j] is set. These are integers, so nothing is lost: norms grow by √Padded(Dim) exactly, the
// public range of a coordinate to ±Padded(Dim)·bound. It is a map of one person at a time, for
// signs that are drawn without a look at the data; privacy does not rest on them.
//
// Entries are clamped to ±bound, the public bound on their absolute value, and counted in units of
// 2^k with k = Coarse(Dim, bound), rounded half to even: so the results are within ±2^61. b is
// dense; it is not changed, and Rows are not kept (see Means).
//
// Cost: one more block, of Padded(Dim) entries a person, and Padded(Dim)·log2 Padded(Dim) additions
// each. Give the block to Done after use: fresh memory takes longer than the additions.
//
// Source: [HLY21] Section 3.3, on the integer grid as in its Remark 1.
func Rotate(b *estimator.Block, signs []bool, bound int64) *estimator.Block {
	dim, k := Padded(b.Dim), Coarse(b.Dim, bound)
	flip := make([]int64, b.Dim)
	for j := range flip {
		if signs[j] {
			flip[j] = -1
		}
	}
	rs := runs(b)
	out := &estimator.Block{Dim: dim, Chunks: make([]estimator.Chunk, len(rs)), Memory: b.Memory}
	spread(len(rs), func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			persons := rs[i].to - rs[i].from
			y := room(b.Memory, persons*dim)
			out.Chunks[i] = estimator.Chunk{Persons: persons, Dense: y}
			for x := rs[i].rows(b.Dim); len(x) > 0; x, y = x[b.Dim:], y[dim:] {
				rotateTo(y[:dim], x[:b.Dim], flip, bound, k)
			}
		}
	})
	return out
}

// rotateTo sets y to the rotated vector x.
func rotateTo(y, x, flip []int64, bound int64, k uint) {
	if k > 0 || len(x) < 8 {
		clear(y[signedTo(y, x, flip, bound):])
		shorten(y, k)
		hadamard(y)
		return
	}
	n := len(x) &^ 7
	for j := 0; j < n; j += 8 {
		signed8((*[8]int64)(y[j:]), (*[8]int64)(x[j:]), (*[8]int64)(flip[j:]), bound)
	}
	if n < len(y) {
		rest := y[n:]
		clear(rest[signedTo(rest, x[n:], flip[n:], bound):])
		if n < len(x) {
			hadamard8((*[8]int64)(rest))
		}
	}
	hadamardFrom(y, 8)
}

// rooms holds the memory of blocks that are done with, until the next garbage collection.
var rooms sync.Pool

// room returns room for n entries, not cleared.
func room(m estimator.Memory, n int) []int64 {
	if m != nil {
		return estimator.Make[int64](m, n)
	}
	if r, ok := rooms.Get().(*[]int64); ok && cap(*r) >= n {
		return (*r)[:n]
	}
	return make([]int64, n)
}

// Done gives back the memory of a block that came from Rotate and is not read any more.
func Done(b *estimator.Block) {
	for i := range b.Chunks {
		if b.Memory != nil {
			estimator.Free(b.Memory, b.Chunks[i].Dense)
		} else {
			rooms.Put(&b.Chunks[i].Dense)
		}
	}
}

// Unrotate turns a vector of Padded(dim) coordinates back: the first dim entries of
// (1/Padded(dim))·diag(ε)·H·y, the inverse of Rotate for the same signs. It is exact while the
// entries of H·y are integers within ±2^53. What was shortened by Coarse bits stays so.
func Unrotate(y []float64, dim int, signs []bool) []float64 {
	x := append([]float64(nil), y...)
	hadamard(x)
	scale := 1 / float64(len(x))
	x = x[:dim]
	for j := range x {
		x[j] *= scale
		if signs[j] {
			x[j] = -x[j]
		}
	}
	return x
}

// signedTo sets the first entries of dst to those of x, clamped to ±bound, with the sign changed
// where flip is −1, and returns their number.
func signedTo(dst, x, flip []int64, bound int64) int {
	dst, flip = dst[:len(x)], flip[:len(x)]
	for j, v := range x {
		dst[j] = signed(v, flip[j], bound)
	}
	return len(x)
}

func signed(v, flip, bound int64) int64 { return min(max(v, -bound), bound) ^ flip - flip }

// signed8 is signedTo and hadamard8 for eight neighbours, without a way through memory in between.
func signed8(y, x, flip *[8]int64, bound int64) {
	p, q := signed(x[0], flip[0], bound), signed(x[1], flip[1], bound)
	a, b := p+q, p-q
	p, q = signed(x[2], flip[2], bound), signed(x[3], flip[3], bound)
	c, d := p+q, p-q
	a, b, c, d = a+c, b+d, a-c, b-d
	p, q = signed(x[4], flip[4], bound), signed(x[5], flip[5], bound)
	e, f := p+q, p-q
	p, q = signed(x[6], flip[6], bound), signed(x[7], flip[7], bound)
	g, h := p+q, p-q
	e, f, g, h = e+g, f+h, e-g, f-h
	y[0], y[1], y[2], y[3] = a+e, b+f, c+g, d+h
	y[4], y[5], y[6], y[7] = a-e, b-f, c-g, d-h
}

// shorten divides by 2^k and rounds half to even.
func shorten(x []int64, k uint) {
	if k == 0 {
		return
	}
	half := int64(1) << (k - 1)
	for j, v := range x {
		q := v >> k
		if r := v - q<<k; r > half || r == half && q&1 == 1 {
			q++
		}
		x[j] = q
	}
}

// hadamard multiplies x, of a power of two in length, by the matrix of entries ±1 in Sylvester's
// form: log2 rounds of sums and differences of pairs, of which it makes three, two or one at a
// time.
func hadamard[T int64 | float64](x []T) {
	h := 1
	if len(x) >= 8 {
		for y := x; len(y) >= 8; y = y[8:] {
			hadamard8((*[8]T)(y))
		}
		h = 8
	}
	hadamardFrom(x, h)
}

// hadamardFrom does the rounds that are left after those on runs of h neighbours.
func hadamardFrom[T int64 | float64](x []T, h int) {
	for ; 4*h <= len(x); h *= 4 {
		for y := x; len(y) >= 4*h; y = y[4*h:] {
			butterfly4(y[:h], y[h:2*h], y[2*h:3*h], y[3*h:4*h])
		}
	}
	if 2*h <= len(x) {
		butterfly2(x[:h], x[h:])
	}
}

// hadamard8 does three rounds on eight neighbours.
func hadamard8[T int64 | float64](x *[8]T) {
	a, b, c, d := x[0]+x[1], x[0]-x[1], x[2]+x[3], x[2]-x[3]
	e, f, g, h := x[4]+x[5], x[4]-x[5], x[6]+x[7], x[6]-x[7]
	a, b, c, d = a+c, b+d, a-c, b-d
	e, f, g, h = e+g, f+h, e-g, f-h
	x[0], x[1], x[2], x[3] = a+e, b+f, c+g, d+h
	x[4], x[5], x[6], x[7] = a-e, b-f, c-g, d-h
}

// butterfly4 does two rounds on quarters of equal length.
func butterfly4[T int64 | float64](x, y, z, w []T) {
	y, z, w = y[:len(x)], z[:len(x)], w[:len(x)]
	for i, a := range x {
		b, c, d := y[i], z[i], w[i]
		a, b, c, d = a+b, a-b, c+d, c-d
		x[i], y[i], z[i], w[i] = a+c, b+d, a-c, b-d
	}
}

// butterfly2 does one round on halves of equal length.
func butterfly2[T int64 | float64](x, y []T) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		x[i], y[i] = a+b, a-b
	}
}
