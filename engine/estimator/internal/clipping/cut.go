package clipping

import "scrim/engine/estimator"

// cutOf returns what is beyond radius number at on a side, as a mixture of normal laws by the wide
// reckoning, and its expectation by the near one.
func (s *side) cutOf(at int, step float64) (mean float64, parts []estimator.CutPart) {
	at = min(at, len(s.radii)-1)
	for _, f := range s.fits {
		mean += f.weight * f.cut[at]
		parts = append(parts, estimator.CutPart{Weight: f.weight, Mean: f.wide[at] * step, StdDev: f.spread[at] * step})
	}
	return mean, parts
}
