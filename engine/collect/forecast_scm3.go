package collect

import (
	"math"

	"scrim/engine/collect/geometry"
)

// scales calls f with the largest and the smallest standard deviation of a coordinate that the
// declaration allows. With only a radius declared the largest is that of vectors all at the ball's
// edge; without sigma_min the smallest is a quarter of the resolution.
func (g *Design) scales(f func(sigma float64) float64) (high, low float64) {
	d := &g.Declaration
	most, least := d.SigmaMax, d.SigmaMin
	if most == 0 {
		most = g.Derived.Ball / math.Sqrt(float64(d.Dimension))
	}
	if least == 0 {
		least = d.Resolution / 4
	}
	return f(max(most, least)), f(min(most, least))
}

// localVectorError returns that of LDP_SCM3, the l2 norm, for Gaussian vectors: C·A/(c_d·sqrt(n3)),
// or C·sqrt(2d/(ρ·n3)) with DGAUSS. Both are C times ClipTarget.
func (g *Design) localVectorError(f factors, sigma float64) float64 {
	groups, v := g.Derived.Groups, &g.Derived
	trees := treePrefix(f, v.BoxLevels, float64(groups[0])/float64(v.Padded))
	norms := treePrefix(f, geometry.BucketLevels, float64(groups[1]))
	return g.clip(sigma, trees, norms) * v.ClipTarget
}

// shuffledVectorError returns that of SHUF_SCM3, the l2 norm: noise of round 3 and sampling of its
// group.
func (g *Design) shuffledVectorError(sigma float64) float64 {
	last := g.rounds[2].batch
	c := g.clip(sigma, nodesError(g.rounds[0].batch), nodesError(g.rounds[1].batch))
	noise := vectorError(last, c) * math.Sqrt(float64(g.Derived.Padded))
	return math.Hypot(noise, sigma*math.Sqrt(float64(g.Declaration.Dimension)/float64(last.Expected)))
}

// clip foretells C for Gaussian vectors of standard deviation sigma a coordinate, when a
// coordinate's tree has prefix error trees and the tree of norms has norms: the upper edge of the
// bucket of the 1 - max(κ, 2·norms) quantile of the norm about the centre. A median is off by
// sqrt(2π)·σ times its rank error, which was measured as 0.6 of the prefix error, or by the width
// of a leaf.
func (g *Design) clip(sigma, trees, norms float64) float64 {
	v := &g.Derived
	d := float64(g.Declaration.Dimension)
	width := 2 * v.Box / float64(geometry.Leaves(v.BoxLevels))
	centre := math.Hypot(math.Sqrt(2*math.Pi)*0.6*trees*sigma, width/math.Sqrt(12))
	beyond := min(0.9, max(v.ClipTarget, 2*norms))
	norm := math.Hypot(sigma, centre) * math.Sqrt(chiSquared(d, 1-beyond))
	b := geometry.NewBuckets(width*math.Sqrt(float64(v.Padded)), 2*v.Ball)
	return max(b.First, min(norm, 2*v.Ball)*b.Growth)
}

// chiSquared returns the q quantile of χ² with k degrees of freedom by Wilson and Hilferty's cube,
// good to a few percent in the upper half.
func chiSquared(k, q float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*q-1)
	root := 1 - 2/(9*k) + z*math.Sqrt(2/(9*k))
	return k * math.Pow(max(root, 0), 3)
}
