package clipping

import (
	"math"
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

// TestNoiseLiftsNoGateFar has a large bulk and nobody above it in 400,000 histograms: noise lifts
// the gate by more than three octaves in fewer than 12 of them. At most 4 are expected, and 12 or
// more come in one of 1,000 seeds; with gateZ up to eight octaves above 15 are. Ten standard
// deviations there do lift it.
func TestNoiseLiftsNoGateFar(t *testing.T) {
	const bulk, far = 2, 9
	r := rand.New(rand.NewPCG(3, 4))
	counts := make([]float64, 52)
	lifted := func(persons float64, runs int) (n int) {
		for range runs {
			for i := range counts {
				counts[i] = r.NormFloat64()
			}
			counts[bulk] += 60_000
			counts[far] += persons
			if pointsOf(1).open(counts, 1, math.Inf(1)) > bulk+3 {
				n++
			}
		}
		return n
	}
	if n := lifted(0, 400_000); n >= 12 {
		t.Errorf("noise lifts the gate of %d of 400,000 histograms", n)
	}
	if n := lifted(10, 1000); n < 999 {
		t.Errorf("10 standard deviations above the bulk lift the gate of %d of 1,000 only", n)
	}
}
