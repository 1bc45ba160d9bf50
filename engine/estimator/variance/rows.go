package variance

import (
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// rows is the variance over rows, from one clipped 3-vector a person.
type rows struct {
	p       estimator.Params
	o       shown
	n       scalar.Persons
	centred scalar.Centred
	spread  clipping.Search // of squared distances of rows from the centre; not used with declared bounds
	clip    clipping.Search // norm of a vector
	width   scalar.Width    // sensitivity of the vectors' sum in radii
	sumRho  float64
	sigma   float64
}

// Weights of a person's number of rows and sum beside the sum of squares, and the resolution of the
// vectors' norms in the search for their clip: both first coordinates enter the answer to second
// order or multiplied by the small mean of squares.
const (
	rowsWeight = 0.5
	sumWeight  = 0.5
	normSteps  = 1 << 10
	// how far the mean square of the rows that a clip takes is from that of all, over all, when a
	// radius is chosen
	unlike = 0.5
)

// NewRows returns the private variance over rows, or several that are made of the same moments: one
// value for each of the options. Columns: Rows, Sum, SumSquaresHi, SumSquaresLo.
//
// Person i with mᵢ rows has D₁ = Σ(x−c) and D₂ = Σ(x−c)² over these rows, c a centre and κ a radius
// of one row, and gives the vector uᵢ = (w₀m, w₁D₁/κ, D₂/κ²), w₀ = w₁ = ½, shortened to norm C by
// one factor for all three coordinates: a person with many rows, or far-off ones, loses weight in
// numerator and denominator alike. With S the noisy sums, N = S₀/w₀, m₁ = S₁/(w₁N), m₂ = S₂/N
//
//	variance = κ²·max(0, m₂ − m₁²)·N/(N−1)   (without the last factor for a population)
//
// Sensitivity: uᵢ is a function of one person's columns and of released numbers, and scalar.Ball
// checks in integers that the shortened vector has ℓ2 norm at most C, on a lattice of C·2^-30. So
// adding or removing a person moves S by at most C in ℓ2, whatever the person's rows are.
// Exchanging one moves S by at most √2·C: the first and the third coordinate are ≥ 0, and u₁² ≤
// 2u₀u₂ by the Cauchy bound D₁² ≤ m·D₂ (with room, and kept in integers: acute), so that for two
// vectors |u₁u₁'| ≤ 2√(u₀u₂u₀'u₂') ≤ u₀u₀' + u₂u₂': their inner product is ≥ 0 and ‖u−u'‖² ≤ ‖u‖² +
// ‖u'‖² ≤ 2C². σ² = ⌈Δ²·2^60/(2ρ₃)⌉ lattice units on each coordinate, Δ = 1 or √2, costs ρ₃.
// Columns that the store had to saturate give a vector that is wrong but no longer, and total: D₂
// is kept between its Cauchy bound D₁²/m below and, with declared bounds, κ²m above.
//
//	add-remove    bounds declared   c = (L+U)/2, κ = (U−L)/2: n̂ 0.05, C 0.20, sums 0.75
//	              otherwise         n̂ 0.05, c 0.16 (median of the persons' means), κ 0.13 (histogram of D₂/m), C 0.20, sums 0.46
//	replace-one   bounds declared   C 0.25, sums 0.75; n̂ is public or covered (scalar.Shares)
//	              otherwise         c 0.22, κ 0.14, C 0.20, sums 0.44
//
// κ is chosen as the radius of New is, from the persons' mean squares D₂/m: a person whose mean
// square is beyond κ² has its rows drawn toward c until it is κ². What laws expect that this takes
// is added to the answer, as if those persons had as many rows as others, and the interval allows
// for it and for what the clip of the vectors takes (cutOf). With p.MaxRows = 1 rows are persons
// and the answer is that of New. TooFew when n̂ is under MinPersons, when no mean square or no norm
// stands out from the noise, or when the noisy number of rows is under three times its noise.
func NewRows(p estimator.Params, o ...Options) (estimator.Estimator, error) {
	if err := scalar.Check(p, true); err != nil {
		return nil, err
	}
	if p.MaxRows == 1 {
		return rowPersons{newPersons(p, o)}, nil
	}
	e := rows{p: p, o: o, width: scalar.NewWidth(p.Relation, 2, 1)}
	var parts []float64
	e.n, parts = rowShares(p, e.width).Of(p, 1)
	if p.Bounded() {
		e.centred = scalar.NewCentred(p, 0, 0)
	} else {
		e.centred = scalar.NewCentre(p, parts[0])
		e.spread = clipping.NewSquares(p, parts[1], e.centred.Hi-e.centred.Lo)
		parts = parts[2:]
	}
	e.clip, e.sumRho = clipping.NewSearch(p, parts[0], 0, vectorNormLimit), parts[1]
	e.sigma = scalar.Root(scalar.BallSigma2(e.width, e.sumRho))
	return e, nil
}

func rowShares(p estimator.Params, w scalar.Width) scalar.Shares {
	if p.Bounded() {
		return scalar.Shares{
			AddRemove: []float64{5, 20, 75}, ReplaceOne: []float64{25, 75},
			Joining: []float64{scalar.JoiningHistogram, w.Joining()},
		}
	}
	return scalar.Shares{
		AddRemove: []float64{5, 16, 13, 20, 46}, ReplaceOne: []float64{22, 14, 20, 44},
		Joining: []float64{scalar.JoiningMedian, scalar.JoiningHistogram, scalar.JoiningHistogram, w.Joining()},
	}
}

// Exchange implements estimator.Exchanging: of the vectors only that it is a removal and an
// addition is used.
func (e rows) Exchange() float64 {
	s := rowShares(e.p, e.width)
	if e.p.Bounded() {
		return s.Exchange(scalar.ExchangeHistogram, scalar.ExchangeBall)
	}
	return s.Exchange(scalar.ExchangeMedian, scalar.ExchangeHistogram, scalar.ExchangeHistogram, scalar.ExchangeBall)
}

// vectorNormLimit bounds the clip of a vector's norm, in units of 1/normSteps.
const vectorNormLimit = 1 << 61

// rowPersons is the variance over persons where each has one row; it reads, and does not need, the
// squares.
type rowPersons struct{ persons }

func (rowPersons) Columns() []estimator.Kind { return rows{}.Columns() }

// Release implements estimator.Estimator.
func (e rowPersons) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in.Columns = in.Columns[:len(e.persons.Columns())]
	return e.persons.Release(n, in)
}

// Columns implements estimator.Estimator.
func (rows) Columns() []estimator.Kind {
	return []estimator.Kind{estimator.Rows, estimator.Sum, estimator.SumSquaresHi, estimator.SumSquaresLo}
}

func (e rows) Loss() privacy.Loss           { return scalar.Loss(e.p.Rho) }
func (rows) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e rows) MinPersons() int64 {
	least := max(2, e.n.Enough(), e.centred.MinPersons(), e.clip.Persons())
	if e.p.Bounded() {
		return least
	}
	return max(least, e.spread.Persons())
}

// Bias implements estimator.Biased.
func (rows) Bias() string { return "the lower weight of persons with many rows, or far-off ones" }

// AllowsForBias implements estimator.Allowing.
func (rows) AllowsForBias() bool { return true }

// Steps implements estimator.Estimator.
func (e rows) Steps() []estimator.Step {
	steps := append(e.n.Steps(), e.centred.Steps()...)
	if !e.p.Bounded() {
		steps = append(steps, e.spread.Step("spread of one row"))
	}
	return append(steps, e.clip.Step("joint clip"), estimator.Step{
		Name: "rows, first and second moment", Mechanism: estimator.DiscreteGaussian, Sensitivity: e.width.String(), Queries: 3, Rho: e.sumRho,
	})
}

// Release implements estimator.Estimator.
func (e rows) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	m := in.Columns[0]
	count := e.n.Release(n, e.n.Of(in))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(len(e.o), e.MinPersons())
	}
	c, kappa := e.centred.Search(n, in.Memory, m, in.Columns[1])
	var far clipping.Squares
	if !e.p.Bounded() {
		var ok bool
		if far, ok = e.farthest(n, in, c); !ok || far.TooWild() {
			return scalar.TooFew(len(e.o), scalar.Twice(max(count, float64(e.MinPersons()))))
		}
		kappa = far.Radius
	}
	var h clipping.Histogram
	for i := range m {
		if m[i] > 0 {
			u := e.vector(in, i, c, kappa)
			norm := math.Sqrt(float64(u[0]*u[0]) + float64(u[1]*u[1]) + float64(u[2]*u[2]))
			h.Add(int64(min(scalar.Ceil(normSteps*norm), vectorNormLimit)))
		}
	}
	lengths, ok := e.clip.Release(n, &h, in.Groups).Lengths()
	if !ok {
		return scalar.TooFew(len(e.o), scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	radius := math.Floor(lengths.RadiusOfRatio(e.sigma/(1<<scalar.BallBits), unlike))
	ball := scalar.NewBall(radius / normSteps)
	var s [3]scalar.Sum
	for i := range m {
		if m[i] > 0 {
			for j, y := range acute(ball.Clip3(e.vector(in, i, c, kappa))) {
				s[j].Add(y)
			}
		}
	}
	sigma2 := scalar.BallSigma2(e.width, e.sumRho)
	var r [3]float64
	for j := range s {
		r[j] = s[j].Release(n, sigma2)
	}
	if r[0] < 3*e.sigma {
		return scalar.TooFew(len(e.o), scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	total := r[0] / rowsWeight // number of rows in lattice units
	m1, m2 := r[1]/sumWeight/total, r[2]/total
	d := e.sigma / total
	deviation := d * math.Hypot(math.Hypot(1, 2*m1/sumWeight), (m2-2*m1*m1)/rowsWeight)
	number := max(2, total/(1<<scalar.BallBits)*radius/normSteps)
	if !e.p.Bounded() && missed(c, kappa, m2-m1*m1, deviation) {
		return scalar.TooFew(len(e.o), scalar.Twice(count))
	}
	size := e.centred.Value(float64(kappa))
	told := estimator.Moments{
		First: []float64{m1 * size}, Second: []float64{m2 * size * size},
		Noise: []float64{d / sumWeight * size}, Noise2: []float64{d * size * size}, Count: number,
	}
	losses := lengths.Losses(radius)
	return e.o.each(told, d/rowsWeight, count, func(o Options) (estimator.Estimate, *estimator.Cut) {
		factor := o.factor(number)
		beyond := factor / count / float64(kappa) / float64(kappa) // of squares beyond κ
		added := clipping.Added(far.Cut*beyond*(1-math.Abs(m1)/2), deviation*factor)
		cut := cutOf(losses, r, size*size*factor)
		if far.Laws != nil {
			cut.Added = added * size * size
			cut.Up = clipping.Both(cut.Up, cutOfSquares(far.Laws, 0, beyond*size*size*(1+math.Abs(m1))).Up)
		}
		return o.estimate(size, m1, m2, factor, added, deviation), &cut
	})
}

// What a clip takes are far-off rows more often than ones at the centre: how far they may move a
// variance up, and down, over the farthest.
const (
	mostUp   = 0.2
	mostDown = 0.1
)

// cutOf returns laws of what the clip may move a variance by, in units of size², from the noisy
// sums r of the vectors that are left: docs/proofs/covariance.md. A share L of their lengths is
// taken, of persons whose rows are at the centre, far from it, or both. The length of them all is
// at most r₀ + r₂, the trace of the sum of the matrices that the vectors are.
func cutOf(losses []clipping.Loss, r [3]float64, size2 float64) estimator.Cut {
	total := r[0] / rowsWeight
	m1, m2 := r[1]/sumWeight/total, r[2]/total
	atCentre, sum := -(m2-2*m1*m1)/rowsWeight, 2*math.Abs(m1)/sumWeight
	reach := size2 * (r[0] + max(0, r[2])) / total
	law := func(farthest float64) []estimator.CutPart {
		parts := make([]estimator.CutPart, len(losses))
		for k, l := range losses {
			parts[k] = estimator.CutPart{Weight: l.Weight, StdDev: farthest * reach * math.Hypot(l.Wide, l.Spread) / (1 + l.Wide)}
		}
		return parts
	}
	return estimator.Cut{
		Up:   law(mostUp * max(1, (atCentre+sum+1)/2)),
		Down: law(mostDown * max(-atCentre, -(atCentre-sum+1)/2, 0)),
	}
}

// acute keeps y₁² ≤ 2y₀y₂, which holds but for the cut to the lattice of very small vectors: two
// vectors that keep it are not more than a right angle apart. y₀ and y₂ are at least 0, and their
// product is at most 2^59.
func acute(y [3]int64) [3]int64 {
	if y[1]*y[1] > 2*y[0]*y[2] {
		y[1] = 0
	}
	return y
}

// missed reports whether a centre is rather far beyond all values, by the variance about it in
// squared radii.
func missed(centre, radius int64, v, deviation float64) bool {
	c, r := float64(centre), float64(radius)
	return scalar.Missed(c*c, r*r, v*r*r, deviation*r*r)
}

// farthest releases the radius κ of one row, from the mean squares of the distances of each
// person's rows from the centre. Its noise is reckoned as if all had as many rows.
func (e rows) farthest(n noise.Noiser, in estimator.Input, c int64) (clipping.Squares, bool) {
	var h clipping.Histogram
	for i, m := range in.Columns[0] {
		if m > 0 {
			_, d2 := e.deviations(in, i, c)
			h.AddSquare(scalar.Ceil(math.Sqrt(d2 / float64(m))))
		}
	}
	return e.spread.Release(n, &h, in.Groups).Squares(e.sigma / (1 << scalar.BallBits))
}

// deviations returns D₁ and D₂ of a person in units of the person means: D₂ = Q − 2cT + c²m by way
// of the centred sum, D₂ = Q − T²/m + D₁²/m, where Q − T²/m >= 0 is the part that does not depend
// on the centre.
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
	if b > m { // rows beyond κ, or saturated columns
		a *= math.Sqrt(m / b)
		a, b = min(max(a, -m), m), m
	}
	return [3]float64{rowsWeight * m, sumWeight * a, b}
}
