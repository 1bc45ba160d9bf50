package stattest

import (
	"math/rand/v2"
	"testing"
)

// TestCoverage draws coins of the level, which pass, and of a little less, which do not.
func TestCoverage(t *testing.T) {
	r := rand.New(Source(t, "coverage"))
	toss := func(n int, p float64) (hits int) {
		for range n {
			if r.Float64() < p {
				hits++
			}
		}
		return hits
	}
	for _, level := range []float64{0.5, 0.9, 0.95, 0.99} {
		Accept(t, Coverage("as promised", toss(20000, level), 20000, level))
		Accept(t, Coverage("more", 20000, 20000, level))
		Reject(t, Coverage("less", toss(20000, level-0.05*(1-level)-0.03*level), 20000, level))
		Reject(t, Coverage("never", 0, 100, level))
	}
}
