package mean_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/mean"
	"scrim/test/stattest"
)

// TestMeansOfHeavyTails asks for means of one number a person of which few persons have much: the
// intervals hold the exact mean in at least 93 % of the runs, each over four populations (an honest
// one fails with a probability of stattest.Alpha). Told as distances alone, those of Pareto tails
// and of wide log-normal laws held it in 28 to 70 %.
func TestMeansOfHeavyTails(t *testing.T) {
	const populations, runs = 4, 50
	pareto := func(a float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return 1000 * math.Pow(1-r.Float64(), -1/a) }
	}
	wide := func(sigma float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return math.Exp(8 + sigma*r.NormFloat64()) }
	}
	for _, l := range []struct {
		name    string
		persons int
		of      func(*rand.Rand) float64
	}{
		{"totals of customers", 5000, func(r *rand.Rand) (sum float64) {
			for range 1 + int(12*r.ExpFloat64()) {
				sum += float64(1+r.IntN(50)) * (900 + 1100*r.Float64())
			}
			return sum
		}},
		{"log-normal", 5000, wide(1)},
		{"wide log-normal", 20000, wide(1.5)},
		{"Pareto 1.5", 20000, pareto(1.5)},
		{"Pareto 2", 20000, pareto(2)},
		{"Pareto 3", 20000, pareto(3)},
	} {
		for relation, rhos := range map[estimator.Relation][]float64{estimator.AddRemove: {0.004, 0.017, 0.5}, estimator.ReplaceOne: {0.017}} {
			for _, rho := range rhos {
				name := fmt.Sprintf("%s, %s, rho %v", l.name, relation, rho)
				r, n, hits, answers := rand.New(stattest.Source(t, l.name)), stattest.Noiser(t, name), 0, 0
				e, err := mean.NewMean(estimator.Params{Rho: rho, Relation: relation, MaxRows: 1, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}})
				if err != nil {
					t.Fatal(err)
				}
				for range populations {
					in, sum := estimator.Input{Persons: int64(l.persons), Columns: make([][]int64, 2)}, 0.0
					for range l.persons {
						k := int64(l.of(r))
						in.Columns[0], in.Columns[1], sum = append(in.Columns[0], 1), append(in.Columns[1], k), sum+float64(k)
					}
					want := sum / float64(l.persons)
					for range runs {
						a := e.Release(n, in)
						if a.Status != estimator.OK {
							continue
						}
						answers++
						if lo, hi := errorbar.Interval(a, 0, 0.95); lo <= want && want <= hi {
							hits++
						}
					}
				}
				t.Logf("%s: %d of %d hold", name, hits, answers)
				if answers < populations*runs*9/10 {
					t.Errorf("%s: %d answers", name, answers)
				}
				stattest.Accept(t, stattest.Coverage(name, hits, answers, 0.93))
			}
		}
	}
}
