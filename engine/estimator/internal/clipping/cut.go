package clipping

import (
	"cmp"
	"math"
	"slices"

	"scrim/engine/estimator"
)

// cutOf returns what is beyond radius number at on a side, as a mixture of normal laws by the wide
// reckoning, and its expectation by the near one.
func (s *side) cutOf(at int, step float64) (mean float64, parts []estimator.CutPart) {
	at = min(at, len(s.radii)-1)
	for _, f := range s.fits {
		mean += f.weight * f.cut[at]
		parts = append(parts, estimator.CutPart{Weight: f.weight, Mean: f.wide[at] * step, StdDev: math.Hypot(f.spread[at], f.doubt[at]) * step, Unseen: f.hidden})
	}
	return mean, fewer(parts)
}

// mostParts is about the number of laws that a mixture is brought down to.
const mostParts = 24

// fewer takes neighbours of a mixture together until few are left, each with the mean and the
// variance of those in it: seen ones first, and then unseen ones.
func fewer(parts []estimator.CutPart) []estimator.CutPart {
	class := func(p estimator.CutPart) int {
		if p.Unseen {
			return 1
		}
		return 0
	}
	slices.SortFunc(parts, func(a, b estimator.CutPart) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.Mean, b.Mean))
	})
	var out []estimator.CutPart
	var sum estimator.CutPart // weighted: mean, and mean square
	for i, p := range parts {
		sum.Weight += p.Weight
		sum.Mean += p.Weight * p.Mean
		sum.StdDev += p.Weight * (p.Mean*p.Mean + p.StdDev*p.StdDev)
		last := i == len(parts)-1 || parts[i+1].Unseen != p.Unseen
		if sum.Weight < 1./mostParts && !last || sum.Weight == 0 {
			continue
		}
		mean := sum.Mean / sum.Weight
		out = append(out, estimator.CutPart{Weight: sum.Weight, Mean: mean, StdDev: math.Sqrt(max(0, sum.StdDev/sum.Weight-mean*mean)), Unseen: p.Unseen})
		sum = estimator.CutPart{}
	}
	return out
}

// Both returns laws of the sum of two things that clips take, each of which follows laws of its
// own.
func Both(a, b []estimator.CutPart) []estimator.CutPart {
	for _, parts := range [][]estimator.CutPart{a, b} {
		if len(parts) == 1 && math.IsInf(parts[0].Mean, 1) {
			return parts
		}
	}
	var parts []estimator.CutPart
	for _, x := range a {
		for _, y := range b {
			parts = append(parts, estimator.CutPart{Weight: x.Weight * y.Weight, Mean: x.Mean + y.Mean, StdDev: math.Hypot(x.StdDev, y.StdDev), Unseen: x.Unseen || y.Unseen})
		}
	}
	return fewer(parts)
}

// CutOfAlike are laws of what a clip takes from a mean where all that stand out have one value.
func CutOfAlike() []estimator.Cut { return []estimator.Cut{{Up: unseen(), Down: unseen()}} }

// unseen is the law of what a clip takes where nothing bounds it.
func unseen() []estimator.CutPart {
	return []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
}
