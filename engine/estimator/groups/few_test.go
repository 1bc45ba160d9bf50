package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// raters draws persons with a row in about half of five groups each, of values about 4, in steps of
// 0.5, and what the groups' means are.
func raters(r *rand.Rand, persons int) (db []map[int]int64, means [5]float64) {
	rows := [5]float64{}
	for range persons {
		p := map[int]int64{}
		for g := range means {
			if r.IntN(2) == 0 {
				x := min(max(math.Round(2*(4+0.1*float64(g)+0.9*r.NormFloat64())), 1), 10)
				p[3*g], p[3*g+1], p[3*g+2] = 1, int64(x), 1
				rows[g], means[g] = rows[g]+1, means[g]+x/2
			}
		}
		db = append(db, p)
	}
	for g, n := range rows {
		means[g] /= n
	}
	return db, means
}

// TestMeansOfFewPersons: most means are told of fewer persons than a search for a centre wants.
// They are within a quarter of the exact ones, and their intervals hold.
func TestMeansOfFewPersons(t *testing.T) {
	const runs = 20
	grid := estimator.Grid{Step: 0.5, Lo: -1 << 43, Hi: 1 << 43}
	v := variant{p: Params{Groups: 5, Aggregates: []Aggregate{{Measure: Rows}, {Measure: RowMean, Grid: grid}}}}
	for _, relation := range relations {
		e := v.at(t, 0.017, relation)
		persons := int(e.searches[1].centre.MinPersons()) * 4 / 5
		db, want := raters(rand.New(stattest.Source(t, "raters")), persons)
		told, held, far := 0, 0, 0
		for run := range runs {
			a := e.Release(stattest.Noiser(t, fmt.Sprint(relation, run)), estimator.Input{Vectors: layOut(15, db)})
			for g := range want {
				x := a.Values[2*g+1]
				if a.Status != estimator.OK || math.IsNaN(x) {
					continue
				}
				told++
				if lo, hi := errorbar.Interval(a, 2*g+1, 0.95); lo <= want[g] && want[g] <= hi {
					held++
				}
				if math.Abs(x-want[g]) > want[g]/4 {
					far++
				}
			}
		}
		t.Logf("%v: of %d means of %d persons %d are told, %d held, %d far", relation, 5*runs, persons, told, held, far)
		if told < 5*runs/2 || far > told/10 {
			t.Errorf("%v: %d of %d means are told, %d of them far off", relation, told, 5*runs, far)
		}
		stattest.Accept(t, stattest.Coverage(relation.String(), held, told, 0.95))
	}
}
