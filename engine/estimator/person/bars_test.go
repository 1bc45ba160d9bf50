package person

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// TestIntervalsCover counts how often the error bars of a coordinate cover the mean of the vectors
// as they are clipped, with Gaussian noise and, pure, with Laplace noise; half of the width does
// not. A mean of a third of the persons has none.
func TestIntervalsCover(t *testing.T) {
	const dim, persons = 2, 3000
	levels := []float64{0.5, 0.9, 0.95, 0.99}
	for _, pure := range []bool{false, true} {
		name, n := fmt.Sprint("pure=", pure), 0
		var hits, half [4]int
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			p := Params{Params: estimator.Params{Rho: 0.5, MaxRows: 1, Relation: relation, Grid: estimator.Grid{Step: 0.5, Lo: -1 << 20, Hi: 1 << 20}}, Dim: dim, Moment: 4}
			if pure {
				p.Rho, p.Epsilon = 0, 3
			}
			e, err := NewMean(p)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(stattest.Source(t, name))
			b := &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{{Persons: persons}}}
			for range persons * dim {
				b.Chunks[0].Dense = append(b.Chunks[0].Dense, int64(300*r.NormFloat64())+1000)
			}
			in := estimator.Input{Persons: b.Persons(), Vectors: b}
			for range 200 {
				tape := &stattest.Tape{Noiser: stattest.Noiser(t, fmt.Sprint(name, n))}
				a := e.Release(tape, in)
				if a.Status != estimator.OK {
					continue
				}
				exact, centre := e.Release(tape.Again(dim, false), in).Values[0], e.Release(tape.Again(dim, true), in).Values[0]
				exact = centre + (exact-centre)*tape.First()/persons
				n++
				for k, level := range levels {
					lo, hi := errorbar.Interval(a, 0, level)
					v := a.Values[0]
					if lo <= exact && exact <= hi {
						hits[k]++
					}
					if (v+lo)/2 <= exact && exact <= (v+hi)/2 {
						half[k]++
					}
				}
			}
		}
		text := fmt.Sprintf("%s %d", name, n)
		for k, level := range levels {
			stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", name, level), hits[k], n, level))
			stattest.Reject(t, stattest.Coverage(fmt.Sprintf("%s at %v, half", name, level), half[k], n, level))
			text += fmt.Sprintf(" | %.1f %%", 100*float64(hits[k])/float64(n))
		}
		t.Log(text)
	}
	e, err := NewMean(Params{Params: estimator.Params{Rho: 5, MaxRows: 1, Grid: estimator.Grid{Step: 0.5, Lo: -1 << 20, Hi: 1 << 20}}, Dim: 1, Moment: 4, Split: Persons})
	if err != nil {
		t.Fatal(err)
	}
	b := &estimator.Block{Dim: 1, Chunks: []estimator.Chunk{{Persons: persons, Dense: make([]int64, persons)}}}
	if a := e.Release(stattest.Noiser(t, "third"), estimator.Input{Persons: b.Persons(), Vectors: b}); a.Status == estimator.OK && a.Error != nil {
		t.Error("a mean of a third of the persons has error bars")
	}
}
