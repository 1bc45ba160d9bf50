package stattest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// TestLossBoundIsALowerBound compares normal samples, whose loss is known: d²/2 for means d apart.
func TestLossBoundIsALowerBound(t *testing.T) {
	const n = 20000
	x := normal(t, n, 0, 1)
	for _, d := range []float64{0, 0.3, 1, 2, 4} {
		for _, y := range [][]float64{normal(t, n, d, 1), normal(t, n, -d, 1)} {
			got, loss := LossBound(x, y), d*d/2
			if got > loss {
				t.Errorf("means %v apart: bound %v, loss %v", d, got, loss)
			}
			if d >= 1 && d <= 2 && got < 0.4*loss {
				t.Errorf("means %v apart: bound %v is far under the loss %v", d, got, loss)
			}
		}
	}
	far := make([]float64, 200)
	for i := range far {
		far[i] = math.Inf(-1)
	}
	for _, got := range []float64{LossBound(x[:200], far), LossBound(far, x[:200])} {
		if got < 0.2 || math.IsInf(got, 0) || math.IsNaN(got) {
			t.Errorf("samples without overlap: bound %v", got)
		}
	}
}

// TestLossBoundOfFewDraws separates samples that lie apart with 21 draws each beside the 7 that
// choose the cut, from either side.
func TestLossBoundOfFewDraws(t *testing.T) {
	x, y := normal(t, 28, 0, 1), normal(t, 28, 100, 1)
	for _, got := range []float64{LossBound(x, y), LossBound(y, x)} {
		if got < 0.09 || got > 0.11 { // d = 2·Alpha^(1/42) − 1
			t.Errorf("bound %v, want 0.0994", got)
		}
	}
	for n := range 19 { // 28 draws of both are left at most, and Alpha^(1/28) < 1/2
		if got := LossBound(x[:n], y[:n]); got != 0 {
			t.Errorf("%d draws: bound %v, want 0", n, got)
		}
	}
}

// TestLeastMeanIsALowerBound checks the false-alarm rate on coins of one mean, exactly: at the
// bound, no more than Alpha of all samples have so large a share. A bound from half the divergence
// must not pass.
func TestLeastMeanIsALowerBound(t *testing.T) {
	for _, n := range []int{1, 20, 60, 500} {
		level, caught := math.Log(1/Alpha)/float64(n), 0
		for k := 1; k <= n; k++ {
			w := float64(k) / float64(n)
			// P[Bin(n, v) ≥ k]
			tail := func(v float64) float64 { return mathext.RegIncBeta(float64(k), float64(n-k+1), v) }
			if p := tail(leastMean(w, level)); p > Alpha*(1+1e-6) || p < Alpha/100 {
				t.Errorf("%d of %d: the rate is %g, want a little under %g", k, n, p, Alpha)
			}
			if tail(leastMean(w, level/2)) > Alpha {
				caught++
			}
		}
		if caught != n {
			t.Errorf("n = %d: half the divergence passed %d times", n, n-caught)
		}
	}
}
