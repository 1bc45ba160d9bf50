package mean

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// fewLaw are persons' rows and values.
type fewLaw struct {
	name string
	rows func(*rand.Rand) int64
	of   func(*rand.Rand) int64
}

// group draws persons and returns them with the exact mean over rows.
func (l fewLaw) group(r *rand.Rand, persons int) (in estimator.Input, mean float64) {
	in = estimator.Input{Persons: int64(persons), Columns: make([][]int64, 2)}
	rows, sum := int64(0), int64(0)
	for range persons {
		m, total := l.rows(r), int64(0)
		for range m {
			total += l.of(r)
		}
		in.Columns[0], in.Columns[1] = append(in.Columns[0], m), append(in.Columns[1], total)
		rows, sum = rows+m, sum+total
	}
	return in, float64(sum) / float64(rows)
}

var fewLaws = []fewLaw{
	{"ratings", func(*rand.Rand) int64 { return 1 }, func(r *rand.Rand) int64 { return []int64{1, 2, 3, 3, 4, 4, 4, 5, 5, 5}[r.IntN(10)] }},
	{"zero or one", func(*rand.Rand) int64 { return 1 }, func(r *rand.Rand) int64 { return r.Int64N(2) }},
	{"normal", geometric, func(r *rand.Rand) int64 { return int64(50 + 15*r.NormFloat64()) }},
	{"log-normal", geometric, func(r *rand.Rand) int64 { return int64(100 * math.Exp(0.7*r.NormFloat64())) }},
}

// geometric is a number of rows, five on average.
func geometric(r *rand.Rand) int64 { return 1 + int64(math.Log(1-r.Float64())/math.Log(0.8)) }

// TestNearTheLeastPersons asks means where the median and the histogram of distances would miss,
// with m = n·√(2ρ) little above what octaves need: most are answered, none by a third or three
// times the mean with an interval that denies it, and intervals hold.
func TestNearTheLeastPersons(t *testing.T) {
	const runs, persons = 200, 400
	for relation, m := range map[estimator.Relation]float64{estimator.AddRemove: 27, estimator.ReplaceOne: 38} {
		for _, l := range fewLaws {
			name := fmt.Sprintf("%s, %s", l.name, relation)
			in, want := l.group(rand.New(stattest.Source(t, name)), persons)
			grid := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}
			e, err := NewRowMean(estimator.Params{Rho: m * m / persons / persons / 2, Relation: relation, Grid: grid})
			if err != nil {
				t.Fatal(err)
			}
			if x := e.(rowMean).centred; relation == estimator.ReplaceOne && x.MinPersons() <= persons || x.Sure() <= persons {
				t.Fatalf("%s: the finer search does with %d persons", name, x.Sure())
			}
			n, answers, held, wild, squares := stattest.Noiser(t, name), 0, 0, 0, 0.0
			for range runs {
				a := e.Release(n, in)
				if a.Status != estimator.OK {
					continue
				}
				answers++
				v := a.Values[0]
				squares += (v - want) * (v - want)
				switch lo, hi := errorbar.Interval(a, 0, 0.95); {
				case lo <= want && want <= hi:
					held++
				case v < want/3 || v > 3*want:
					wild++
				}
			}
			t.Logf("%s: %d answers, error %.3g of %.3g, %d hold", name, answers, math.Sqrt(squares/float64(answers)), want, held)
			// nine of ten are answered about: under eight of ten there is a chance of 10^-5
			if answers < 8*runs/10 || wild > 0 {
				t.Errorf("%s: %d of %d runs are answered, %d wildly", name, answers, runs, wild)
			}
			if rms := math.Sqrt(squares / float64(answers)); rms > want/4 {
				t.Errorf("%s: an error of %v", name, rms)
			}
			stattest.Accept(t, stattest.Coverage(name, held, answers, 0.95))
		}
	}
}
