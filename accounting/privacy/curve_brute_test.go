package privacy

import (
	"math"
	"testing"
)

// pair is the probabilities of the outcomes of one run on two neighbours.
type pair struct{ p, q []float64 }

// noisy is noise with weights w(|y|) that one neighbour moves by some steps; what lies beyond reach
// is negligible.
func noisy(w func(y float64) float64, steps, reach int) (out pair) {
	norm := 0.0
	for y := -reach; y <= reach; y++ {
		norm += w(math.Abs(float64(y)))
	}
	for y := -reach; y <= reach+steps; y++ {
		out.p = append(out.p, w(math.Abs(float64(y)))/norm)
		out.q = append(out.q, w(math.Abs(float64(y-steps)))/norm)
	}
	return out
}

// delta returns the least δ for which runs with these laws, one after the other, are (ε, δ)-close:
// by all outcomes there are.
func delta(runs []pair, eps, p, q float64) float64 {
	if len(runs) == 0 {
		return math.Max(0, p-math.Exp(eps)*q)
	}
	sum := 0.0
	for i := range runs[0].p {
		sum += delta(runs[1:], eps, p*runs[0].p[i], q*runs[0].q[i])
	}
	return sum
}

// TestBestEpsilonByEnumeration composes runs of different kinds by all their outcomes: what the
// account says holds, both ways round, and is not much more than the truth.
func TestBestEpsilonByEnumeration(t *testing.T) {
	t.Parallel()
	const sigma2 = 6.0
	gauss := noisy(func(y float64) float64 { return math.Exp(-y * y / (2 * sigma2)) }, 1, 30)
	laplace := noisy(func(y float64) float64 { return math.Exp(-0.8 * y / 3) }, 3, 130)
	scores := pair{choice([]float64{0, 1, 2.5}), choice([]float64{0.7, 1, 3.2})}
	coin := pair{[]float64{1 / (1 + math.Exp(-0.6)), 1 / (1 + math.Exp(0.6))}, []float64{1 / (1 + math.Exp(0.6)), 1 / (1 + math.Exp(-0.6))}}
	events := []Event{
		{Kind: DiscreteGaussian, Rho: RhoOf(1 / (2 * sigma2)), Count: 1},
		{Kind: DiscreteLaplace, Epsilon: PureOf(0.8), Steps: 3, Count: 1},
		{Kind: Exponential, Epsilon: PureOf(0.7), Count: 2},
		{Kind: RandomizedResponse, Epsilon: PureOf(0.6), Count: 2},
	}
	var l Loss
	for _, e := range events {
		l = l.Add(e.Loss())
	}
	there := []pair{gauss, laplace, scores, scores, coin, coin}
	back := make([]pair, len(there))
	for i, r := range there {
		back[i] = pair{r.q, r.p}
	}
	for _, d := range []float64{1e-2, 1e-4, 1e-7} {
		eps, by := BestEpsilon(l, CurveOf(events), Delta(d))
		if by != ByRenyi {
			t.Errorf("delta %v: best by %s", d, by)
		}
		exact := max(delta(there, float64(eps), 1, 1), delta(back, float64(eps), 1, 1))
		if exact > d {
			t.Errorf("delta %v: epsilon %v has delta %v", d, eps, exact)
		}
		if tight := max(delta(there, float64(eps)*0.6, 1, 1), delta(back, float64(eps)*0.6, 1, 1)); tight < d {
			t.Errorf("delta %v: epsilon %v, and 60 %% of it has delta %v", d, eps, tight)
		}
	}
}
