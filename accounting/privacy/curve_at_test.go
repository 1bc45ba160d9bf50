package privacy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCurvesBetweenOrders: at any order what a curve says is no less than the divergence of its
// events, and where ε is not small or the order is one of the grid, not much more.
func TestCurvesBetweenOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 12))
	for range 5000 {
		e := Event{Epsilon: PureOf(math.Exp2(8*r.Float64() - 7)), Count: 1 + uint32(r.IntN(5))}
		e.Kind = []EventKind{Laplace, Exponential, RandomizedResponse}[r.IntN(3)]
		gaussian := Event{Kind: Gaussian, Rho: RhoOf(r.Float64() / 100), Count: 1}
		beta := math.Exp2(14*r.Float64() - 4)
		if r.IntN(4) == 0 {
			beta = curveOrders[r.IntN(len(curveOrders)-1)]
		}
		c := CurveOf([]Event{e, gaussian})
		want := e.divergence(beta)*float64(e.Count) + gaussian.Rho.Float()*(1+beta)
		got := c.At(beta) // the slop of want is 2^-38 of it
		if got < want*(1-1e-11) || beta < 256 && got > want*1.13 || got > float64(e.Count)*e.Epsilon.Float()*1.0001+gaussian.Rho.Float()*(1+beta)*1.0001 {
			t.Fatalf("%+v at %v: %v, want %v", e, beta, got, want)
		}
	}
	for i, beta := range curveOrders[:len(curveOrders)-1] {
		c := Event{Kind: Laplace, Epsilon: PureOf(0.7), Count: 3}.Curve()
		if got, want := c.At(beta), c.other[i].floatUp(); got < want || got > want*(1+1e-14) {
			t.Errorf("at order %v of the grid: %v, want %v", beta, got, want)
		}
	}
	worst := CurveOf([]Event{{Kind: Exponential, Epsilon: MaxPure, Count: math.MaxUint32}})
	if d := worst.At(27); !math.IsInf(d, 1) {
		t.Errorf("a saturated sum is %v", d)
	}
}
