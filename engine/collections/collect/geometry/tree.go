package geometry

import "math"

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
