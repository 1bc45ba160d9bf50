package local

import (
	"math"

	"scrim/engine/collect/geometry"
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
		byMean, bySD := residueSlopes(mean, sd, l.width)
		for a, share := range shares {
			gain := r.keep - r.other
			w := n * gain * gain / (r.other + gain*share)
			i.mean += w * byMean[a] * byMean[a]
			i.cross += w * byMean[a] * bySD[a]
			i.sd += w * bySD[a] * bySD[a]
		}
	}
	return i
}

// residueSlopes returns the derivatives of residueShares by the mean and by the standard deviation.
func residueSlopes(mean, sd, width float64) (byMean, bySD [geometry.Residues]float64) {
	if width < fine*sd {
		return byMean, bySD
	}
	first := math.Floor((mean - reach*sd) / width)
	m := int(int64(first) & 3)
	for edge := (first + 1) * width; edge < mean+reach*sd; edge += width {
		z := (edge - mean) / sd
		d := density(z) / sd
		above := (m + 1) & 3
		byMean[m], byMean[above] = byMean[m]-d, byMean[above]+d
		bySD[m], bySD[above] = bySD[m]-z*d, bySD[above]+z*d
		m = above
	}
	return byMean, bySD
}

// errors returns the standard errors of the mean and the standard deviation when both are estimated, by the
// inverse of the information; ok is false if it has none, to working precision.
func (i information) errors() (mean, sd float64, ok bool) {
	det := i.mean*i.sd - i.cross*i.cross
	if !(det > 1e-9*i.mean*i.sd) {
		return 0, 0, false
	}
	return math.Sqrt(i.sd / det), math.Sqrt(i.mean / det), true
}
