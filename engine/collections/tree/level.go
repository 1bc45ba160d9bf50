package tree

import (
	"math"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
)

// Level holds what is known of one level, before the levels are made to agree.
type Level struct {
	values   []float64 // unbiased: shares of nodes, or Haar coefficients of blocks
	variance float64   // of one value whose truth is 0; +Inf without reports
	reports  float64
	law      law
}

// law is the variance that one report adds to Σ c_v·value_v, for weights c and true shares f:
//
//	each·Σc² + own·Σf·c² − tied·(base·Σc + Σf·c)²
type law struct{ each, own, base, tied float64 }

// one62 is 2^62, what the integers of randomisers are over.
const one62 = 1 << 62

// Missing is a level of so many nodes that nobody reported on.
func Missing(nodes int) Level {
	return Level{values: make([]float64, nodes), variance: math.Inf(1)}
}

// KRR is a level reported by k-ary randomised response: counts[v] reports say v, each the truth
// with probability p = keep/2^62 and any other value with o = (1−p)/(k−1).
//
//	value_v = (counts[v]/N − o)/(p − o)
//
// A report says v with probability o + (p−o)·f_v, so Σ c_v·value_v has the variance of one draw of
// c/(p−o) from this law, over N.
func KRR(counts []uint64, keep uint64) Level {
	n := total(counts)
	if n == 0 {
		return Missing(len(counts))
	}
	p := float64(keep) / one62
	o := (1 - p) / float64(len(counts)-1)
	gap := p - o
	l := Level{
		values:   debias(counts, n, o, gap),
		variance: o * (1 - o) / (gap * gap) / n,
		reports:  n,
		law:      law{each: o / (gap * gap), own: 1 / gap, base: o / gap, tied: 1},
	}
	return l
}

// OUE is a level reported by unary encoding: of n reports ones[v] have bit v, which is 1 with
// probability q = flip/2^62, and with 1/2 where v is the truth.
//
//	value_v = (ones[v]/n − q)/(1/2 − q)
//
// The bits are independent, of variance q(1−q), or 1/4 = q(1−q) + (1/2−q)² at the truth. On top
// comes whose reports they are: Σf·c² − (Σf·c)².
func OUE(ones []uint64, n, flip uint64) Level {
	if n == 0 {
		return Missing(len(ones))
	}
	q := float64(flip) / one62
	gap := float64(one62/2-flip) / one62
	each := q * (1 - q) / (gap * gap)
	return Level{
		values:   debias(ones, float64(n), q, gap),
		variance: each / float64(n),
		reports:  float64(n),
		law:      law{each: each, own: 2, tied: 1},
	}
}

// HRR is a level of Haar coefficients reported by Hadamard randomised response, as many as sums, a
// power of two: sums[j] is the number of +1 less that of −1 among the reports of index j, n reports
// in all.
//
//	value_v = A/n·Σ_j sums[j]·(−1)^|j∧v|     A = 1/(2p − 1), p = keep/2^62
//
// A report's part of Σ c_v·value_v is ±A·Σ_v c_v·(−1)^|j∧v|, whose mean square over j is A²·Σc²:
// the rows of the matrix are orthogonal.
func HRR(sums []int64, n, keep uint64) Level {
	if n == 0 {
		return Missing(len(sums))
	}
	a := float64(one62) / float64(2*keep-one62)
	values := lists.Map(sums, func(s int64) float64 { return float64(s) })
	walsh(values)
	for v := range values {
		values[v] *= a / float64(n)
	}
	return Level{values: values, variance: a * a / float64(n), reports: float64(n), law: law{each: a * a, tied: 1}}
}

// Binomial is a level of the shuffle model: counts[v] of n contributors and of n·p noise messages
// that are expected at each node, p = flip/2^32.
//
//	value_v = (counts[v] − n·p)/n
//
// All n contributors are in it, so the estimates are of this batch.
func Binomial(counts []uint64, n, flip uint64) Level {
	if n == 0 {
		return Missing(len(counts))
	}
	p := float64(flip) / (1 << 32)
	each := p * (1 - p)
	return Level{
		values:   debias(counts, float64(n), p, 1),
		variance: each / float64(n),
		reports:  float64(n),
		law:      law{each: each},
	}
}

func debias(counts []uint64, n, other, gap float64) []float64 {
	return lists.Map(counts, func(c uint64) float64 { return (float64(c)/n - other) / gap })
}

func total(counts []uint64) (n float64) {
	return lists.Sum(counts, func(c uint64) float64 { return float64(c) })
}

// Values returns the level's own values, unbiased; they are not to be changed.
func (l Level) Values() []float64 { return l.values }

// of returns the variance of Σ c_v·value_v when the shares are f, 0 without reports.
func (l Level) of(c, f []float64) float64 {
	if l.reports == 0 {
		return 0
	}
	var sum, squares, mean, own float64
	for v, w := range c {
		sum += w
		squares += w * w
		mean += f[v] * w
		own += f[v] * w * w
	}
	fixed := l.law.base*sum + mean
	return max(0, l.law.each*squares+l.law.own*own-l.law.tied*fixed*fixed) / l.reports
}

// What follows is common to the shifted clipped means of both models: the steps between their
// rounds ([HLY21] Sections 5.1 and 5.2) once a round's reports are a tree.

// maxClipped bounds the share of vectors that round 3 may be told to clip, where noise hides the
// tail.
const maxClipped = 0.9

// Centre ends round 1: it returns, for the trees of the rotated coordinates, the middle of the
// median's leaf.
func Centre(p *collect.Params, coordinates []*Hier) []float64 {
	box := p.Derived.Box
	return lists.Map(coordinates, func(h *Hier) float64 { return geometry.Middle(uint64(h.Leaf(0.5)), uint64(len(h.leaves)), -box, box) })
}

// Clip ends round 2: it returns the norm that vectors are clipped to in round 3, the upper edge of
// the bucket of the quantile 1 − max(κ, τ) of the norms about the centre. Beyond a share κ of the
// norms, clipping less would add more noise than it takes off bias; τ is two standard errors of a
// quantile's rank, as the tail beyond it cannot be seen.
func Clip(p *collect.Params, norms *Hier) float64 {
	d := &p.Derived
	beyond := min(maxClipped, max(d.ClipTarget, 2*norms.PrefixError()))
	buckets := geometry.ShiftedBuckets(d.Box, d.BoxLevels, d.Ball, p.Published.Centre)
	return buckets.Edge(uint64(norms.Leaf(1 - beyond)))
}

// Restore ends round 3: it returns the declared coordinates of a mean about the centre, shifted,
// rotated back and clipped to the ball. y is not kept and not changed.
func Restore(p *collect.Params, y []float64) []float64 {
	x := append([]float64(nil), y...)
	for j, c := range p.Published.Centre {
		x[j] += c
	}
	mean := geometry.NewRotation(p.Declaration.Dimension, p.Signs).Invert(x)
	geometry.Clip(mean, p.Derived.Ball)
	return mean
}

// Lengths says what round 2 tells of the vectors about the centre that round 3 clipped to a norm.
type Lengths struct {
	// at most their mean squared length once they are clipped, with two standard errors
	Square float64
	// at most what clipping moves the mean by, where no vector is more than twice as long as the
	// norm
	Cut float64
}

// LengthsOf reads them off the tree of norms. Every vector is as long as its bucket's upper edge;
// clipping one of length r moves it by r − clip.
func LengthsOf(p *collect.Params, norms *Hier, clip float64) Lengths {
	d := &p.Derived
	buckets := geometry.ShiftedBuckets(d.Box, d.BoxLevels, d.Ball, p.Published.Centre)
	square, cut := make([]float64, len(norms.leaves)), make([]float64, len(norms.leaves))
	for b := range square {
		edge := buckets.Edge(uint64(b))
		square[b] = min(edge, clip) * min(edge, clip)
		cut[b] = min(max(edge-clip, 0), clip)
	}
	s, sErr := norms.Linear(square)
	c, cErr := norms.Linear(cut)
	return Lengths{Square: min(max(s, 0)+2*sErr, clip*clip), Cut: max(c, 0) + 2*cErr}
}

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
