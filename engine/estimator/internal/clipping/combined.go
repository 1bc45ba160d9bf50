package clipping

import "scrim/engine/estimator"

// Spread is the variance of a mixture of laws.
func Spread(parts []estimator.CutPart) float64 {
	mean, square := 0.0, 0.0
	for _, p := range parts {
		mean += p.Weight * p.Mean
		square += p.Weight * (p.Mean*p.Mean + p.StdDev*p.StdDev)
	}
	return max(0, square-mean*mean)
}

// Combined returns the laws of what the clips of two answers take from part·second +
// (1−part)·first. Each is of one value, or of nothing.
func Combined(first, second []estimator.Cut, part float64) []estimator.Cut {
	switch {
	case len(first) == 0 || part == 1:
		return times(second, part)
	case len(second) == 0 || part == 0:
		return times(first, 1-part)
	}
	a, b := first[0].Times(1-part), second[0].Times(part)
	return []estimator.Cut{{Added: a.Added + b.Added, Up: Both(a.Up, b.Up), Down: Both(a.Down, b.Down)}}
}

func times(cuts []estimator.Cut, f float64) []estimator.Cut {
	if len(cuts) == 0 {
		return nil
	}
	return []estimator.Cut{cuts[0].Times(f)}
}

// Expected is the share of what is left that vectors are expected to have lost.
func Expected(losses []Loss) float64 {
	sum := 0.0
	for _, l := range losses {
		sum += l.Weight * l.Near
	}
	return sum
}
