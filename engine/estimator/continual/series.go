package continual

import (
	"fmt"
	"math"
	"math/big"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Series is the mechanism of a series with its parameters fixed. It is immutable: what has been
// released is the caller's.
type Series struct {
	p      Params
	m      *matrix
	rho    []float64  // of each measure
	sigma2 []*big.Int // of a day's noise, in squared steps of the matrix
}

// New returns the release of a series. Columns: Vector. Each of m measures has ρ/m, and noise of
//
//	σ² = ⌈Bound²·Δ²/(2ρ/m)⌉
//
// a day, Δ the length of the longest column of the matrix where persons come or go, and the most of
// the difference of two columns where they are exchanged. Of each day and measure it answers
// Numbers values: see DayOf.
func New(p Params) (*Series, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	even := make([]float64, len(p.Measures))
	for i := range even {
		even[i] = 1
	}
	s := &Series{p: p, m: newMatrix(p.Days), rho: scalar.Split(p.Rho, even...)}
	for i, m := range p.Measures {
		l2 := scalar.Square(m.Bound)
		l2.Mul(l2, big.NewInt(s.m.moves(p.Relation)))
		s.sigma2 = append(s.sigma2, scalar.Sigma2(l2, 1, s.rho[i]))
	}
	return s, nil
}

// Of returns the series that an estimator is.
func Of(e estimator.Estimator) (*Series, bool) {
	s, ok := e.(*Series)
	return s, ok
}

// Params are those that it was made with.
func (s *Series) Params() Params { return s.p }

// Add releases days of a measure: those of days behind the ones of noisy, which have been released.
// days has what each day adds, exactly, and noisy what was released of the first ones; it returns
// the numbers to release of the others, in steps of the matrix.
//
// A person must have added at most the measure's Bound to all days together, and nothing under 0
// to any. What day t adds may follow from what was released of days before it.
func (s *Series) Add(n noise.Noiser, measure int, days, noisy []*big.Int) []*big.Int {
	if len(days) > s.p.Days || len(noisy) > len(days) {
		panic("continual: days outside of the series")
	}
	var out []*big.Int
	for t := len(noisy); t < len(days); t++ {
		out = append(out, n.Gaussian(s.m.row(days, t), s.sigma2[measure]))
	}
	return out
}

// Day is what is shown of a measure on a day.
type Day struct {
	Value, StdErr      float64 // of the day
	Total, TotalStdErr float64 // of the days up to it, which is the sum of their values
}

// Days are all days of a measure that were released, by what Add has returned of them. It is
// post-processing, and gives a day the same numbers whatever comes after it.
func (s *Series) Days(measure int, noisy []*big.Int) []Day {
	m, y := s.p.Measures[measure], make([]float64, len(noisy))
	for t, v := range noisy {
		y[t] = math.Ldexp(scalar.Float(v), -coefficientBits)
	}
	sigma := s.sigma(measure)
	out, total := make([]Day, len(noisy)), 0.0
	for t := range out {
		value := 0.0
		for k, x := range s.m.inverse[:t+1] {
			value += x * y[t-k]
		}
		total += value
		out[t] = Day{m.Value(value), m.Value(sigma * s.m.values[t]), m.Value(total), m.Value(sigma * s.m.totals[t])}
	}
	return out
}

// Columns implements estimator.Estimator.
func (*Series) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }

// Loss implements estimator.Estimator.
func (s *Series) Loss() privacy.Loss { return scalar.Loss(s.p.Rho) }

// MinPersons implements estimator.Estimator: a day has a number whatever is in it.
func (*Series) MinPersons() int64 { return 0 }

// ExpectedError implements estimator.Estimator: that of the last running total.
func (s *Series) ExpectedError() (float64, bool) { return s.LastError(0), len(s.p.Measures) == 1 }

// LastError is the standard error of the last running total of a measure, which is the largest.
func (s *Series) LastError(measure int) float64 {
	return s.p.Measures[measure].Value(s.sigma(measure) * s.m.totals[s.p.Days-1])
}

// sigma is the noise of a day's number, in units of the measure's steps.
func (s *Series) sigma(measure int) float64 {
	return math.Ldexp(scalar.Root(s.sigma2[measure]), -coefficientBits)
}

// Steps implements estimator.Estimator.
func (s *Series) Steps() []estimator.Step {
	var steps []estimator.Step
	length := math.Ldexp(math.Sqrt(float64(s.m.moves(s.p.Relation))), -coefficientBits)
	for i, m := range s.p.Measures {
		steps = append(steps, estimator.Step{
			Name: "days", Mechanism: estimator.DiscreteGaussian, Use: "running totals by the square root of their matrix",
			Sensitivity: fmt.Sprintf("l2=%.4g of the bound %g", length, m.Value(float64(m.Bound))), Queries: s.p.Days, Rho: s.rho[i],
		})
	}
	return steps
}

// NoiseAlone implements estimator.NoiseAlone.
func (*Series) NoiseAlone() bool { return true }

// Bias implements estimator.Biased.
func (*Series) Bias() string { return "what the bound of a person takes away" }

// Numbers is how many values an estimate of all days has of each day and measure.
const Numbers = 2

// DayOf reads a measure of an estimate of one day.
func DayOf(e estimator.Estimate, measure int) Day {
	at := measure * Numbers
	return Day{e.Values[at], e.StdErr[at], e.Values[at+1], e.StdErr[at+1]}
}

// Release implements estimator.Estimator, for all days at once.
func (s *Series) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	width := len(s.p.Measures)
	values := s.p.Days * width * Numbers
	out := estimator.Estimate{Values: make([]float64, values), StdErr: make([]float64, values)}
	for i, days := range s.bounded(in.Vectors) {
		for t, d := range s.Days(i, s.Add(n, i, days, nil)) {
			at := (t*width + i) * Numbers
			copy(out.Values[at:], []float64{d.Value, d.Total})
			copy(out.StdErr[at:], []float64{d.StdErr, d.TotalStdErr})
		}
	}
	return out
}

// bounded adds up the days of each measure. A person counts from the first day on, up to the bound.
func (s *Series) bounded(b *estimator.Block) [][]*big.Int {
	width := len(s.p.Measures)
	days := make([][]*big.Int, width)
	for i := range days {
		for range s.p.Days {
			days[i] = append(days[i], new(big.Int))
		}
	}
	left, x := make([]int64, width), new(big.Int)
	for c := range b.Chunks {
		for p := range b.Chunks[c].Persons {
			for i, m := range s.p.Measures {
				left[i] = m.Bound
			}
			block.Person{Chunk: &b.Chunks[c], I: p}.Each(func(at int, v int64) {
				i := at % width
				v = min(max(0, v), left[i])
				left[i] -= v
				days[i][at/width].Add(days[i][at/width], x.SetInt64(v))
			})
		}
	}
	return days
}
