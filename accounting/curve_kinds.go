package accounting

import "math"

// divergence returns an upper bound of the Rényi divergence of order 1+beta of one run, for an event with a pure ε.
func (e Event) divergence(beta float64) float64 {
	eps := float64(e.Epsilon.epsilon())
	return eps + 0*beta
}

var _ = math.Inf
