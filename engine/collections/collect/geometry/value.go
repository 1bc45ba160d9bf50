package geometry

import (
	"math"
	"slices"

	"scrim/internal/lists"
)

// Number returns the number that v reports, within [lo, hi]: fallback[0] for NULL, NaN and anything
// that is not one number, then the nearest point of the interval, also for infinities. Without a
// fallback it is the middle.
func Number(v, fallback []float64, lo, hi float64) float64 {
	if len(v) != 1 || math.IsNaN(v[0]) {
		v = fallback
	}
	if len(v) == 0 || math.IsNaN(v[0]) {
		return lo/2 + hi/2
	}
	return min(max(v[0], lo), hi)
}

// Vector returns the vector of d coordinates that v reports, freshly allocated: fallback for NULL,
// for another dimension, and if any coordinate is not finite. A fallback of one number stands for
// that number in every coordinate, none for the zero vector.
func Vector(v, fallback []float64, d int) []float64 {
	x := make([]float64, d)
	switch {
	case len(v) == d && finite(v):
		copy(x, v)
	case len(fallback) == d && finite(fallback):
		copy(x, fallback)
	case len(fallback) == 1 && finite(fallback):
		for i := range x {
			x[i] = fallback[0]
		}
	}
	return x
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(c float64) bool { return math.IsNaN(c) || math.IsInf(c, 0) })
}

// One is the number of steps of a fraction that is sent as one bit: 2^32.
const One = 1 << 32

// Fraction returns where x lies in [lo, hi]: 0 at and below lo, 1 at and above hi, 0 for NaN.
func Fraction(x, lo, hi float64) float64 {
	switch f := (x/2 - lo/2) / (hi/2 - lo/2); { // halves: hi-lo may overflow
	case f >= 1:
		return 1
	case f > 0:
		return f
	}
	return 0
}

// Steps returns floor(f·n) within 0..n: a fraction on a grid of n steps, 0 for NaN; n is at most
// 2^52.
func Steps(f float64, n uint64) uint64 { return uint64(inside(f*float64(n), 0, float64(n))) }

// Split returns floor(f·n·2^32) as whole steps and the rest in 2^-32 of a step: a fraction on a
// grid of n steps that is to be rounded at random. whole is at most n; rest is 0 where whole is n.
// n is at most 2^20 for the last digit to be exact.
func Split(f float64, n uint64) (whole, rest uint64) {
	whole = Steps(f, n)
	if whole == n {
		return n, 0
	}
	return whole, uint64(inside((float64(f*float64(n))-float64(whole))*One, 0, One-1))
}

// Grid maps x coordinate by coordinate to floor(x·scale·2^32), as whole steps of 1/scale and the
// rest in 2^-32 of a step. Coordinates beyond ±limit steps become ±limit; NaN becomes 0.
func Grid(x []float64, scale float64, limit int64) (whole []int64, rest []uint64) {
	whole, rest = make([]int64, len(x)), make([]uint64, len(x))
	for i, c := range x {
		u := inside(c*scale, -float64(limit), float64(limit))
		f := math.Floor(u)
		whole[i] = int64(f)
		rest[i] = uint64(inside((u-f)*One, 0, One-1))
	}
	return whole, rest
}

// Truncate maps x coordinate by coordinate to x·scale without its fraction, toward zero.
// Coordinates beyond ±limit become ±limit; NaN becomes 0.
func Truncate(x []float64, scale float64, limit int64) []int64 {
	return lists.Map(x, func(c float64) int64 { return int64(inside(c*scale, -float64(limit), float64(limit))) })
}

// inside returns x within [lo, hi], and the end nearest 0 for NaN.
func inside(x, lo, hi float64) float64 {
	if math.IsNaN(x) {
		return min(max(0, lo), hi)
	}
	return min(max(x, lo), hi)
}

// Margin is how far beyond the range of the mean values are kept, in standard deviations: 8, so
// that the kept part of a Gaussian lacks less than 1e-15.
const Margin = 8

// Position returns t = (x-lo)/unit, kept within [-margin, span+margin]; span is the width of the
// range of the mean in units. margin is Margin where unit is the standard deviation, Margin·Scales
// where it is the least one.
func Position(x, lo, unit, span, margin float64) float64 {
	return inside((x-lo)/unit, -margin, span+margin)
}

// Residues is the number of residues of a level.
const Residues = 4

// Residue returns floor(t/2^level) mod 4, from 0 to 3 for negative t too: the cell of width 2^level
// that t lies in, known up to a multiple of four cells.
//
// Source: [JKMW19], round one of KVGausstimate.
func Residue(t float64, level int) uint64 {
	cell := math.Floor(math.Ldexp(inside(t, -maxPosition, maxPosition), -level))
	// two's complement: the residue of negative cells too
	return uint64(int64(cell)) & (Residues - 1)
}

// maxPosition keeps cells within an int64; positions are below 2^25.
const maxPosition = 1 << 52

// Lattice is the half period of the sides of one-round estimation, in standard deviations: the
// lattice has a point every 8, and its cells of width 4 lie in turn above a point and below the
// next.
const Lattice = 4

// Above tells on which side of the nearest point of the lattice {offset + 8b} the position lies:
// whether floor((t-offset)/4) is even. Offsets are 0 to 3; offset+4 is the other side of offset.
func Above(t float64, offset int) bool {
	return math.Mod(math.Floor((t-float64(offset))/Lattice), 2) == 0
}

// Fanout is the number of children of a node of a HIER tree; FanoutBits its logarithm to base 2.
const (
	Fanout     = 4
	FanoutBits = 2
)

// Leaves returns 4^h, the number of leaves of a tree of h levels below its root.
func Leaves(h int) uint64 { return 1 << (FanoutBits * h) }

// Leaf returns which of n leaves of equal width over [lo, hi] holds x; what lies outside belongs to
// the first and the last. n is at most 2^52.
func Leaf(x, lo, hi float64, n uint64) uint64 { return min(Steps(Fraction(x, lo, hi), n), n-1) }

// Edge returns the left edge of leaf i of n over [lo, hi]; Edge(n, ...) is hi.
func Edge(i, n uint64, lo, hi float64) float64 {
	f := float64(i) / float64(n)
	return float64(lo*(1-f)) + float64(hi*f)
}

// Middle returns the middle of leaf i of n over [lo, hi].
func Middle(i, n uint64, lo, hi float64) float64 {
	return Edge(2*i+1, 2*n, lo, hi)
}

// Ancestor returns the node of the given level, from 1 (four nodes) to h (the leaves), that a leaf
// of a tree of h levels lies under; nodes of a level count from 0.
func Ancestor(leaf uint64, h, level int) uint64 { return leaf >> (FanoutBits * (h - level)) }

// Nodes returns the number of nodes of a tree of h levels without its root: (4^(h+1)-4)/3.
func Nodes(h int) uint64 { return (Leaves(h+1) - Fanout) / (Fanout - 1) }

// Node numbers the nodes of a tree through: those of level 1 are 0 to 3, those of level 2 are 4 to
// 19, and so on. The leaves come last.
func Node(level int, v uint64) uint64 { return Nodes(level-1) + v }

// Block returns the block of the given level, from 1, that a leaf lies in when leaves are joined
// 2^level at a time, and on which side: +1 in its left half, -1 in its right. A Haar coefficient is
// the fraction of people left in a block minus that of those right.
func Block(leaf uint64, level int) (v uint64, side int) {
	if leaf>>(level-1)&1 == 0 {
		return leaf >> level, 1
	}
	return leaf >> level, -1
}

// Buckets are geometric norm buckets: bucket 0 holds norms up to First, and every further one up to
// Growth times the edge before. They are the leaves of a tree of three levels.
type Buckets struct {
	First  float64
	Growth float64
}

// BucketLevels and BucketCount are the shape of the tree of norm buckets.
const (
	BucketLevels = 3
	BucketCount  = 64
)

// NewBuckets returns buckets from first to last, both positive; the edge of the last bucket is
// last. Where last is not above first, every bucket ends at first.
func NewBuckets(first, last float64) Buckets {
	return Buckets{first, max(1, math.Pow(last/first, 1/float64(BucketCount-1)))}
}

// ShiftedBuckets returns the buckets of round two of the shifted clipped mean: of the distance from
// centre to rotated vectors of norm at most ball. box and levels are half the side and the levels
// of the trees of round one; the first edge is the width of their leaves times the root of the
// dimension.
func ShiftedBuckets(box float64, levels int, ball float64, centre []float64) Buckets {
	width := 2 * box / float64(Leaves(levels))
	return NewBuckets(width*math.Sqrt(float64(len(centre))), ball+Norm(centre))
}

// Of returns the bucket of a norm; norms beyond the last edge, and NaN, belong to the last bucket.
func (b Buckets) Of(norm float64) uint64 {
	if norm <= b.First {
		return 0
	}
	k := math.Ceil(math.Log(norm/b.First) / math.Log(b.Growth))
	if !(k < BucketCount-1) { // also for Growth 1
		return BucketCount - 1
	}
	return uint64(max(k, 1))
}

// Edge returns the upper edge of a bucket.
func (b Buckets) Edge(bucket uint64) float64 { return b.First * math.Pow(b.Growth, float64(bucket)) }
