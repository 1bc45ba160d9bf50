package person

import (
	"math"
	"testing"
)

// TestRadiiAreThePapers compares radii with the formulas of [AKM25] for rows with moments of 1,
// written out.
func TestRadiiAreThePapers(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, c := range []struct{ k, m, d float64 }{{2, 10, 64}, {4, 100, 8}, {3, 1, 1000}, {6, 2, 1}} {
		s := shape{tau: 1 / math.Sqrt(c.m), gamma: 1, k: c.k, m: c.m, dim: c.d}
		r := s.threaded()
		for i := range r[:len(r)-1] {
			near("P_t", r[i], math.Pow(c.d, 0.5+1/(2*c.k*math.Pow(c.k+1, float64(i))))/math.Pow(c.m, 1-1/c.k))
		}
		near("P_T", r[len(r)-1], 2*math.Sqrt(c.d*max(1, math.Log(c.m))/c.m))
		near("tail", s.tail(c.m, 5000, 3), math.Pow(c.d, 0.5-1/c.k)*math.Pow(5000./3, 1/c.k)/math.Pow(c.m, 1-1/c.k))
		near("base", s.base(), math.Sqrt(c.d/c.m))
		if c.d == 1 {
			near("single", s.single(5000, 3), (6+2*math.Sqrt((c.k-1)*max(1, math.Log(c.m))))/math.Sqrt(c.m)+s.tail(c.m, 5000, 3))
		}
	}
	near("normal moment 2", normalMoment(2), 1)
	near("normal moment 4", normalMoment(4), math.Pow(3, 0.25))
	near("normal moment 6", normalMoment(6), math.Pow(15, 1./6))
}

// TestRoundsOfThreadedClipping: as many as [AKM25] says, no more than log log d, falling.
func TestRoundsOfThreadedClipping(t *testing.T) {
	for _, c := range []struct {
		k, m, d float64
		rounds  int
	}{{4, 100, 1, 1}, {4, 100, 64, 1}, {2, 100, 64, 2}, {2, 10, 1 << 20, 3}, {4, 1, 64, 4}, {8, 1000, 1 << 20, 1}} {
		r := shape{tau: 1, gamma: 1, k: c.k, m: c.m, dim: c.d}.threaded()
		if len(r) != c.rounds {
			t.Errorf("k=%v, m=%v, d=%v: %d rounds, want %d: %v", c.k, c.m, c.d, len(r), c.rounds, r)
		}
		for i := 1; i < len(r)-1; i++ {
			if !(r[i] < r[i-1]) {
				t.Errorf("k=%v, m=%v, d=%v: radii %v", c.k, c.m, c.d, r)
			}
		}
	}
}

// TestTheLastRadiusFollowsTheBalance: it is the paper's where noise matters, grows up to twice that
// for m = 1 where noise does not, and the noise stays under a quarter of the sample's error in
// between.
func TestTheLastRadiusFollowsTheBalance(t *testing.T) {
	s := shape{tau: 1, gamma: 1.3, k: 4, m: 100, dim: 1}
	if got := s.last(100, 50); got != max(s.base(), s.tail(100, 100, 50)) {
		t.Errorf("much noise: radius %v", got)
	}
	if got := s.last(1e9, 1); got != 2*s.tail(1, 1e9, 1) {
		t.Errorf("little noise: radius %v", got)
	}
	for count := 100.0; count < 1e7; count *= 1.3 {
		got := s.last(count, 3)
		if noise := got * 3 / count; got > max(s.base(), s.tail(100, count, 3)) && noise > 0.2500001/math.Sqrt(count) {
			t.Errorf("%v persons: radius %v has noise %v", count, got, noise)
		}
	}
}
