package device

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
)

// code maps a value to the input of the cell's randomiser: a bit, a number of steps, one of Domain values, or
// for HRR twice the value plus 1 for the negative sign. It is in the domain whatever the value is.
func code(p *collect.Params, c collect.Cell, v collect.Value) uint64 {
	d := &p.Declaration
	switch p.Protocol {
	case collect.LDPBit:
		return geometry.Steps(geometry.Fraction(number(p, v, d.Lo, d.Hi), d.Lo, d.Hi), c.Domain)
	case collect.LDPKV2, collect.LDPKV1:
		return known(p, c, position(p, v, d.Sigma, 1))
	case collect.LDPUV2, collect.LDPUV1:
		return unknown(p, c, position(p, v, d.SigmaMin, p.Derived.Scales))
	case collect.LDPHier:
		leaf := geometry.Leaf(number(p, v, d.Lo, d.Hi), d.Lo, d.Hi, geometry.Leaves(d.Levels))
		return geometry.Ancestor(leaf, d.Levels, c.Level)
	case collect.LDPHaar:
		return block(geometry.Leaf(number(p, v, d.Lo, d.Hi), d.Lo, d.Hi, 1<<d.Levels), c.Level)
	case collect.LDPSCM3:
		return node(p, c, v)
	}
	panic("device: protocol without a code: " + string(p.Protocol)) // cellOf lets local protocols in, and these are all
}

func number(p *collect.Params, v collect.Value, lo, hi float64) float64 {
	return geometry.Number(v, p.Null(), lo, hi)
}

// position returns where the number lies, in units from lo: within 8 standard deviations of the range of the
// mean, a standard deviation being at most scales units.
func position(p *collect.Params, v collect.Value, unit, scales float64) float64 {
	x := number(p, v, math.Inf(-1), math.Inf(1))
	return geometry.Position(x, p.Declaration.Lo, unit, p.Derived.Range, geometry.Margin*scales)
}

// known is the code of LDP_KV*: a residue, or a side of round 1's centre or of a lattice.
func known(p *collect.Params, c collect.Cell, t float64) uint64 {
	switch {
	case c.Randomiser == collect.KRR:
		return geometry.Residue(t, c.Level)
	case p.Protocol == collect.LDPKV1:
		return one(geometry.Above(t, c.Offset))
	}
	return one(t >= p.Published.Centre[0])
}

// unknown is the code of LDP_UV*: a residue, or the place in round 1's window.
func unknown(p *collect.Params, c collect.Cell, t float64) uint64 {
	if c.Randomiser == collect.KRR {
		return geometry.Residue(t, c.Level)
	}
	centre, width := p.Published.Centre[0], p.Published.Width
	return geometry.Steps(geometry.Fraction(t, centre-width, centre+width), c.Domain)
}

func block(leaf uint64, level int) uint64 {
	v, side := geometry.Block(leaf, level)
	return 2*v + one(side < 0)
}

// node is the code of rounds 1 and 2 of LDP_SCM3: the node above a coordinate's leaf, or above the bucket of
// the distance from the centre.
func node(p *collect.Params, c collect.Cell, v collect.Value) uint64 {
	levels, leaf := treeOf(p, c, v)
	return geometry.Ancestor(leaf, levels, c.Level)
}

// treeOf returns the tree of rounds 1 and 2 of both *_SCM3 and the contributor's leaf in it.
func treeOf(p *collect.Params, c collect.Cell, v collect.Value) (levels int, leaf uint64) {
	x := rotated(p, v)
	d := &p.Derived
	if p.Round == 1 {
		return d.BoxLevels, geometry.Leaf(x[c.Coordinate], -d.Box, d.Box, geometry.Leaves(d.BoxLevels))
	}
	geometry.Shift(x, p.Published.Centre)
	buckets := geometry.ShiftedBuckets(d.Box, d.BoxLevels, d.Ball, p.Published.Centre)
	return geometry.BucketLevels, buckets.Of(geometry.Norm(x))
}

// rotated returns the clean vector, clipped to the ball and rotated.
func rotated(p *collect.Params, v collect.Value) []float64 {
	x := geometry.Vector(v, p.Null(), p.Declaration.Dimension)
	geometry.Clip(x, p.Derived.Ball)
	return geometry.NewRotation(len(x), p.Signs).Apply(x)
}

// shifted returns the rotated vector less the published centre.
func shifted(p *collect.Params, v collect.Value) []float64 {
	x := rotated(p, v)
	geometry.Shift(x, p.Published.Centre)
	return x
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
