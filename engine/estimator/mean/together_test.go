package mean_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/mean"
	"scrim/test/stattest"
)

// tally gathers answers and whether their intervals hold.
type tally struct {
	hold, answers int
	off           []float64 // relative errors
}

func (s *tally) add(a estimator.Estimate, i int, want float64) {
	if a.Status != estimator.OK || math.IsNaN(a.Values[i]) {
		return
	}
	s.answers++
	s.off = append(s.off, math.Abs(a.Values[i]/want-1))
	if lo, hi := errorbar.Interval(a, i, 0.95); lo <= want && want <= hi {
		s.hold++
	}
}

// error is the mean size of the relative errors, of which single answers that noise has thrown far
// off do not decide.
func (s *tally) error() float64 {
	sum := 0.0
	for _, d := range s.off {
		sum += min(d, 0.2)
	}
	return sum / float64(len(s.off))
}

// TestTogetherIsAsExactAsApart: number, sum and mean of one release agree, their intervals hold the
// exact answers, and none has a larger error than at a third of the loss by itself: of persons with
// one row or many, of values far from 0, even, skewed and heavy-tailed. The ratio of two errors of
// 120 runs each is known to some 10 %: each may be 1.25, and all together are 0.85 at most.
func TestTogetherIsAsExactAsApart(t *testing.T) {
	const runs, rho = 120, 0.02
	gains, cases := 0.0, 0.0
	for name, rowsOf := range map[string]func(*rand.Rand) int64{
		"one row": func(*rand.Rand) int64 { return 1 },
		"many":    func(r *rand.Rand) int64 { return 1 + int64(10*r.ExpFloat64()) },
	} {
		for _, l := range []struct {
			name    string
			persons int
			of      func(*rand.Rand) float64
		}{
			{"normal", 5000, func(r *rand.Rand) float64 { return 50000 + 1000*r.NormFloat64() }},
			{"of both signs", 5000, func(r *rand.Rand) float64 { return 300 + 1000*r.NormFloat64() }},
			{"even", 5000, func(r *rand.Rand) float64 { return 1 + 50*r.Float64() }},
			{"exponential", 5000, func(r *rand.Rand) float64 { return 10000 * r.ExpFloat64() }},
			{"log-normal", 5000, func(r *rand.Rand) float64 { return math.Exp(8 + r.NormFloat64()) }},
			{"Pareto 2", 20000, func(r *rand.Rand) float64 { return 1000 * math.Pow(1-r.Float64(), -1./2) }},
		} {
			label := name + ", " + l.name
			r, n := rand.New(stattest.Source(t, label)), stattest.Noiser(t, label)
			in := estimator.Input{Columns: make([][]int64, 2)}
			rows, total := 0.0, 0.0
			for range l.persons {
				m, s := rowsOf(r), int64(0)
				for range m {
					s += int64(l.of(r))
				}
				in.Columns[0], in.Columns[1] = append(in.Columns[0], m), append(in.Columns[1], s)
				rows, total = rows+float64(m), total+float64(s)
			}
			p := estimator.Params{Rho: rho, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}}
			if name == "one row" {
				p.MaxRows = 1
			}
			e, err := mean.NewTogether(p, []estimator.Params{p}, []mean.Asked{{Argument: -1}, {}, {Mean: true}})
			if err != nil {
				t.Fatal(err)
			}
			p.Rho /= 3
			var alone [3]estimator.Estimator
			for i, f := range []func(estimator.Params) (estimator.Estimator, error){
				func(p estimator.Params) (estimator.Estimator, error) { return count.NewRows(p, true) }, mean.NewSum, mean.NewRowMean,
			} {
				if alone[i], err = f(p); err != nil {
					t.Fatal(err)
				}
			}
			var apart, now [3]tally
			for range runs {
				a := e.Release(n, in)
				if s, v := a.Values[1], a.Values[0]*a.Values[2]; math.Abs(s-v) > 1e-9*math.Abs(s) {
					t.Fatalf("%s: a sum of %v, and a number times a mean of %v", label, s, v)
				}
				for i, want := range []float64{rows, total, total / rows} {
					now[i].add(a, i, want)
					own := in
					own.Columns = in.Columns[:len(alone[i].Columns())]
					apart[i].add(alone[i].Release(n, own), 0, want)
				}
			}
			for i, what := range []string{"number", "sum", "mean"} {
				x, y := now[i].error(), apart[i].error()
				t.Logf("%s: %s %.3g, apart %.3g, %d of %d hold", label, what, x, y, now[i].hold, now[i].answers)
				if now[i].answers < runs*9/10 || x > 1.25*y {
					t.Errorf("%s: %s has an error of %v, apart %v, in %d of %d runs", label, what, x, y, now[i].answers, runs)
				}
				stattest.Accept(t, stattest.Coverage(fmt.Sprint(label, ", ", what), now[i].hold, now[i].answers, 0.95))
				gains, cases = gains+math.Log(x/y), cases+1
			}
		}
	}
	if gain := math.Exp(gains / cases); gain > 0.85 {
		t.Errorf("errors are %.3f of those apart in the geometric mean", gain)
	}
}

// TestTogetherOfFewPersons: where persons are too few for a centre, the sum is about 0, and where
// no number stands out the number of rows is answered alone.
func TestTogetherOfFewPersons(t *testing.T) {
	p := estimator.Params{Rho: 0.01, MaxRows: 1, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 43, Hi: 1 << 43}}
	e, err := mean.NewTogether(p, []estimator.Params{p, p}, []mean.Asked{{Argument: 1}, {Argument: -1}, {Argument: 0, Mean: true}})
	if err != nil {
		t.Fatal(err)
	}
	for persons, known := range map[int]bool{0: false, 3: false, 400: true} {
		in := estimator.Input{Columns: make([][]int64, 3)}
		for range persons {
			for c, v := range []int64{1, 700, 9} {
				in.Columns[c] = append(in.Columns[c], v)
			}
		}
		n, told := stattest.Noiser(t, fmt.Sprint(persons)), 0
		for range 40 {
			a := e.Release(n, in)
			if a.Status != estimator.OK || math.IsNaN(a.Values[1]) {
				t.Fatalf("%d persons: no number: %+v", persons, a)
			}
			if !math.IsNaN(a.Values[0]) && !math.IsNaN(a.Values[2]) {
				told++
			} else if a.Needed < 1 {
				t.Errorf("%d persons: nobody is told how many would do", persons)
			}
		}
		if known && told < 36 || !known && told > 4 {
			t.Errorf("%d persons: %d of 40 sums and means", persons, told)
		}
	}
}
