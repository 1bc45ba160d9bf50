package tree

import (
	"math"

	"scrim/internal/lists"
)

// Haar answers ranges and quantiles on 2^K leaves from Haar coefficients: that of a block of 2^l
// leaves is the share of contributors in its left half less that in its right. It is immutable and
// safe for concurrent use.
//
// Source: [CKS19], HaarHRR.
type Haar struct {
	levels []Level // levels[l−1]: one coefficient for each block of 2^l leaves
}

// NewHaar takes the levels; levels[l−1] has 2^(K−l) coefficients. It panics if one has not.
func NewHaar(levels []Level) *Haar {
	if len(levels) == 0 {
		panic("tree: no levels")
	}
	for l, level := range levels {
		if len(level.values) != 1<<(len(levels)-l-1) {
			panic("tree: coefficients of a level")
		}
	}
	return &Haar{levels}
}

// tent returns, for a position, the block of a level that it is in and the weight of the block's
// coefficient in the share of contributors below it: with a fraction r of the block below the
// position, the left half counts min(1, 2r) and the right one max(0, 2r−1), and half their
// difference is min(r, 1−r). Other blocks are below it or above it as a whole, and have weight 0.
func (t *Haar) tent(level int, at float64) (block int, weight float64) {
	blocks := len(t.levels[level].values)
	whole, r := math.Modf(at * float64(blocks))
	if int(whole) >= blocks {
		return blocks - 1, 0
	}
	return int(whole), min(r, 1-r)
}

// Range returns the share of contributors between two positions, unbiased at the edges of leaves
// and by linear interpolation within, and its standard error. Positions outside [0, 1] are its
// ends; where b is not above a the share is 0.
func (t *Haar) Range(a, b float64) (value, stderr float64) {
	a, b = min(max(a, 0), 1), min(max(b, 0), 1)
	if !(a < b) {
		return 0, 0
	}
	value = b - a
	variance := 0.0
	for l, level := range t.levels {
		u, below := t.tent(l, a)
		v, above := t.tent(l, b)
		part, squares := above*level.values[v]-below*level.values[u], above*above+below*below
		if u == v {
			squares = (above - below) * (above - below)
		}
		value += part
		variance += level.square(squares, part)
	}
	return value, math.Sqrt(variance)
}

// square returns the variance of a sum of the level's values whose squared weights sum to squares
// and which came out as part. It is at least what a report's randomisation adds, whatever the
// truth.
func (l Level) square(squares, part float64) float64 {
	if l.reports == 0 {
		return 0
	}
	return max(l.law.each*squares-part*part, (l.law.each-1)*squares) / l.reports
}

// Quantile returns the position that a share q of the contributors is below, from shares that are
// cut, from the top, to what is left for a block, by linear interpolation within a leaf. q is taken
// within [0, 1].
func (t *Haar) Quantile(q float64) (position float64) {
	q = min(max(q, 0), 1)
	block, mass := 0, 1.0
	for l := len(t.levels) - 1; l >= 0; l-- {
		c := min(max(t.levels[l].values[block], -mass), mass)
		left := (mass + c) / 2
		block *= 2
		if q <= left || left == mass {
			mass = left
			continue
		}
		q, mass = q-left, mass-left
		block++
	}
	inside := 0.0
	if mass > 0 {
		inside = min(q/mass, 1)
	}
	return math.Ldexp(float64(block)+inside, -len(t.levels))
}

// Mean returns the mean position, with every contributor in the middle of the leaf, and its
// standard error. A position has the binary digit 0 at level l where it is in a left half, so
//
//	mean = 1/2 − Σ_l 2^(l−2)/2^K·Σ_v value_l,v
func (t *Haar) Mean() (value, stderr float64) {
	value = 0.5
	variance := 0.0
	for l, level := range t.levels {
		w := math.Ldexp(0.5, l-len(t.levels))
		sum := lists.Sum(level.values, func(c float64) float64 { return c })
		value -= w * sum
		variance += level.square(w*w*float64(len(level.values)), w*sum)
	}
	return value, math.Sqrt(variance)
}

// walsh multiplies x, of a power of two in length, by the Hadamard matrix with entries (−1)^|j∧v|,
// in n·log2(n) additions. Steps are taken two at a time, so that memory is passed half as often.
func walsh(x []float64) {
	n, h := len(x), 1
	for ; 4*h <= n; h *= 4 {
		for i := 0; i < n; i += 4 * h {
			a, b, c, d := x[i:i+h], x[i+h:i+2*h], x[i+2*h:i+3*h], x[i+3*h:i+4*h]
			for j := range a {
				p, q, r, s := a[j]+b[j], a[j]-b[j], c[j]+d[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = p+r, q+s, p-r, q-s
			}
		}
	}
	if h < n { // one step is left
		a, b := x[:h], x[h:]
		for j, u := range a {
			a[j], b[j] = u+b[j], u-b[j]
		}
	}
}
