package local

import (
	"math"
)

// information is the Fisher information of reports about the mean and the standard deviation.
type information struct{ mean, cross, sd float64 }

// information returns what the residue reports tell at a point:
//
//	I = Σ_j n_j Σ_a ∂π_a ∂π_aᵀ/π_a,   π_a = o + (p−o)·P_a
//
// n_j is the number of reports of level j. Reports are of contributors who are a sample.
func (r residues) information(mean, sd float64) (i information) {
	for _, l := range r.levels {
		n, shares := l.reports(), residueShares(mean, sd, l.width)
		by := residueMoves(mean, sd, l.width)
		for a, share := range shares {
			gain := r.keep - r.other
			w := n * gain * gain / (r.other + gain*share)
			i.mean += w * by[a][0] * by[a][0]
			i.cross += w * by[a][0] * by[a][1]
			i.sd += w * by[a][1] * by[a][1]
		}
	}
	return i
}

// errors returns the standard errors of the mean and the standard deviation when both are
// estimated, by the inverse of the information; ok is false if it has none, to working precision.
func (i information) errors() (mean, sd float64, ok bool) {
	det := i.mean*i.sd - i.cross*i.cross
	if !(det > 1e-9*i.mean*i.sd) {
		return 0, 0, false
	}
	return math.Sqrt(i.sd / det), math.Sqrt(i.mean / det), true
}
