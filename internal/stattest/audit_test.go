package stattest

import (
	"math"
	"testing"
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
