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

// TestIntervalsCover counts how often the error bars of counts, sums and means of groups cover.
// Persons are alike, each with one row in some groups, so that hardly anybody is beyond the clip;
// half of the noise's width does not cover. Intervals that allow for the clip cover at least as
// often.
func TestIntervalsCover(t *testing.T) {
	const persons, groups = 3000, 12
	grid := estimator.Grid{Step: 0.25, Lo: -1 << 30, Hi: 1 << 30}
	lo, hi := int64(-40), int64(100)
	parts := []Aggregate{{Measure: Persons}, {Measure: Rows}, {Measure: Sum, Grid: grid, Lower: &lo, Upper: &hi},
		{Measure: RowMean, Grid: grid, Lower: &lo, Upper: &hi}, {Measure: PersonMean, Grid: grid, Lower: &lo, Upper: &hi}}
	levels := []float64{0.5, 0.9, 0.95, 0.99}
	for k, part := range parts {
		name := fmt.Sprint("measure ", part.Measure)
		var n int
		var hits, half [4]int
		var wide [4]float64
		for _, relation := range relations {
			r := rand.New(stattest.Source(t, name))
			exact, rows := make([]float64, groups), make([]float64, groups)
			var db []map[int]int64
			width := part.Measure.Columns()
			for range persons {
				p, from := map[int]int64{}, r.IntN(groups)
				for _, g := range []int{from, (from + 1 + r.IntN(4)) % groups} {
					x := 30 + 4*r.Int64N(2) - 2
					if k < 2 {
						x = 1
					}
					rows[g]++
					exact[g] += float64(x)
					if p[g*width] = x; width == 2 {
						p[g*width+1] = 1
					}
				}
				db = append(db, p)
			}
			for g := range exact {
				switch {
				case part.Measure.mean():
					exact[g] *= 0.25 / rows[g]
				case part.Measure == Sum:
					exact[g] *= 0.25
				}
			}
			e, err := New(Params{Rho: 0.3, Relation: relation, Groups: groups, Aggregates: []Aggregate{part}})
			if err != nil {
				t.Fatal(err)
			}
			in := estimator.Input{Vectors: layOut(groups*width, db)}
			for range 200 {
				a := e.Release(stattest.Noiser(t, fmt.Sprint(name, n)), in)
				g := r.IntN(groups)
				one := a.Part(g, g+1) // as it is stored
				n++
				for k, level := range levels {
					lo, hi := errorbar.Interval(one, 0, level)
					v := one.Values[0]
					if lo <= exact[g] && exact[g] <= hi {
						hits[k]++
					}
					// The broken interval, and the width, are those of the noise alone.
					alone, e := one, *one.Error
					e.Cut, alone.Error = nil, &e
					if one.Error.Cut != nil {
						v -= one.Error.Cut[0].Added
						alone.Values = []float64{v}
					}
					lo, hi = errorbar.Interval(alone, 0, level)
					if (v+lo)/2 <= exact[g] && exact[g] <= (v+hi)/2 {
						half[k]++
					}
					wide[k] += (hi - lo) / (2 * math.Sqrt2 * math.Erfinv(level) * one.StdErr[0])
				}
			}
		}
		text := fmt.Sprintf("%s %d", name, n)
		for k, level := range levels {
			stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", name, level), hits[k], n, level))
			stattest.Reject(t, stattest.Coverage(fmt.Sprintf("%s at %v, half", name, level), half[k], n, level))
			text += fmt.Sprintf(" | %.1f %% ×%.2f", 100*float64(hits[k])/float64(n), wide[k]/float64(n))
		}
		t.Log(text)
	}
}
