package mean

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// shoppers have 1 to 3 rows each, one in twenty 15 to 25 of them, with log-normal values in
// hundredths.
func shoppers(t *testing.T, n int, sigma float64) (in estimator.Input, exact float64) {
	r := rand.New(stattest.Source(t, "shoppers"))
	in = estimator.Input{Persons: int64(n), Columns: make([][]int64, 2)}
	rows, total := 0, 0.0
	for range n {
		m, sum := 1+r.IntN(3), 0.0
		if r.IntN(20) == 0 {
			m = 15 + r.IntN(11)
		}
		for range m {
			sum += math.Round(2000 * math.Exp(sigma*r.NormFloat64()))
		}
		in.Columns[0], in.Columns[1] = append(in.Columns[0], int64(m)), append(in.Columns[1], int64(sum))
		rows += m
		total += sum / 100
	}
	return in, total / float64(rows)
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }

// TestSecondLookIsNearer: where a few persons have many rows, whose values are like those of
// others, two looks are nearer than one at the same loss, two to five times but for pure noise. So
// are the ends of their interval, which hold the exact mean as often as they say.
func TestSecondLookIsNearer(t *testing.T) {
	const runs, persons = 150, 1500
	in, exact := shoppers(t, persons, 0.7)
	for name, p := range map[string]estimator.Params{
		"add-remove": {Rho: 0.055}, "private number": {Rho: 0.22, Relation: estimator.ReplaceOne},
		"public number": {Rho: 0.22, Relation: estimator.ReplaceOne, Sized: true}, "pure": {Epsilon: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p.Grid = estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
			made, err := NewRowMean(p)
			if err != nil {
				t.Fatal(err)
			}
			e, n := made.(rowMean), stattest.Noiser(t, name)
			errors, widths, levels, held := [2][]float64{}, [2][]float64{}, []float64{0.5, 0.9, 0.95, 0.99}, [4]int{}
			for range runs {
				f := e.frame(n, in, persons)
				if !e.twice(f, persons) {
					t.Fatal("no second look")
				}
				plain, ok := e.whole.release(n, in, f, e)
				if !ok {
					t.Fatal("no answer of one look")
				}
				for k, a := range []estimator.Estimate{e.Release(n, in), e.estimate(plain, e.whole.noise.Law(), persons)} {
					lo, hi := errorbar.Interval(a, 0, 0.95)
					errors[k] = append(errors[k], math.Abs(a.Values[0]/exact-1))
					widths[k] = append(widths[k], (hi-lo)/exact)
					for i, level := range levels {
						if lo, hi := errorbar.Interval(a, 0, level); k == 0 && lo <= exact && exact <= hi {
							held[i]++
						}
					}
				}
			}
			off, width := [2]float64{median(errors[0]), median(errors[1])}, [2]float64{median(widths[0]), median(widths[1])}
			t.Logf("off by %.4f and %.4f, %.3f and %.3f wide in the median of two looks and of one; %v hold", off[0], off[1], width[0], width[1], held)
			if off[0] > 0.75*off[1] || width[0] > width[1]/3 {
				t.Error("two looks are hardly better than one")
			}
			for i, level := range levels {
				stattest.Accept(t, stattest.Coverage(fmt.Sprint(level), held[i], runs, level))
			}
		})
	}
}

// TestSecondLookAllowsForItsClip: of heavy-tailed values intervals hold the exact mean, and would
// not without what they allow for the clips.
func TestSecondLookAllowsForItsClip(t *testing.T) {
	const runs, persons, level = 150, 1500, 0.95
	in, exact := shoppers(t, persons, 1.6)
	e, err := NewRowMean(estimator.Params{Rho: 0.055, Grid: estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}})
	if err != nil {
		t.Fatal(err)
	}
	n, held, bare := stattest.Noiser(t, "heavy"), 0, 0
	for range runs {
		a := e.Release(n, in)
		if lo, hi := errorbar.Interval(a, 0, level); lo <= exact && exact <= hi {
			held++
		}
		a.Error.Cut = nil
		if lo, hi := errorbar.Interval(a, 0, level); lo <= exact && exact <= hi {
			bare++
		}
	}
	t.Logf("%d of %d hold, %d by the noise alone", held, runs, bare)
	stattest.Accept(t, stattest.Coverage("two looks", held, runs, level))
	stattest.Reject(t, stattest.Coverage("the noise alone", bare, runs, level))
}

// TestStepsHaveOneLoss: whichever steps follow from the number of persons, they have one loss, and
// the account is told of those that cost the most at every order.
func TestStepsHaveOneLoss(t *testing.T) {
	for _, p := range []estimator.Params{{Rho: 0.3}, {Rho: 0.3, Relation: estimator.ReplaceOne, Sized: true}, {Epsilon: 0.7}} {
		p.Grid = estimator.Grid{Step: 1, Lo: -1000, Hi: 1000}
		made, err := NewRowMean(p)
		if err != nil {
			t.Fatal(err)
		}
		e := made.(rowMean)
		few, many := fewest{e}, fine{e}
		if a, b := lossOf(few.Steps()), lossOf(e.Steps()); a > p.Rho+p.Epsilon || b > p.Rho+p.Epsilon || math.Abs(a/b-1) > 1e-9 {
			t.Errorf("%+v: the fewest steps cost %v, all %v", p, a, b)
		}
		told, drawn := privacy.CurveOf(e.Events()), privacy.CurveOf(estimator.StepEvents(many))
		for _, order := range []float64{0.5, 1, 7, 31, 200} {
			if a, b := told.At(order), drawn.At(order); a < b {
				t.Errorf("%+v: at order 1+%v the account is told of %v, and all steps cost %v", p, order, a, b)
			}
		}
	}
}

// fine has the steps of many persons.
type fine struct{ rowMean }

func lossOf(steps []estimator.Step) (sum float64) {
	for _, s := range steps {
		sum += s.Rho + s.Epsilon
	}
	return sum
}
