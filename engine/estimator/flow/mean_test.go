package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// meanGrid is of hundredths.
func meanGrid(lo, hi int64) estimator.Params {
	return estimator.Params{Grid: estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: lo, Hi: hi}}
}

// valued gives each result of pairs a value from lo to hi, in steps, that is larger where more
// results are, and returns the sums less a shift, the numbers, and the mean in steps.
func valued(r *rand.Rand, p *estimator.Pairs, lo, hi, shift int64) (*estimator.Pairs, float64) {
	out := *p
	out.Weights, out.Counts = make([]int64, len(p.Left)), make([]int64, len(p.Left))
	sum, count := 0.0, 0.0
	for i := range p.Left {
		n := int64(1)
		if p.Weights != nil {
			n = p.Weights[i]
		}
		for range n {
			x := lo + r.Int64N(hi-lo+1)
			if p.Left[i]%7 == 0 {
				x = lo + (x-lo)/4
			}
			out.Weights[i] += x - shift
			sum += float64(x)
		}
		out.Counts[i] = n
		count += float64(n)
	}
	return &out, sum / count
}

func TestMeansLoseTheirParameter(t *testing.T) {
	lower, upper := int64(-500), int64(700)
	for _, s := range []Shape{Two, Self} {
		for _, p := range []estimator.Params{meanGrid(-1<<40, 1<<40), meanGrid(0, 900), meanGrid(lower, upper)} {
			if p.Grid.Lo == lower {
				p.Lower, p.Upper = &lower, &upper
			}
			for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
				for _, loss := range []float64{1e-6, 0.05, 20} {
					p.Relation, p.Rho, p.Epsilon = relation, loss, 0
					e, err := NewMean(p, s)
					if err != nil {
						t.Fatal(err)
					}
					if want := (privacy.Loss{Rho: privacy.RhoOf(loss)}); e.Loss() != want {
						t.Errorf("loss %+v, want %+v", e.Loss(), want)
					}
					sum := 0.0
					for _, step := range e.Steps() {
						sum += step.Rho
					}
					m := e.(ofResults)
					if parts := m.sum.Loss().Add(m.count.Loss()); parts.Rho > e.Loss().Rho {
						t.Errorf("the two releases lose %v of %v", parts, e.Loss())
					}
					if sum > loss || sum < loss*(1-1e-9)-5e-12 || len(e.Steps()) != 8 {
						t.Errorf("%d steps lose %v, want %v", len(e.Steps()), sum, loss)
					}
					var events privacy.Rho
					for _, x := range e.(estimator.Itemised).Events() {
						events = events.Add(x.Rho)
					}
					if events > e.Loss().Rho {
						t.Errorf("events lose %v of %v", events, e.Loss().Rho)
					}
					p.Rho, p.Epsilon = 0, loss
					if e, err = NewMean(p, s); err != nil || e.Loss() != privacy.PureLoss(loss) {
						t.Errorf("pure: %v, %v", e.Loss(), err)
					}
				}
			}
		}
	}
	if _, err := NewMean(estimator.Params{Rho: 1, Grid: meanGrid(0, 1).Grid}, Distinct); err == nil {
		t.Error("a mean of distinct values was accepted")
	}
}

// TestMeansOfEdges: finite answers within the range, whatever the pairs are.
func TestMeansOfEdges(t *testing.T) {
	r := rand.New(stattest.Source(t, "mean edges"))
	for name, pairs := range groups(r) {
		for _, p := range []estimator.Params{meanGrid(-1<<40, 1<<40), meanGrid(5, 900)} {
			for _, rho := range []float64{1e-6, 0.1, 1e5} {
				p.Rho = rho
				e, err := NewMean(p, Self)
				if err != nil {
					t.Fatal(err)
				}
				a := e.Release(stattest.Noiser(t, name), estimator.Input{Pairs: pairs})
				if x := a.Values[0]; math.IsNaN(x) || math.IsInf(x, 0) || a.Status == estimator.OK && (x < float64(p.Grid.Lo)/100 || x > float64(p.Grid.Hi)/100) {
					t.Errorf("%s: %+v", name, a)
				}
				if lo, hi := errorbar.Interval(a, 0, 0.95); a.Status == estimator.OK && !(lo <= a.Values[0] && a.Values[0] <= hi) {
					t.Errorf("%s: [%v, %v] of %v", name, lo, hi, a.Values[0])
				}
			}
		}
	}
}

// TestMeansAndTheirIntervals: near the exact ones, within intervals of 95 %, with equal persons and
// with a tail, where some persons have other values. A third of the standard error is caught.
func TestMeansAndTheirIntervals(t *testing.T) {
	r := rand.New(stattest.Source(t, "means"))
	lower, upper := int64(300), int64(900)
	for name, pairs := range map[string]*estimator.Pairs{"even": joined(r, 300, 300, 4000), "tail": heavy(r, 2, 400, 4000)} {
		for _, s := range []Shape{Two, Self} {
			for _, p := range []estimator.Params{meanGrid(lower, upper), meanGrid(-1<<40, 1<<40)} {
				if p.Rho = 1; p.Grid.Lo == lower {
					p.Lower, p.Upper = &lower, &upper
				}
				values, want := valued(r, pairs, lower, upper, Shift(p))
				want /= 100
				e, err := NewMean(p, s)
				if err != nil {
					t.Fatal(err)
				}
				id := fmt.Sprint(name, s, p.Grid.Lo)
				n := stattest.Noiser(t, id)
				hits, narrow, answers, off := 0, 0, 0, 0.0
				for range 25 {
					a := e.Release(n, estimator.Input{Pairs: values})
					if a.Status != estimator.OK {
						continue
					}
					answers++
					off += math.Abs(a.Values[0] - want)
					lo, hi := errorbar.Interval(a, 0, 0.95)
					if lo <= want && want <= hi {
						hits++
					}
					if math.Abs(a.Values[0]-want) <= a.StdErr[0]/3 {
						narrow++
					}
				}
				t.Logf("%s: %d answers, off by %.3f of %.3f, %d in", id, answers, off/float64(max(1, answers)), want, hits)
				stattest.Accept(t, stattest.Coverage(id, hits, answers, 0.95))
				if answers < 23 || off/float64(answers) > 0.15*want {
					t.Errorf("%s: %d answers, off by %v of %v", id, answers, off/float64(answers), want)
				}
				if narrow > 18 {
					t.Errorf("%s: within a third of the standard error %d times of %d", id, narrow, answers)
				}
			}
		}
	}
}
