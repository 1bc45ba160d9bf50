package stattest

import "math"

// Coverage tests whether intervals that cover with a probability of at least level, each
// independently, may have covered hits times of n.
//
// Bound: Chernoff's, P[hits ≤ n·k] ≤ exp(−n·kl(k, level)) for k ≤ level.
func Coverage(name string, hits, n int, level float64) Fit {
	f := Fit{Name: name, N: n, Bound: -math.Log(Alpha)}
	if k := float64(hits) / float64(n); k < level {
		f.Statistic = float64(n) * divergence(k, level)
	}
	return f
}
