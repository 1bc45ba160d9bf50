package local

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
	"scrim/engine/estimator/tree"
)

// publishSCM3 ends rounds 1 and 2 of the shifted clipped mean: it finds the centre of the rotated
// vectors, and then how long they are about it.
//
// Source: [HLY21] Section 5.1, steps (2) and (3) of its framework; groups of contributors, one
// coordinate a person in round 1 and geometric buckets in round 2 are ours.
func publishSCM3(p *collect.Params, t *Tally) (collect.Published, error) {
	if p.Round == 1 {
		coordinates := make([]*tree.Hier, p.Derived.Padded)
		for j := range coordinates {
			coordinates[j] = tree.NewHier(treeLevels(p, t, j))
		}
		return collect.Published{Centre: tree.Centre(p, coordinates)}, nil
	}
	norms := tree.NewHier(treeLevels(p, t, 0))
	return collect.Published{Centre: p.Published.Centre, Clip: tree.Clip(p, norms)}, nil
}

// treeLevels returns the levels of a coordinate's tree, from the root down.
func treeLevels(p *collect.Params, t *Tally, coordinate int) []tree.Level {
	var levels []tree.Level
	for _, c := range p.Cells {
		if c.Coordinate == coordinate {
			levels = append(levels, t.level(c))
		}
	}
	return levels
}

// vector is the estimate of a mean vector.
type vector struct {
	Only
	mean   []float64
	stderr float64 // root of the expected squared length of the error
}

// Vector implements Estimate.
func (v vector) Vector() ([]float64, float64, error) {
	return append([]float64(nil), v.mean...), v.stderr, nil
}

// decodeSCM3 ends round 3: the mean of the clipped vectors about the centre, from directions or
// from Gaussian reports, shifted and rotated back. It is unbiased but for what was clipped, and its
// noise is alike in all directions, so that of the d declared coordinates is their share of the
// noise of all.
func decodeSCM3(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	cell := p.Cells[0]
	n := float64(t.Received(cell.Cell))
	var y []float64
	var variance float64 // of all rotated coordinates together
	if cell.Randomiser == collect.Sphere {
		y, variance = sphereMean(p, cell, t.part(cell.Cell).sum.(*sphere), n)
	} else {
		y, variance = gaussMean(p, t.sums(cell), n)
	}
	target := p.Derived.ClipTarget
	info.Clip, info.Covers, info.Omits = &target, coversBoth, omitsBias
	share := float64(p.Declaration.Dimension) / float64(p.Derived.Padded)
	return vector{only(info, "LDP_VECTOR_MEAN(report)"), tree.Restore(p, y), math.Sqrt(share * variance)}, nil
}

// sphereMean returns the mean of the clipped vectors and the variance of its length's error,
//
//	y = S/n·Σ ±u     S = C·A/c_d     ((S)² − ‖y‖²)/n
//
// where ±u are the reported unit vectors and c_d is the mean of a unit vector along the side that
// it was drawn from: a report S·u has length S and mean y.
//
// Source: [DJW18], with directions named by seeds.
func sphereMean(p *collect.Params, c collect.Cell, s *sphere, n float64) (y []float64, variance float64) {
	noise := float64(uint64(1)<<62) / float64(2*c.Keep-1<<62)
	scale := p.Published.Clip * noise / geometry.SphereMean(int(c.Domain))
	y = make([]float64, c.Domain)
	for j, sum := range s.sums {
		y[j] = scale * (float64(sum) / directionUnit) / n
	}
	length := min(geometry.Norm(y), p.Published.Clip)
	return y, (scale*scale - length*length) / n
}

// gaussMean is sphereMean for reports on the grid of 65536·√d steps in C, with Gaussian noise a
// coordinate. That contributors are a sample adds at most (C² − ‖y‖²)/n.
func gaussMean(p *collect.Params, sums []int64, n float64) (y []float64, variance float64) {
	d := float64(len(sums))
	step := p.Published.Clip / (collect.GridRoot * math.Sqrt(d))
	y = make([]float64, len(sums))
	for j, sum := range sums {
		y[j] = step * float64(sum) / n
	}
	length := min(geometry.Norm(y), p.Published.Clip)
	return y, (d*step*step*float64(p.GaussVariance()) + p.Published.Clip*p.Published.Clip - length*length) / n
}
