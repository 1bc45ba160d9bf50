package exponential

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// worstScores returns the largest quotient of probabilities between scores and others that differ
// by an interval of length span, at its ends mostly.
func worstScores(t *testing.T, c *Least, span int) *big.Rat {
	r := rand.New(stattest.Source(t, "scores"))
	worst := new(big.Rat)
	for range 300 {
		down := r.IntN(span + 1)
		a, b := make([]uint64, 4), make([]uint64, 4)
		for i := range a {
			a[i] = uint64(span + r.IntN(1<<r.IntN(30)))
			switch r.IntN(3) {
			case 0:
				b[i] = a[i] - uint64(down)
			case 1:
				b[i] = a[i] + uint64(span-down)
			default:
				b[i] = a[i] - uint64(down) + uint64(r.IntN(span+1))
			}
		}
		x, ok := ratio(c.wheel(a), c.wheel(b), 4)
		if !ok {
			t.Fatal("a candidate is possible on one side only")
		}
		if x.Cmp(worst) > 0 {
			worst = x
		}
	}
	return worst
}

// TestLeastKeepsItsLoss: no two laws of scores within the span are further apart than e^ε; twice
// the rate is.
func TestLeastKeepsItsLoss(t *testing.T) {
	for _, eps := range []float64{1e-9, 0.7, 120} {
		for _, span := range []int{1, 3, 6144} {
			c, err := NewLeast(estimator.Params{Epsilon: eps}, float64(span), eps)
			if err != nil {
				t.Fatal(err)
			}
			ok, share := withinEps(worstScores(t, &c, span), eps)
			if !ok || eps == 0.7 && share < 0.5 {
				t.Errorf("span %d, epsilon %v: the ratio is e^(%v of epsilon)", span, eps, share)
			}
			double, _ := NewLeast(estimator.Params{Epsilon: eps}, float64(span)/2, eps)
			if ok, _ := withinEps(worstScores(t, &double, span), eps); ok && eps < 1 {
				t.Errorf("span %d, epsilon %v: twice the rate passed", span, eps)
			}
		}
	}
}

// TestLeastOfRho: at a loss ρ it is the choice at √(8ρ), rounded down.
func TestLeastOfRho(t *testing.T) {
	c, err := NewLeast(estimator.Params{Rho: 0.3}, 3, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(8*0.02) / 3; c.Rate() > want || c.Rate() < want*(1-1e-12) {
		t.Errorf("rate %v, want %v", c.Rate(), want)
	}
	if s := c.Step("cap", 1.5); s.Rho != 0.02 || s.Epsilon != 0 || s.Mechanism != estimator.Exponential || s.Queries != 1 || s.Sensitivity != "range=1.5" {
		t.Errorf("step %+v", s)
	}
	if _, err := NewLeast(estimator.Params{Rho: 1}, 1e20, 1e-12); err == nil {
		t.Error("a loss that is too small for the span was accepted")
	}
}

// TestLeastDrawsFollowTheLaw draws among scores with ties and some that are far away.
func TestLeastDrawsFollowTheLaw(t *testing.T) {
	scores := []uint64{700, 3, 40, 3, 1 << 62, 90, 41}
	counts := func(eps float64) []int64 {
		c, err := NewLeast(estimator.Params{Epsilon: eps}, 1, eps)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Floored(1<<56) || c.Floored(80) {
			t.Fatal("the least weight begins elsewhere")
		}
		n, out := stattest.Noiser(t, "least"), make([]int64, len(scores))
		for range 20000 {
			out[c.Choose(n, scores)]++
		}
		return out
	}
	law, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		law[i] = math.Exp(-0.02 * float64(s))
		sum += law[i]
	}
	for i := range law {
		law[i] /= sum
	}
	stattest.Accept(t, stattest.ChiSquare("least", counts(0.02), law))
	stattest.Reject(t, stattest.ChiSquare("least", counts(0.03), law))
}
