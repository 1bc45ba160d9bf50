package clipping

import (
	"math/rand/v2"
	"testing"
)

// TestGatesOfManyGroups has counts of nobody in each of many groups: with the points of one group
// noise opens the gate of some, with those of so many that of none. One in 10⁴ seeds would fail.
func TestGatesOfManyGroups(t *testing.T) {
	const groups = 60_000
	opened := func(p points) (n int) {
		r := rand.New(rand.NewPCG(3, 4))
		counts := make([]float64, 52)
		for range groups {
			for i := range counts {
				counts[i] = r.NormFloat64()
			}
			if p.open(counts, 1, adjoiningZ) >= 0 {
				n++
			}
		}
		return n
	}
	if n := opened(pointsOf(1)); n == 0 {
		t.Error("the points of one group are stricter than they say")
	}
	if n := opened(pointsOf(groups)); n > 0 {
		t.Errorf("noise opens the gate of %d of %d groups", n, groups)
	}
	if p := pointsOf(fewGroups); p != (points{gateZ, farZ}) {
		t.Errorf("few groups have %v", p)
	}
	if p := pointsOf(10_000); !(p.gate > 5.6 && p.gate < 5.8 && p.far == p.gate+farZ-gateZ) {
		t.Errorf("10,000 groups have %v", p)
	}
}
