package tree

import (
	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
)

// What follows is common to the shifted clipped means of both models: the steps between their
// rounds ([HLY21] Sections 5.1 and 5.2) once a round's reports are a tree.

// maxClipped bounds the share of vectors that round 3 may be told to clip, where noise hides the
// tail.
const maxClipped = 0.9

// Centre ends round 1: it returns, for the trees of the rotated coordinates, the middle of the
// median's leaf.
func Centre(p *collect.Params, coordinates []*Hier) []float64 {
	box := p.Derived.Box
	c := make([]float64, len(coordinates))
	for j, h := range coordinates {
		c[j] = geometry.Middle(uint64(h.Leaf(0.5)), uint64(len(h.leaves)), -box, box)
	}
	return c
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
