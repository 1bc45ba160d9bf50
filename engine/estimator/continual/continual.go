// Package continual releases running totals of a span of days, one day after the other, for one
// loss.
//
//	x_t          what day t adds to a count or a sum
//	y = B·x + z  what is released of it: B is lower triangular, z is noise, one number a day
//	B⁻¹·y        the days' values; their running sums are the running totals
//
// B is the square root of the matrix of ones that adds the days up, rounded to integers: so a day's
// number rests on that day and on those before it, and the noise of a total of many days stays
// near that of few. A person counts for at most Bound over all days together, however that is
// spread over them; who calls Add sees to it.
//
// docs/proofs/continual.md has the argument for one person's loss.
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

// coefficientBits is the resolution of the matrix: its smallest entry of 3,660 days is 0.0093, ten
// thousand steps of 2^-20. What the rounding changes is known exactly: sensitivity and totals are
// of the rounded matrix.
const coefficientBits = 20

// matrix is the lower triangular matrix B, whose entry in row i and column j is c[i−j].
type matrix struct {
	c []int64 // in steps of 2^-coefficientBits
	// comes is the squared length of the first column, which is the longest; exchanged the most of
	// the difference of two columns, or of one.
	comes, exchanged int64
	// inverse has the coefficients of B⁻¹: a day's value is Σ inverse[k]·y[t−k].
	inverse []float64
	// values and totals are the lengths of the rows of B⁻¹ and of A·B⁻¹, by day.
	values, totals []float64
}

// newMatrix returns the square root of the matrix of ones of so many days:
//
//	c[0] = 1    c[k] = c[k−1]·(2k−1)/(2k) = binom(2k, k)/4^k
//
// each rounded down to a multiple of 2^-20, by integers alone, so that it is the same wherever a
// series goes on. As power series it is Σ c[k]·s^k = (1 − s)^(−1/2), and A is 1/(1 − s) [FHU23].
func newMatrix(days int) *matrix {
	const guard = 108 // bits below the resolution
	m := &matrix{}
	at := new(big.Int).Lsh(big.NewInt(1), coefficientBits+guard)
	for k := range days {
		if k > 0 {
			at.Mul(at, big.NewInt(int64(2*k-1)))
			at.Quo(at, big.NewInt(int64(2*k)))
		}
		c := new(big.Int).Rsh(at, guard)
		m.c = append(m.c, c.Int64())
	}
	m.measure()
	m.invert()
	return m
}

// measure finds how far one person moves the rows who adds 1 to one day, or who is exchanged for
// one on another day. Of MaxDays entries of at most 2^20 all sums are below 2^53.
func (m *matrix) measure() {
	days := len(m.c)
	length := make([]int64, days+1) // squared, of the column with so many entries
	for k, c := range m.c {
		length[k+1] = length[k] + c*c
	}
	m.comes = length[days]
	m.exchanged = m.comes
	for apart := 1; apart < days; apart++ {
		inner := int64(0) // of columns so far apart, the later one with n entries
		for n := 1; n+apart <= days; n++ {
			inner += m.c[n-1] * m.c[n-1+apart]
			m.exchanged = max(m.exchanged, length[n]+length[n+apart]-2*inner)
		}
	}
}

// moves is the squared length by which one person moves the rows who adds at most 1 to all days
// together, in squared steps.
func (m *matrix) moves(r estimator.Relation) int64 {
	if r == estimator.ReplaceOne {
		return m.exchanged
	}
	return m.comes
}

// invert finds what totals are made by, and their errors for noise of length 1.
func (m *matrix) invert() {
	values, totals, running := 0.0, 0.0, 0.0
	for k := range m.c {
		x := 0.0
		if k == 0 {
			x = 1
		}
		for j := 1; j <= k; j++ {
			x -= math.Ldexp(float64(m.c[j]), -coefficientBits) * m.inverse[k-j]
		}
		m.inverse = append(m.inverse, x)
		running += x
		values, totals = values+x*x, totals+running*running
		m.values, m.totals = append(m.values, math.Sqrt(values)), append(m.totals, math.Sqrt(totals))
	}
}

// row is Σ c[k]·x[t−k], the exact number of day t in steps of the matrix.
func (m *matrix) row(x []*big.Int, t int) *big.Int {
	sum, c, product := new(big.Int), new(big.Int), new(big.Int)
	for j := range t + 1 {
		if x[j].Sign() != 0 {
			sum.Add(sum, product.Mul(c.SetInt64(m.c[t-j]), x[j]))
		}
	}
	return sum
}

// MaxDays bounds the days of a series: ten years.
const MaxDays = 3660

// Measure is what is added up.
type Measure struct {
	Sum          bool           // of k(x) over rows; else the number of rows
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
	// Bound is the most that one person counts for over the whole span: rows, or steps of the grid.
	// From 1 to MaxUnits.
	Bound int64
}

// Signed reports whether a row may take something away.
func (m Measure) Signed() bool {
	lo, _ := m.Range()
	return lo < 0
}

// Range is that of one row, in steps; 1 where rows are counted.
func (m Measure) Range() (lo, hi int64) {
	if !m.Sum {
		return 1, 1
	}
	return scalar.Range(estimator.Params{Grid: m.Grid, Lower: m.Lower, Upper: m.Upper})
}

// Value is a number of steps as it is shown.
func (m Measure) Value(steps float64) float64 {
	if m.Sum {
		return scalar.Scale(m.Grid, steps)
	}
	return steps
}

// Params are the public facts of a series. The input of a release of all days at once is a sparse
// block of days times len(Measures) entries: entry t·len(Measures) + m of a person is measure m on
// day t; what is 0 may be left out.
type Params struct {
	Rho      float64
	Relation estimator.Relation
	Days     int
	Measures []Measure
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if p.Days < 1 || p.Days > MaxDays {
		return fmt.Errorf("continual: want 1 to %d days, have %d", MaxDays, p.Days)
	}
	if len(p.Measures) == 0 {
		return fmt.Errorf("continual: want a measure")
	}
	for _, m := range p.Measures {
		q := estimator.Params{Rho: p.Rho, Relation: p.Relation}
		if m.Sum {
			q.Grid, q.Lower, q.Upper = m.Grid, m.Lower, m.Upper
		}
		if err := scalar.Check(q, m.Sum); err != nil {
			return err
		}
		if m.Signed() {
			return fmt.Errorf("continual: want numbers of at least 0")
		}
		if m.Bound < 1 || m.Bound > estimator.MaxUnits {
			return fmt.Errorf("continual: want a bound of 1 to 2^%v, have %d", math.Log2(estimator.MaxUnits), m.Bound)
		}
	}
	return nil
}
