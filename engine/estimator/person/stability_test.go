package person

import (
	"math"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
)

// chosen is the law of a stability histogram's choice among three buckets with so many persons:
// of no bucket, then of each. The noise is summed over all integers that matter.
func chosen(s stability, counts [3]int64) (out [4]float64) {
	variance := float64(s.sigma2.Lo)
	top := int64(14*math.Sqrt(variance)) + 20
	density, sum := make([]float64, 2*top+1), 0.0
	for x := range density {
		z := float64(int64(x) - top)
		density[x] = math.Exp(-z * z / (2 * variance))
		sum += density[x]
	}
	at := func(x int64) float64 {
		if x < -top || x > top {
			return 0
		}
		return density[x+top] / sum
	}
	under := make([]float64, 2*top+2) // P[N < i − top]
	for i := range density {
		under[i+1] = under[i] + density[i]/sum
	}
	below := func(x int64) float64 { return under[max(0, min(x+top, 2*top+1))] }
	rest := 1.0
	for b, c := range counts {
		if c == 0 {
			continue
		}
		for x := max(s.threshold, c-top); x <= c+top; x++ {
			p := at(x - c)
			for other, d := range counts {
				switch {
				case other == b || d == 0:
				case other < b:
					p *= below(x - d) // the first of equals is taken
				default:
					p *= below(x + 1 - d)
				}
			}
			out[b+1] += p
			rest -= p
		}
	}
	out[0] = max(0, rest)
	return out
}

// TestAStabilityHistogramHasAnEventDelta computes the law of the choice for every pair of
// neighbours among the databases of up to four persons in three buckets, and holds its δ at several
// ε against the loss: δ is an event's, which enters as it is. A threshold lower by a standard
// deviation must fail.
func TestAStabilityHistogramHasAnEventDelta(t *testing.T) {
	beyond := func(s stability, r estimator.Relation, loss privacy.Loss) float64 {
		worst := math.Inf(-1)
		compare := func(a, b [3]int64) {
			p, q := chosen(s, a), chosen(s, b)
			for _, eps := range []float64{0, 0.5, 1, 3, 8} {
				delta := 0.0
				for o := range p {
					delta += max(0, p[o]-math.Exp(eps)*q[o])
				}
				worst = max(worst, delta-float64(privacy.DeltaOf(loss, privacy.Epsilon(eps))))
			}
		}
		for n := range int64(64) {
			base := [3]int64{n % 4, n / 4 % 4, n / 16}
			for i := range 3 {
				one := base
				one[i]++
				if r == estimator.AddRemove {
					compare(base, one)
					compare(one, base)
					continue
				}
				for j := range 3 {
					other := base
					other[j]++
					compare(one, other)
				}
			}
		}
		return worst
	}
	for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, rho := range []float64{0.2, 2} {
			for _, delta := range []float64{1e-4, 0.02} {
				p := Params{Params: estimator.Params{Rho: rho, Relation: r}, Dim: 1, Delta: delta}
				s, loss := newStability(p, rho), privacy.Loss{Rho: privacy.RhoOf(rho), DeltaEvent: delta}
				if x := beyond(s, r, loss); x > 1e-9 {
					t.Errorf("%v rho=%v delta=%v: δ is %v beyond the loss", r, rho, delta, x)
				}
				s.threshold -= int64(math.Ceil(math.Sqrt(float64(s.sigma2.Lo))))
				if delta == 0.02 {
					if x := beyond(s, r, loss); x <= 1e-9 {
						t.Errorf("%v rho=%v: a lower threshold passes", r, rho)
					}
				}
			}
		}
	}
}
