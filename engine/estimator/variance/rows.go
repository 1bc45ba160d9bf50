package variance

import (
	"math"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// rows is the variance over rows, from one clipped 3-vector a person.
type rows struct {
	p       estimator.Params
	o       Options
	n       scalar.Persons
	centred scalar.Centred
	spread  scalar.Radius // radius of one row about the centre; not used with declared bounds
	clip    scalar.Radius // norm of a vector
	sumRho  float64
	sigma   float64
}

// Weights of a person's number of rows and sum beside the sum of squares, and the resolution of the
// vectors' norms in the search for their clip: both first coordinates enter the answer to second order or
// multiplied by the small mean of squares.
const (
	rowsWeight = 0.5
	sumWeight  = 0.5
	normSteps  = 1 << 10
)

// NewRows returns the private variance over rows. Columns: Rows, Sum, SumSquaresHi, SumSquaresLo.
//
// Person i with mᵢ rows has D₁ = Σ(x−c) and D₂ = Σ(x−c)² over these rows, c a centre and κ a radius of one row, and gives
// the vector uᵢ = (w₀m, w₁D₁/κ, D₂/κ²), w₀ = w₁ = ½, shortened to norm C by one factor for all three coordinates: a
// person with many rows, or far-off ones, loses weight in numerator and denominator alike. With S the noisy
// sums, N = S₀/w₀, m₁ = S₁/(w₁N), m₂ = S₂/N
//
//	variance = κ²·max(0, m₂ − m₁²)·N/(N−1)   (without the last factor for a population)
//
// Sensitivity: uᵢ is a function of one person's columns and of released numbers, and scalar.Ball checks in integers
// that the shortened vector has ℓ2 norm at most C, on a lattice of C·2^-30. So adding or removing a person moves S by at
// most C in ℓ2, whatever the person's rows are, and σ² = ⌈2^60/(2ρ₃)⌉ lattice units on each coordinate costs ρ₃.
// Columns that the store had to saturate give a vector that is wrong but no longer, and total: D₂ is kept
// between its Cauchy bound D₁²/m below and, with declared bounds, κ²m above.
//
//	bounds declared   c = (L+U)/2, κ = (U−L)/2: n̂ 0.05, C 0.20, sums 0.75
//	otherwise         n̂ 0.05, c 0.17 (median of the persons' means), κ 0.14 (histogram of √(D₂/m)), C 0.13, sums 0.51
//
// The radius of the persons' means that Centred releases with c is not spent: κ takes its place, since the spread
// of rows within persons counts too. With p.MaxRows = 1 rows are persons and the answer is that of New. TooFew when n̂
// is under MinPersons, or when the noisy number of rows is under three times its noise.
func NewRows(p estimator.Params, o Options) (estimator.Estimator, error) {
	if err := scalar.Check(p, true); err != nil {
		return nil, err
	}
	if p.MaxRows == 1 {
		return rowPersons{newPersons(p, o)}, nil
	}
	e := rows{p: p, o: o}
	if p.Bounded() {
		parts := scalar.Split(p.Rho, 5, 20, 75)
		e.n, e.centred = scalar.NewPersons(parts[0]), scalar.NewCentred(p, 0, 0)
		e.clip, e.sumRho = scalar.NewRadius(parts[1], vectorNormLimit), parts[2]
	} else {
		parts := scalar.Split(p.Rho, 5, 17, 14, 13, 51)
		e.n, e.centred = scalar.NewPersons(parts[0]), scalar.NewCentre(p, parts[1])
		e.spread = scalar.NewRadius(parts[2], e.centred.Hi-e.centred.Lo)
		e.clip, e.sumRho = scalar.NewRadius(parts[3], vectorNormLimit), parts[4]
	}
	e.sigma = scalar.Root(scalar.BallSigma2(e.sumRho))
	return e, nil
}

// vectorNormLimit bounds the clip of a vector's norm, in units of 1/normSteps.
const vectorNormLimit = 1 << 61

// rowPersons is the variance over persons where each has one row; it reads, and does not need, the squares.
type rowPersons struct{ persons }

func (rowPersons) Columns() []estimator.Kind { return rows{}.Columns() }

// Columns implements estimator.Estimator.
func (rows) Columns() []estimator.Kind {
	return []estimator.Kind{estimator.Rows, estimator.Sum, estimator.SumSquaresHi, estimator.SumSquaresLo}
}

func (e rows) Loss() accounting.Loss        { return scalar.Loss(e.p.Rho) }
func (rows) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e rows) MinPersons() int64 {
	least := max(2, e.n.Enough(), e.centred.MinPersons(), 2*e.clip.Persons())
	if e.p.Bounded() {
		return least
	}
	return max(least, 2*e.spread.Persons())
}

// Steps implements estimator.Estimator.
func (e rows) Steps() []estimator.Step {
	steps := append([]estimator.Step{e.n.Step()}, e.centred.Steps()...)
	if !e.p.Bounded() {
		steps = append(steps, e.spread.Step("spread of one row"))
	}
	return append(steps, e.clip.Step("joint clip"), estimator.Step{
		Name: "rows, first and second moment", Mechanism: "discrete-gaussian", Sensitivity: "l2=clip", Queries: 3, Rho: e.sumRho,
	})
}

// Release implements estimator.Estimator.
func (e rows) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	m := in.Columns[0]
	count := e.n.Release(n, scalar.Present(m))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(1, e.MinPersons())
	}
	c, kappa := e.centre(n, in)
	var h scalar.Histogram
	for i := range m {
		if m[i] > 0 {
			u := e.vector(in, i, c, kappa)
			h.Add(scalar.Ceil(normSteps * math.Sqrt(float64(u[0]*u[0])+float64(u[1]*u[1])+float64(u[2]*u[2]))))
		}
	}
	radius, _ := e.clip.Choose(n, &h)
	ball := scalar.NewBall(float64(radius) / normSteps)
	var s [3]scalar.Sum
	for i := range m {
		if m[i] > 0 {
			for j, y := range ball.Clip3(e.vector(in, i, c, kappa)) {
				s[j].Add(y)
			}
		}
	}
	sigma2 := scalar.BallSigma2(e.sumRho)
	var r [3]float64
	for j := range s {
		r[j] = s[j].Release(n, sigma2)
	}
	if r[0] < 3*e.sigma {
		return scalar.TooFew(1, scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	total := r[0] / rowsWeight // number of rows in lattice units
	m1, m2 := r[1]/sumWeight/total, r[2]/total
	d := e.sigma / total
	deviation := d * math.Hypot(math.Hypot(1, 2*m1/sumWeight), (m2-2*m1*m1)/rowsWeight)
	number := max(2, total/(1<<scalar.BallBits)*float64(radius)/normSteps)
	factor := 1.0
	if !e.o.Population {
		factor = number / (number - 1)
	}
	return e.o.estimate(e.centred.Value(float64(kappa)), m1, m2, factor, deviation)
}

// centre returns the centre and the radius of one row, in units of the person means.
func (e rows) centre(n noise.Noiser, in estimator.Input) (c, kappa int64) {
	c, kappa = e.centred.Search(n, in.Columns[0], in.Columns[1])
	if e.p.Bounded() {
		return c, kappa
	}
	var h scalar.Histogram
	for i, m := range in.Columns[0] {
		if m > 0 {
			_, d2 := e.deviations(in, i, c)
			h.Add(scalar.Ceil(math.Sqrt(d2 / float64(m))))
		}
	}
	kappa, _ = e.spread.Choose(n, &h)
	return c, kappa
}

// deviations returns D₁ and D₂ of a person in units of the person means: D₂ = Q − 2cT + c²m by way of the centred sum,
// D₂ = Q − T²/m + D₁²/m, where Q − T²/m >= 0 is the part that does not depend on the centre.
func (e rows) deviations(in estimator.Input, i int, c int64) (d1, d2 float64) {
	m := in.Columns[0][i]
	total := min(max(in.Columns[1][i], -estimator.MaxUnits), estimator.MaxUnits)
	d1 = scalar.Deviation(m, total, c, e.centred.Shift)
	within := scalar.Within(m, total, in.Columns[2][i], uint64(in.Columns[3][i]))
	d2 = math.Ldexp(within, 2*int(e.centred.Shift)) + float64(d1*d1)/float64(m)
	return d1, d2
}

// vector returns (w₀m, w₁D₁/κ, D₂/κ²).
func (e rows) vector(in estimator.Input, i int, c, kappa int64) [3]float64 {
	m, k := float64(in.Columns[0][i]), float64(kappa)
	d1, d2 := e.deviations(in, i, c)
	a, b := d1/k, d2/k/k
	if e.p.Bounded() { // a row is within κ of c
		a, b = min(max(a, -m), m), min(b, m)
	}
	return [3]float64{rowsWeight * m, sumWeight * a, b}
}
