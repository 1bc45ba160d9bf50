package variance

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// Options choose what is shown.
type Options struct {
	Stddev     bool // the square root, in units of the argument
	Population bool // divide by n instead of n−1
}

// persons is the variance of one number a person.
type persons struct {
	p       estimator.Params
	o       shown
	n       scalar.Persons
	centred scalar.Centred
	clip    clipping.Search // of squared distances from the centre; not used with declared bounds
	sumRho  float64
	moments
}

// New returns the private variance of one value a person, the mean of the person's rows, or several
// that are made of the same moments: one value for each of the options. Columns: Rows, Sum.
//
// With x̄ᵢ the person's mean, c a centre and C a radius, the person gives t = clip(x̄ᵢ − c, ±C)/C,
// cut toward zero to a multiple of 2^-24, and the vector (wt, t² − h), h = 1/4. With S the noisy
// sums and m₁ = S₁/n̂, m₂ = S₂/n̂ + h
//
//	variance = C²·max(0, m₂ − m₁²)·n̂/(n̂−1)   (without the last factor for a population)
//
// Sensitivity: t is an integer over 2^24 and the lattice of S₁, S₂ holds t and t² exactly: no
// rounding enters.
//
//	add-remove    ‖(wt, t²−h)‖² = w²s + (s−h)² with s = t² in [0,1] is convex in s, so its maximum is at an end:
//	              Δ² = w² + (1−h)² for w² ≥ 2h−1
//	replace-one   ‖(w(t−t'), t²−t'²)‖² = a²(w² + b²) with a = |t−t'|, b = |t+t'| ≤ 2−a: Δ² = max a²(w² + (2−a)²) over a in [0,2],
//	              which is 4w² at a = 2 or, where w² < ½, the value at a = (3−√(1−2w²))/2; it also bounds w² + (1−h)²
//
// Noise with σ₂² = ⌈Δ²/(2ρ₃)⌉ on S₂ and σ₁² = ⌈Δ²/(2ρ₃w²)⌉ on S₁/w costs ρ₃ [CKS20, Theorem 14].
//
// w = 1, h = ½ (Δ = √1.25, and 2 under replace-one) is the obvious choice; a smaller w helps
// because m₁ is near 0 and enters squared, and a smaller h because t² is near 0 for most persons,
// so that the noise of n̂ hardly enters through S₂. With bounds declared, where c need not be near
// the mean, w = 3/4 (Δ² = 9/8), or 5/8 under replace-one (Δ² = 25/16); otherwise w = 1/2 (Δ² =
// 13/16, or 1.2862).
//
//	add-remove    bounds declared   n̂ 0.15, sums 0.85; c and C from the interval
//	              otherwise         n̂ 0.08, c 0.20 (median), C 0.17 (histogram of (x̄ᵢ − c)²), sums 0.55
//	replace-one   bounds declared   sums 1; n̂ is public or covered (scalar.Shares)
//	              otherwise         c 0.24, C 0.26, sums 0.50
//
// A person is in one bucket of the histogram, a function of the person's rows and of c, which is
// released before; C is a function of the noisy counts (clipping.Squares). What laws that explain
// them expect that the clip takes from the squares is added to the answer, as far as it lowers the
// variance: docs/proofs/clipping.md.
//
// TooFew when n̂ is under MinPersons, when no square stands out from the histogram's noise, or when
// the laws expect that the answer would say next to nothing.
func New(p estimator.Params, o ...Options) (estimator.Estimator, error) {
	if err := scalar.Check(p, true); err != nil {
		return nil, err
	}
	return newPersons(p, o), nil
}

// moments are the weight w in eighths and the squared sensitivity Δ² in 1/1024.
type moments struct{ weight, delta2 int64 }

// momentsOf are those of the package's weights; 1.2862 is 1317.04/1024, rounded up.
func momentsOf(p estimator.Params) moments {
	switch exchange := p.Relation == estimator.ReplaceOne; {
	case p.Bounded() && exchange:
		return moments{5, 1600}
	case p.Bounded():
		return moments{6, 1152}
	case exchange:
		return moments{4, 1318}
	}
	return moments{4, 832}
}

// joining is what one person more or less costs of the loss of the moments under replace-one: (w² +
// (1−h)²)/Δ².
func (m moments) joining() float64 { return float64(16*m.weight*m.weight+576) / float64(m.delta2) }

func newPersons(p estimator.Params, o []Options) persons {
	e := persons{p: p, o: o, moments: momentsOf(p)}
	var parts []float64
	e.n, parts = e.shares(p).Of(p, 1)
	if p.Bounded() {
		e.centred, e.sumRho = scalar.NewCentred(p, 0, 0), parts[0]
	} else {
		e.centred, e.sumRho = scalar.NewCentre(p, parts[0]), parts[2]
		e.clip = clipping.NewSquares(p, parts[1], e.centred.Hi-e.centred.Lo)
	}
	return e
}

func (m moments) shares(p estimator.Params) scalar.Shares {
	if p.Bounded() {
		return scalar.Shares{AddRemove: []float64{15, 85}, ReplaceOne: []float64{1}, Joining: []float64{m.joining()}}
	}
	return scalar.Shares{
		AddRemove: []float64{8, 20, 17, 55}, ReplaceOne: []float64{24, 26, 50},
		Joining: []float64{scalar.JoiningMedian, scalar.JoiningHistogram, m.joining()},
	}
}

// Exchange implements estimator.Exchanging: of the moments only that it is a removal and an
// addition is used.
func (e persons) Exchange() float64 {
	if e.p.Bounded() {
		return e.shares(e.p).Exchange(scalar.ExchangeBall)
	}
	return e.shares(e.p).Exchange(scalar.ExchangeMedian, scalar.ExchangeHistogram, scalar.ExchangeBall)
}

// unitBits is the resolution of t.
const unitBits = 24

func (persons) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (e persons) Loss() privacy.Loss           { return scalar.Loss(e.p.Rho) }
func (persons) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e persons) MinPersons() int64 {
	least := max(2, e.n.Enough(), e.centred.MinPersons())
	if e.p.Bounded() {
		return least
	}
	return max(least, e.clip.Persons())
}

// AllowsForBias implements estimator.Allowing.
func (persons) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (e persons) Bias() string {
	if e.centred.Bounded() {
		return ""
	}
	return "the clip about the centre"
}

// Steps implements estimator.Estimator.
func (e persons) Steps() []estimator.Step {
	steps := append(e.n.Steps(), e.centred.Steps()...)
	if !e.p.Bounded() {
		steps = append(steps, e.clip.Step("clip"))
	}
	return append(steps, estimator.Step{
		Name: "first and second moment", Mechanism: estimator.DiscreteGaussian, Sensitivity: e.sensitivity(), Queries: 2, Rho: e.sumRho,
	})
}

// sensitivity is Δ of (wt, t²), where t has no unit.
func (m moments) sensitivity() string {
	return fmt.Sprintf("l2=%.5g", math.Ceil(math.Sqrt(float64(m.delta2))/32*1e4)/1e4)
}

// sigma2 returns the variances of S₁ in units of 2^-24 and of S₂ in units of 2^-48.
func (e persons) sigma2() (first, second *big.Int) {
	w2 := 16 * e.weight * e.weight // in 1/1024
	delta2 := new(big.Int).Lsh(big.NewInt(e.delta2), 2*unitBits)
	first = new(big.Int).Add(delta2, big.NewInt(w2-1))
	first.Quo(first, big.NewInt(w2))
	second = delta2.Lsh(delta2, 2*unitBits-10)
	return scalar.Sigma2(first, 1, e.sumRho), scalar.Sigma2(second, 1, e.sumRho)
}

// Release implements estimator.Estimator.
func (e persons) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	rows, totals := in.Columns[0], in.Columns[1]
	count := e.n.Release(n, e.n.Of(in))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(len(e.o), e.MinPersons())
	}
	c, radius := e.centred.Search(n, in.Memory, rows, totals)
	v1, v2 := e.sigma2()
	var squares clipping.Squares
	if !e.p.Bounded() {
		var h clipping.Histogram
		for i, m := range rows {
			if m > 0 {
				h.AddSquare(gap(e.centred.Of(m, totals[i]), c))
			}
		}
		var ok bool
		squares, ok = e.clip.Release(n, &h, in.Groups).Squares(scalar.Root(v2) / (1 << (2 * unitBits)))
		if !ok || squares.TooWild() {
			return scalar.TooFew(len(e.o), scalar.Twice(max(count, float64(e.MinPersons()))))
		}
		radius = squares.Radius
	}
	var s1, s2 scalar.Sum
	for i, m := range rows {
		if m > 0 {
			t := unit(e.centred.Of(m, totals[i])-c, radius)
			s1.Add(t)
			s2.Add(t*t - 1<<(2*unitBits-2))
		}
	}
	m1 := s1.Release(n, v1) / (1 << unitBits) / count
	h2 := s2.Release(n, v2) / (1 << (2 * unitBits)) / count
	d1 := scalar.Root(v1) / (1 << unitBits) / count
	second := scalar.Root(v2) / (1 << (2 * unitBits)) / count
	d2 := math.Hypot(second, (h2-2*m1*m1)*e.n.Sigma()/count)
	if !e.p.Bounded() && missed(c, radius, h2+0.25-m1*m1, math.Hypot(d2, 2*m1*d1)) {
		return scalar.TooFew(len(e.o), scalar.Twice(count))
	}
	size := e.centred.Value(float64(radius))
	told := estimator.Moments{
		First: []float64{m1 * size}, Second: []float64{h2 * size * size}, Offset: []float64{0.25 * size * size},
		Noise: []float64{d1 * size}, Noise2: []float64{second * size * size}, Count: count,
	}
	return e.o.each(told, e.n.Under(count), count, func(o Options) (a estimator.Estimate, cut *estimator.Cut) {
		factor := o.factor(count)                                    // MinPersons is at least 2
		beyond := factor / count / float64(radius) / float64(radius) // of squares beyond the radius
		added := clipping.Added(squares.Cut*beyond*(1-math.Abs(m1)/2), d2*factor)
		if squares.Laws != nil {
			c := cutOfSquares(squares.Laws, added*size*size, beyond*size*size*(1+math.Abs(m1)))
			cut = &c
		}
		return o.estimate(size, m1, h2+0.25, factor, added, math.Hypot(d2, 2*m1*d1)), cut
	})
}

// cutOfSquares returns laws of what the clip takes from the variance, in its units, from those of
// what it takes from the squares of distances.
func cutOfSquares(laws []estimator.CutPart, added, unit float64) estimator.Cut {
	up := make([]estimator.CutPart, len(laws))
	for i, l := range laws {
		up[i] = estimator.CutPart{Weight: l.Weight, Mean: l.Mean * unit, StdDev: l.StdDev * unit}
	}
	return estimator.Cut{Added: added, Up: up}
}

// gap is the distance of two numbers.
func gap(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// shown are the values that are made of the same moments.
type shown []Options

// each makes an estimate of all values: of the moments m, with n̂ in Count, of noise under over n̂,
// and of a released number of persons; one makes a value, and what a clip takes from it.
func (s shown) each(m estimator.Moments, under, persons float64, one func(Options) (estimator.Estimate, *estimator.Cut)) estimator.Estimate {
	var out estimator.Estimate
	x := &estimator.Error{Form: estimator.Variance, Under: []float64{under}, Persons: persons, Moments: &m}
	count := m.Count
	for _, o := range s {
		a, cut := one(o)
		out.Values, out.StdErr = append(out.Values, a.Values...), append(out.StdErr, a.StdErr...)
		if cut != nil {
			x.Cut = append(x.Cut, *cut)
		}
		if m.Root, m.Count = o.Stddev, count; o.Population {
			m.Count = 0
		}
		m.As = append(m.As, estimator.As{Count: m.Count, Root: m.Root})
	}
	if len(s) == 1 {
		m.As = nil
	}
	out.Error = x
	return out
}

// factor is what a mean square is multiplied by, of n values.
func (o Options) factor(n float64) float64 {
	if o.Population {
		return 1
	}
	return n / (n - 1)
}

// unit returns clip(x, ±radius)/radius cut toward zero to 2^-24: an integer of at most 2^24 in
// absolute value.
func unit(x, radius int64) int64 {
	x = min(max(x, -radius), radius)
	u := uint64(max(x, -x))
	hi, lo := bits.Mul64(u, 1<<unitBits)
	// hi = ⌊u/2^40⌋ < radius, as u <= radius and radius >= 1
	q, _ := bits.Div64(hi, lo, uint64(radius))
	if x < 0 {
		return -int64(q)
	}
	return int64(q)
}

// estimate turns moments in units of size into an answer, to which so much is added for a clip;
// deviation is that of m2 − m1².
func (o Options) estimate(size, m1, m2, factor, added, deviation float64) estimator.Estimate {
	v := max(0, (m2-m1*m1)*factor+added)
	deviation *= factor
	if !o.Stddev {
		return scalar.One(size*size*v, size*size*deviation)
	}
	root := math.Sqrt(v)
	if v <= deviation {
		return scalar.One(size*root, math.NaN()) // the square root is not near a line there
	}
	return scalar.One(size*root, size*deviation/(2*root))
}
