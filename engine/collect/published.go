package collect

import (
	"math"

	"scrim/engine/collect/geometry"
)

// tolerance is by how much numbers of a device and of a server may differ, relatively.
const tolerance = 1e-9

// checkPublished demands exactly the numbers that a round needs from those before, finite and in
// their range. Privacy rests on none of them: they are maps of the value before the randomiser.
// Absurd ones would make reports worthless.
func (g *Design) checkPublished(round int, pub Published) error {
	ok := false
	switch {
	case round == 1:
		ok = len(pub.Centre) == 0 && pub.Width == 0 && pub.Clip == 0
	case g.Protocol == LDPKV2:
		ok = g.knownCentre(pub)
	case g.Protocol == LDPUV2:
		ok = g.unknownCentre(pub)
	default:
		ok = g.rotatedCentre(round, pub)
	}
	if !ok {
		return bad("What round %d takes from the rounds before is missing or out of range.", round).
			With("Fetch the parameters again; if they stay so, report nothing and tell whoever runs the collection.")
	}
	return nil
}

// knownCentre accepts a multiple of a quarter sigma from 0 to R.
func (g *Design) knownCentre(pub Published) bool {
	return len(pub.Centre) == 1 && pub.Width == 0 && pub.Clip == 0 &&
		within(pub.Centre[0], 0, g.Derived.Range) && pub.Centre[0]*4 == math.Floor(pub.Centre[0]*4)
}

// unknownCentre accepts a centre where round 1 looked for it, and the window of a standard
// deviation from sigma_min/4 to 4 sigma_max.
func (g *Design) unknownCentre(pub Published) bool {
	v := &g.Derived
	sigma := pub.Width / windowFactor(g.Declaration.Expected)
	return len(pub.Centre) == 1 && pub.Clip == 0 &&
		within(pub.Centre[0], -8*v.Scales, v.Range+8*v.Scales) && within(sigma, 0.25, 4*v.Scales)
}

// rotatedCentre accepts a centre in round 1's box, and in round 3 a clip up to the last edge of
// round 2's buckets.
func (g *Design) rotatedCentre(round int, pub Published) bool {
	v := &g.Derived
	if len(pub.Centre) != v.Padded || pub.Width != 0 {
		return false
	}
	for _, c := range pub.Centre {
		if !within(c, -v.Box, v.Box) {
			return false
		}
	}
	if round == 2 {
		return pub.Clip == 0
	}
	b := geometry.ShiftedBuckets(v.Box, v.BoxLevels, v.Ball, pub.Centre)
	return within(pub.Clip, b.First, b.Edge(geometry.BucketCount-1))
}

// within tells whether x lies in [lo,hi], up to tolerance; NaN does not.
func within(x, lo, hi float64) bool {
	room := tolerance * max(math.Abs(lo), math.Abs(hi))
	return x >= lo-room && x <= hi+room && !math.IsInf(x, 0)
}
