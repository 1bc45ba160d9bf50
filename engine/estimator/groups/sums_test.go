package groups

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// TestSumsOfMeansAgree: a sum that a mean and a number answer is their product wherever the mean is
// the group's own, its intervals hold the exact sum, and it has less error than with columns of its
// own, as have mean and number.
// A fortieth of the intervals about the answer does not.
func TestSumsOfMeansAgree(t *testing.T) {
	const persons, groups, runs = 3000, 6, 60
	grid := estimator.Grid{Step: 0.25, Lo: -1 << 30, Hi: 1 << 30}
	apart := []Aggregate{{Measure: RowMean, Grid: grid}, {Measure: Rows}, {Measure: Sum, Grid: grid}}
	together := []Aggregate{apart[0], apart[1], {Measure: Sum, Grid: grid, Mean: 1, Count: 2}}
	for name, value := range map[string]func(*rand.Rand) int64{
		"even":    func(r *rand.Rand) int64 { return 200 + r.Int64N(200) },
		"skewed":  func(r *rand.Rand) int64 { return int64(math.Exp(5 + 0.7*r.NormFloat64())) },
		"about 0": func(r *rand.Rand) int64 { return r.Int64N(401) - 150 },
	} {
		for _, relation := range relations {
			r := rand.New(stattest.Source(t, name))
			var two, three []map[int]int64
			exact := make([]float64, 3*groups)
			for range persons {
				p, q, from := map[int]int64{}, map[int]int64{}, r.IntN(groups)
				for k := range 1 + r.IntN(3) {
					g, sum, m := (from+k)%groups, int64(0), 1+r.Int64N(6)
					for range m {
						sum += value(r)
					}
					p[3*g], p[3*g+1], p[3*g+2] = sum, m, m
					q[4*g], q[4*g+1], q[4*g+2], q[4*g+3] = sum, m, m, sum
					exact[3*g+1] += float64(m)
					exact[3*g+2] += 0.25 * float64(sum)
				}
				two, three = append(two, p), append(three, q)
			}
			for g := range groups {
				exact[3*g] = exact[3*g+2] / exact[3*g+1]
			}
			label := name + ", " + relation.String()
			n, squares := stattest.Noiser(t, label), [2][3]float64{}
			hits, part, all := 0, 0, 0
			for way, db := range [][]map[int]int64{two, three} {
				e, err := New(Params{Rho: 0.1, Relation: relation, Groups: groups, Aggregates: [][]Aggregate{together, apart}[way]})
				if err != nil {
					t.Fatal(err)
				}
				in := estimator.Input{Vectors: layOut(groups*(3+way), db)}
				for range runs {
					a := e.Release(n, in)
					for j, v := range a.Values {
						d := v - exact[j]
						squares[way][j%3] += d * d
						if j%3 != 2 || way > 0 {
							continue
						}
						if own := a.Values[j-2] * a.Values[j-1]; math.Abs(v-own) > 1e-9*math.Abs(v) {
							t.Fatalf("%s: a sum of %v, and a mean times a number of %v", label, v, own)
						}
						lo, hi := errorbar.Interval(a, j, 0.95)
						if all++; lo <= exact[j] && exact[j] <= hi {
							hits++
						}
						if math.Abs(d) <= (hi-lo)/2/40 {
							part++
						}
					}
				}
			}
			for k, what := range []string{"mean", "number", "sum"} {
				ratio := math.Sqrt(squares[0][k] / squares[1][k])
				t.Logf("%s: the error of the %s is %.3f of that apart", label, what, ratio)
				if ratio > 1.1 { // known to some 6 %
					t.Errorf("%s: the error of the %s is %.3f of that apart", label, what, ratio)
				}
			}
			t.Logf("%s: %d of %d hold, %d of a fortieth", label, hits, all, part)
			stattest.Accept(t, stattest.Coverage(label, hits, all, 0.95))
			stattest.Reject(t, stattest.Coverage(label+", a part", part, all, 0.95))
		}
	}
}
