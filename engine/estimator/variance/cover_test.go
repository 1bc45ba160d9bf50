package variance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/internal/stattest"
)

// TestIntervalsHoldTheExactVariance: of rows of persons who have many or few, even and skewed, the
// intervals hold the exact variance as often as they say, what the clip takes included; a quarter
// of them about the answer does not.
func TestIntervalsHoldTheExactVariance(t *testing.T) {
	const persons, times = 1500, 250
	for name, value := range map[string]func(r *rand.Rand, own float64) float64{
		"normal": func(r *rand.Rand, own float64) float64 { return 100 + 20*own + 30*r.NormFloat64() },
		"skewed": func(r *rand.Rand, own float64) float64 { return math.Exp(5 + 0.3*own + 0.6*r.NormFloat64()) },
	} {
		r := rand.New(stattest.Source(t, name))
		in := estimator.Input{Persons: persons, Columns: make([][]int64, 4)}
		n, sum, squares := 0.0, 0.0, 0.0
		for range persons {
			own, rows, s, q := r.NormFloat64(), 1+int64(r.ExpFloat64()*r.ExpFloat64()*4), int64(0), int64(0)
			for range rows {
				k := int64(value(r, own))
				n, sum, squares = n+1, sum+float64(k), squares+float64(k*k)
				s, q = s+k, q+k*k
			}
			for c, v := range []int64{rows, s, 0, q} {
				in.Columns[c] = append(in.Columns[c], v)
			}
		}
		variance := squares/n - sum/n*sum/n
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			for _, root := range []bool{false, true} {
				p := estimator.Params{Rho: 0.05, Relation: relation, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}}
				e, err := NewRows(p, Options{Population: true, Stddev: root})
				if err != nil {
					t.Fatal(err)
				}
				want := variance
				if root {
					want = math.Sqrt(variance)
				}
				noiser := stattest.Noiser(t, fmt.Sprint(name, relation, root))
				hits, part, noise, answers := 0, 0, 0, 0
				for range times {
					a := e.Release(noiser, in)
					if a.Status != estimator.OK {
						continue
					}
					answers++
					lo, hi := errorbar.Interval(a, 0, 0.95)
					if lo <= want && want <= hi {
						hits++
					}
					if math.Abs(want-a.Values[0]) <= (hi-lo)/8 {
						part++
					}
					a.Error.Cut = nil
					if lo, hi = errorbar.Interval(a, 0, 0.95); lo <= want && want <= hi {
						noise++
					}
				}
				label := fmt.Sprintf("%s, %v, root %v", name, relation, root)
				if answers < times*9/10 {
					t.Errorf("%s: %d answers", label, answers)
				}
				t.Logf("%s: %d of %d, a quarter %d, for the noise alone %d", label, hits, answers, part, noise)
				stattest.Accept(t, stattest.Coverage(label, hits, answers, 0.95))
				stattest.Reject(t, stattest.Coverage(label+", a quarter", part, answers, 0.95))
			}
		}
	}
}
