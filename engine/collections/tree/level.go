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
