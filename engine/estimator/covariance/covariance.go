package covariance

import (
	"errors"
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// moments are statistics of two arguments over persons or over rows, from one clipped vector a
// person.
type moments struct {
	p       estimator.Params
	rows    bool // every row counts once, not every person
	of      []Statistic
	n       scalar.Persons
	centred [2]scalar.Centred
	spread  [2]scalar.Radius // radius of one row about the centre; not used with declared bounds
	bounded [2]bool
	clip    clipping.Search // norm of a vector
	width   scalar.Width    // sensitivity of the vectors' sum in radii
	sumRho  float64
	sigma   float64
}

const (
	// normSteps is the resolution of the vectors' norms in the search for their clip.
	normSteps = 1 << 10
	// normLimit bounds the clip of a norm, in units of 1/normSteps.
	normLimit = 1 << 61
	// unlike is how far the mean moments of the rows that a clip takes are from those of all, over
	// all, when a radius is chosen.
	unlike = 0.5
)

// New returns private statistics of the arguments x, whose lattice is p.Grid, and y, whose lattice
// is p.Other: one value each. Rows where one of the two is absent are absent. byRow weighs rows
// alike, otherwise persons, each with the mean of its rows. Columns: Rows, Sum, OtherSum, and for
// rows the sums of squares and products.
//
// Person i gives the vector uᵢ (person), shortened to norm C by one factor for all coordinates,
// so that a person with many rows, or far-off ones, loses weight everywhere alike. The noisy sums
// are those of the moments of all rows, and the statistics are functions of them (Statistic).
//
// Sensitivity: uᵢ is a function of one person's columns and of released numbers, and scalar.Ball
// checks in integers that the shortened vector has ℓ2 norm at most C, on a lattice of C·2^-30. So
// adding or removing a person moves the sums by at most C in ℓ2, whatever the person's rows are.
//
// Exchanging one moves them by at most √2·C. The vector is the matrix Σ(½, tx, ty)(½, tx, ty)ᵀ over
// the person's rows with smaller entries off the block of x and y: positive semi-definite, which
// for any columns is kept by forming it as a sum of such, the part within the person (whose product
// is cut to what Cauchy's bound allows) and that of the mean. The inner product of two vectors is
// the trace of the product of the matrices, so it is not negative, and ‖u−u'‖² ≤ ‖u‖² + ‖u'‖².
// Rounding moves a vector by less than 2^-27·C, and so an inner product by less than 2^-25·C²;
// acute shortens by 2^-18 and leaves some 2^-17·C² for it. The noise, σ² = ⌈Δ²·2^60/(2ρ)⌉ lattice
// units on each coordinate, Δ = 1 or √2, costs ρ [CKS20, Theorem 14].
//
// Shares of the loss, where an argument has no declared bounds; one that has leaves its two out:
//
//	add-remove    n̂ 0.05, of each argument c 0.10 and κ 0.08, C 0.17, sums 0.42
//	replace-one   likewise without n̂, which is public or covered (scalar.Shares)
//
// TooFew when n̂ is under MinPersons, when the noisy number of rows is under three times its noise,
// or where a spread that a statistic divides by is under four times its own.
func New(p estimator.Params, of []Statistic, byRow bool) (estimator.Estimator, error) {
	switch {
	case len(of) == 0:
		return nil, errors.New("covariance: no statistic")
	case p.Other == nil:
		return nil, errors.New("covariance: want two arguments")
	}
	for _, s := range of {
		if s >= statistics {
			return nil, fmt.Errorf("covariance: unknown statistic %d", s)
		}
	}
	both := [2]estimator.Params{p, p.OfOther()}
	for _, q := range both {
		if err := scalar.Check(q, true); err != nil {
			return nil, err
		}
	}
	e := moments{p: p, rows: byRow, of: of, width: scalar.NewWidth(p.Relation, 2, 1), bounded: [2]bool{both[0].Bounded(), both[1].Bounded()}}
	var parts []float64
	e.n, parts = e.shares().Of(p, 1)
	for j, q := range both {
		if e.bounded[j] {
			e.centred[j] = scalar.NewCentred(q, 0, 0)
			continue
		}
		e.centred[j] = scalar.NewCentre(q, parts[0])
		e.spread[j] = scalar.NewRadius(p.Relation, parts[1], e.centred[j].Hi-e.centred[j].Lo)
		parts = parts[2:]
	}
	e.clip, e.sumRho = clipping.NewSearch(p, parts[0], 0, normLimit), parts[1]
	e.sigma = scalar.Root(scalar.BallSigma2(e.width, e.sumRho))
	return e, nil
}

// exchangeVectors is (√2)².
const exchangeVectors = 2

// shares divides the loss.
func (e moments) shares() scalar.Shares {
	s := scalar.Shares{AddRemove: []float64{5}}
	step := func(weight, joining float64) {
		s.AddRemove = append(s.AddRemove, weight)
		s.ReplaceOne = append(s.ReplaceOne, weight)
		s.Joining = append(s.Joining, joining)
	}
	for _, bounded := range e.bounded {
		if !bounded {
			step(10, scalar.JoiningMedian)
			step(8, scalar.JoiningHistogram)
		}
	}
	step(17, scalar.JoiningHistogram)
	step(42, e.width.Joining())
	return s
}

// Exchange implements estimator.Exchanging: two vectors are not more than a right angle apart, so
// an exchange costs their sum twice as much as one person more or less.
func (e moments) Exchange() float64 {
	var steps []float64
	for _, bounded := range e.bounded {
		if !bounded {
			steps = append(steps, scalar.ExchangeMedian, scalar.ExchangeHistogram)
		}
	}
	return e.shares().Exchange(append(steps, scalar.ExchangeHistogram, exchangeVectors)...)
}

// Columns implements estimator.Estimator.
func (e moments) Columns() []estimator.Kind {
	if !e.rows {
		return []estimator.Kind{estimator.Rows, estimator.Sum, estimator.OtherSum}
	}
	return []estimator.Kind{
		estimator.Rows, estimator.Sum, estimator.SumSquaresHi, estimator.SumSquaresLo,
		estimator.OtherSum, estimator.OtherSquaresHi, estimator.OtherSquaresLo, estimator.ProductsHi, estimator.ProductsLo,
	}
}

func (e moments) Loss() privacy.Loss           { return scalar.Loss(e.p.Rho) }
func (moments) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e moments) MinPersons() int64 {
	least := max(3, e.n.Enough(), e.clip.Persons())
	for j := range e.centred {
		if !e.bounded[j] {
			least = max(least, e.centred[j].MinPersons(), 2*e.spread[j].Persons())
		}
	}
	return least
}

// Bias implements estimator.Biased.
func (moments) Bias() string { return "the lower weight of persons with many rows, or far-off ones" }

// AllowsForBias implements estimator.Allowing.
func (moments) AllowsForBias() bool { return true }

// Steps implements estimator.Estimator.
func (e moments) Steps() []estimator.Step {
	steps := e.n.Steps()
	for j, name := range []string{"spread of one row", "spread of one row of the second argument"} {
		if !e.bounded[j] {
			steps = append(append(steps, e.centred[j].Steps()...), e.spread[j].Step(name))
		}
	}
	return append(steps, e.clip.Step("joint clip"), estimator.Step{
		Name: "rows, sums, squares and products", Mechanism: estimator.DiscreteGaussian, Sensitivity: e.width.String(), Queries: dim, Rho: e.sumRho,
	})
}

// Release implements estimator.Estimator.
func (e moments) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	m := in.Columns[0]
	count := e.n.Release(n, e.n.Of(in))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(len(e.of), e.MinPersons())
	}
	needed := scalar.Twice(max(count, float64(e.MinPersons())))
	var c, kappa [2]int64
	for j := range c {
		c[j], kappa[j] = e.centre(n, in, j)
	}
	var h clipping.Histogram
	for i := range m {
		if m[i] > 0 {
			norm2 := 0.0
			for _, x := range e.person(in, i, c, kappa) {
				norm2 += float64(x * x)
			}
			h.Add(int64(min(scalar.Ceil(normSteps*math.Sqrt(norm2)), normLimit)))
		}
	}
	lengths, ok := e.clip.Release(n, &h, in.Groups).Lengths()
	if !ok {
		return scalar.TooFew(len(e.of), needed)
	}
	radius := math.Floor(lengths.RadiusOfRatio(e.sigma/(1<<scalar.BallBits), unlike))
	sums := e.sums(in, c, kappa, scalar.NewBall(radius/normSteps))
	sigma2 := scalar.BallSigma2(e.width, e.sumRho)
	r := released{sigma: e.sigma, unit: radius / normSteps / (1 << scalar.BallBits), losses: lengths.Losses(radius)}
	for j := range sums {
		r.sums[j] = sums[j].Release(n, sigma2)
	}
	if r.sums[0] < 3*e.sigma {
		return scalar.TooFew(len(e.of), needed)
	}
	for j := range c {
		r.centre[j], r.size[j] = e.centred[j].Value(float64(c[j])), e.centred[j].Value(float64(kappa[j]))
	}
	return e.answer(r, needed)
}

// sums adds the shortened vectors of all persons.
func (e moments) sums(in estimator.Input, c, kappa [2]int64, ball scalar.Ball) (s [dim]scalar.Sum) {
	var y [dim]int64
	for i, m := range in.Columns[0] {
		if m > 0 {
			u := e.person(in, i, c, kappa)
			ball.ClipTo(y[:], u[:])
			acute(&y)
			for j := range s {
				s[j].Add(y[j])
			}
		}
	}
	return s
}

// centre returns the centre and the radius of one row of argument j, in units of the person means.
func (e moments) centre(n noise.Noiser, in estimator.Input, j int) (c, kappa int64) {
	at := 1 + j
	if e.rows {
		at = 1 + 3*j
	}
	c, kappa = e.centred[j].Search(n, in.Memory, in.Columns[0], in.Columns[at])
	if e.bounded[j] {
		return c, kappa
	}
	var h scalar.Histogram
	for i, rows := range in.Columns[0] {
		if rows <= 0 {
			continue
		}
		m := 1.0
		if e.rows {
			m = float64(rows)
		}
		h.Add(scalar.Ceil(math.Sqrt(e.one(in, i, j, c).squares(m) / m)))
	}
	kappa, _ = e.spread[j].Choose(n, &h)
	return c, kappa
}

// A person's vector has six coordinates. With m rows (1 where persons are weighed alike), a and b
// the sums of the deviations x − c of the two arguments from their centres in units of their
// radiuses, A and B those of their squares, C that of their products,
//
//	u = (m/2, a/2, b/2, A, √2·C, B)
const dim = 6

// Weights of the number of rows, the sums and the products. That of the products makes the length
// of a row's vector the same in every direction of the plane; the first two are as those of a
// variance.
const (
	rowsWeight = 0.5
	sumWeight  = 0.5
	math2      = math.Sqrt2
)

// shrink is the part of a clipped vector that is left off, as a power of two: see acute.
const shrink = 18

// person returns the vector of person i.
func (e moments) person(in estimator.Input, i int, c, kappa [2]int64) [dim]float64 {
	x, y := e.one(in, i, 0, c[0]), e.one(in, i, 1, c[1])
	m := 1.0
	between := 0.0
	if e.rows {
		rows := in.Columns[0][i]
		m = float64(rows)
		t, u := clamp(in.Columns[1][i]), clamp(in.Columns[4][i])
		between = scalar.Between(rows, t, u, in.Columns[7][i], uint64(in.Columns[8][i]))
		between = math.Ldexp(between, int(e.centred[0].Shift)+int(e.centred[1].Shift))
		if most := math.Sqrt(x.within) * math.Sqrt(y.within); !(math.Abs(between) <= most) {
			between = math.Copysign(most, between) // saturated columns
		}
	}
	k, l := float64(kappa[0]), float64(kappa[1])
	return [dim]float64{
		rowsWeight * m, sumWeight * x.sum / k, sumWeight * y.sum / l,
		x.squares(m) / k / k, math2 * (between + x.sum*(y.sum/m)) / k / l, y.squares(m) / l / l,
	}
}

// one is a person's sum of deviations from a centre and the sum of squares about the person's own
// mean, in units of the person means.
type one struct{ sum, within float64 }

// squares is the sum of squares about the centre.
func (o one) squares(m float64) float64 { return o.within + o.sum*(o.sum/m) }

// one returns the deviations of argument j of a person from c.
func (e moments) one(in estimator.Input, i, j int, c int64) one {
	centred, m := e.centred[j], in.Columns[0][i]
	at := 1 + j // of the sums
	if !e.rows {
		return one{sum: float64(centred.Of(m, in.Columns[at][i]) - c)}
	}
	at = 1 + 3*j
	total := clamp(in.Columns[at][i])
	within := scalar.Within(m, total, in.Columns[at+1][i], uint64(in.Columns[at+2][i]))
	return one{scalar.Deviation(m, total, c, centred.Shift), math.Ldexp(within, 2*int(centred.Shift))}
}

func clamp(x int64) int64 { return min(max(x, -estimator.MaxUnits), estimator.MaxUnits) }

// acute makes a clipped vector shorter by 2^-18: then two of them are at most √2 radiuses apart, as
// those before the rounding are: see New.
func acute(y *[dim]int64) {
	for j := range y {
		y[j] -= y[j] / (1 << shrink)
	}
}
