package groups

import (
	"math"
	"math/big"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// With many groups, a few of them have most of what there is. A first sum, at a tenth of the loss,
// tells which; the second, with the rest, weighs coordinate j by
//
//	w_j/√m_j     m_j = max(|first sum|, 2σ) by the first weights
//
// so that its noise has a standard deviation in proportion to m_j^(1/4): PLAN [ALP24] for the ℓ2
// error (p = 2, scales σ_j ∝ √m_j), as its first stage for sparse data. A person's norm counts what
// is common less, the radius is shorter, and groups that are rarely met get less noise. The answer
// is the mean of both sums by their precision, so that the first one's loss is not lost.
//
// What is computed from the first sum is public: the second is a sum of vectors clipped by released
// weights, and its loss adds up.

// leastPlanned is the number of groups from which on that is done: with fewer, the second histogram
// costs more than weights gain.
const leastPlanned = 256

// firstShare is the share of the loss of both sums that the first gets.
const firstShare = 0.1

// plan releases both sums; radius is that of the first weights.
func (r release) plan(n noise.Noiser, v vectors, radius clip, limit float64) released {
	first := r.clipped(n, v, radius, r.first)
	w, c := r.shaped(first, v.weights)
	unit := r.unitOf(w, true)
	rescale(w, unit)
	v = vectors{measured: v.measured, weights: w, norms: v.normsBy(&r.layout, w)}
	h := r.secondHistogram()
	second, ok := c.radius(h, releaseOf(n, h, v.Memory, v.norms), limit*unit)
	if !ok { // no norm within the first radius passes that
		second = clip{radius: radius.radius * unit, losses: slices.Clone(radius.losses), known: radius.known}
		for i := range second.losses {
			second.losses[i].Left *= unit
		}
	}
	return first.with(r.clipped(n, v, second, r.sum))
}

// shaped returns the weights by a first sum, and the cost of a radius by them. They are powers of
// √2, of which there are few.
//
// The error is still measured by the first weights: the noise is factor2·C²·Σ_j w_j/w'_j/(2ρ), and
// what a person loses is longer by the first weights than by the second by about √(Σ
// m_j/Σ(w'_j/w_j)·m_j).
func (r release) shaped(first released, weights []float64) ([]float64, cost) {
	out := make([]float64, len(weights))
	noise, mass, shapedMass := 0.0, 0.0, 0.0
	for j, w := range weights {
		floor := 2 * first.sigma[j]
		// all have the same noise by the weights
		size := math.Abs(first.sums[r.sizedBy(j)]) * math.Sqrt(weights[r.sizedBy(j)]/w)
		f := 1.0
		if size > floor {
			f = math.Exp2(-math.Floor(min(math.Log2(size/floor), 60)) / 2)
			mass += size * math.Sqrt(w)
			shapedMass += size * math.Sqrt(w) * f
		}
		out[j] = min(max(w*f, 0x1p-200), 0x1p200)
		noise += 1 / f
	}
	longer := 1.0
	if mass > 0 {
		longer = math.Sqrt(mass / shapedMass)
	}
	return out, cost{float64(r.factor2) * noise / (2 * r.sum), alignment(r.layout.dim) * longer, true}
}

// sizedBy is the coordinate that tells how much there is at coordinate j: for the differences of a
// mean, which add up to little, that of its rows.
func (r release) sizedBy(j int) int {
	for _, p := range r.layout.parts {
		if p.Measure.mean() && p.first == j%r.layout.width {
			return j + 1
		}
	}
	return j
}

// with returns the mean of two released sums by their precision. What the clip of the first takes
// is taken to be its expectation, as it has little of the precision; nothing is known of either
// where nothing is of one.
func (s released) with(o released) released {
	out := released{sums: make([]float64, len(s.sums)), sigma: make([]float64, len(s.sums)), groups: s.groups, reached: o.reached, whole: s.whole && o.whole}
	share, lost := 0.0, lostOf(s.losses)
	for j := range s.sums {
		p, q := 1/(s.sigma[j]*s.sigma[j]), 1/(o.sigma[j]*o.sigma[j])
		out.sums[j], out.sigma[j] = (p*s.sums[j]+q*o.sums[j])/(p+q), 1/math.Sqrt(p+q)
		share += q / (p + q) / float64(len(s.sums))
	}
	if (s.losses != nil || s.whole) && o.losses != nil {
		for _, l := range o.losses {
			l.Near, l.Wide = share*l.Near+(1-share)*lost, share*l.Wide+(1-share)*lost
			out.losses = append(out.losses, l)
		}
	}
	return out
}

// Shares of the looks, for one part and for all together.
const (
	countShare, centreShare, spreadShare, scaleShare = 0.01, 0.08, 0.03, 0.03
	centreMost, lookMost                             = 0.20, 0.10
)

// joining is the most that a step costs under replace-one where a person comes or goes, of what an
// exchange costs: a half, as of histograms, profiles and sums without negative numbers. Ranks and
// other sums cost a quarter.
const joining = scalar.JoiningHistogram

// share splits the loss: the doc comment of New has the parts. counted says that the number of
// persons has no part in it.
func (r *release) share(counted bool) {
	l, means := r.layout, 0
	for _, p := range l.parts {
		if p.Measure.mean() {
			means++
		}
	}
	centre := min(centreShare, centreMost/float64(max(means, 1)))
	spread := min(spreadShare, lookMost/float64(max(means, 1)))
	scale := 0.0
	if len(l.parts) > 1 {
		scale = min(scaleShare, lookMost/float64(len(l.parts)))
	}
	b := budget{r.p.Rho, 1}
	r.planned = r.fixed == 0 && r.p.Groups >= leastPlanned
	switch {
	case !r.counting, counted:
	case r.p.Relation == estimator.ReplaceOne:
		r.persons = scalar.CoveredPersons(r.p.Rho, joining)
	default:
		r.persons = scalar.NewPersons(b.take(countShare))
	}
	for _, p := range l.parts {
		s := search{part: p}
		if p.Measure.mean() {
			open, first, second := scalar.Open(r.p.scalar(p.Aggregate, r.p.Rho)), b.take(centre), b.take(spread)
			s.centre = scalar.NewCentre(open, first)
			octaves := firstpass.NewOctaves(spreadPer, firstpass.Farthest(p.means.Lo, p.means.Hi, 1))
			s.spread = firstpass.NewHistogram(octaves, r.delta2, second)
			s.coarse = scalar.NewCoarse(open, s.centre.Means, (first+second)*(1-1e-12))
		}
		if scale > 0 {
			s.scale = firstpass.NewHistogram(firstpass.NewOctaves(r.normsPer(), l.farthest(p, r.most())), r.delta2, b.take(scale))
		}
		r.searches = append(r.searches, s)
	}
	if r.profiled() {
		r.profile = b.take(profileShare)
	}
	if r.fixed == 0 {
		r.norms = b.take(radiusShare(l.dim, r.farthest()/r.unit(), r.factor2, r.delta2))
	}
	if r.planned {
		r.second = b.take(radiusShare(l.dim, r.farthest()/r.unit(), r.factor2, r.delta2))
		r.first = b.take(b.left * firstShare)
	}
	r.sum = b.take(b.left)
}

// budget is what is left of a loss, in shares of the whole.
type budget struct{ rho, left float64 }

// take returns the loss of a share and reduces what is left. Each part is rounded down by one part
// in 10^12, far more than the error of the differences, so that the exact sum of all parts is at
// most rho.
func (b *budget) take(share float64) float64 {
	share = min(share, b.left)
	b.left -= share
	return b.rho * share * (1 - 1e-12)
}

// variance is that of the noise on a coordinate of weight w of a sum of vectors clipped to a radius
// C (block.ClipSum), at loss rho for the sum:
//
//	σ² = ⌈⌈f²·C²·2^(2·ClipBits)/w⌉/(2ρ)⌉
//
// One person moves the sum by Δ with Σ_j w_j·Δ_j² ≤ f²·C²·2^(2·ClipBits), so Σ_j Δ_j²/(2σ_j²) ≤ ρ
// [CKS20, Theorem 14]. C and w are finite and positive: the quotient is exact, and rounding is up.
func variance(radius, weight float64, factor2 int64, rho float64) *big.Int {
	c, w := new(big.Rat).SetFloat64(radius), new(big.Rat).SetFloat64(weight)
	c.Mul(c, c).Quo(c, w)
	num := new(big.Int).Mul(c.Num(), big.NewInt(factor2))
	num.Lsh(num, 2*block.ClipBits)
	q, m := num.QuoRem(num, c.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return scalar.Sigma2(q, 1, rho)
}

// released is a noisy sum, with the standard deviation of the noise of each coordinate, in units of
// the prepared entries, and what its clip takes.
type released struct {
	sums, sigma []float64
	losses      []clipping.Loss // nil where nothing is known of them
	whole       bool            // nothing is lost
	groups      float64
	reached     float64 // number of groups that a person is in, about
}

// release adds the noise to every coordinate, those of empty groups included. weights are those of
// the coordinates, of which many are equal.
func (r release) release(n noise.Noiser, sums []*big.Int, weights []float64, radius, rho float64) released {
	type width struct {
		variance *big.Int
		sigma    float64
	}
	widths := map[float64]width{}
	out := released{sums: make([]float64, len(sums)), sigma: make([]float64, len(sums)), groups: float64(r.p.Groups)}
	f := new(big.Float)
	for j, s := range sums {
		w, ok := widths[weights[j]]
		if !ok {
			v := variance(radius, weights[j], r.factor2, rho)
			w = width{v, math.Ldexp(scalar.Root(v), -block.ClipBits)}
			widths[weights[j]] = w
		}
		x, _ := f.SetInt(n.Gaussian(s, w.variance)).Float64()
		out.sums[j], out.sigma[j] = math.Ldexp(x, -block.ClipBits), w.sigma
	}
	return out
}

// Expectation is what a release is expected to do for a person in some number of groups, by public
// facts alone. Standard deviations are those of the noise on one group's answer, in units of the
// aggregate's scale: what a person adds to one group that should be counted whole, 1 for persons,
// the bound of a total for sums. For means, whose noise is divided by the group's rows, they are
// those of the sum of differences per κ.
type Expectation struct {
	Vector  float64 // of this release
	Bounded float64 // of a mechanism for each group, with bounded persons
	Kept    float64 // share of the person's groups that a bound keeps; this release keeps all
}

// Better reports whether the release is expected to have less error than bounding: if it has less
// noise, or, where bounding drops groups, hardly more noise with a radius that is that of the
// bound. Everyone's groups are then shortened by less than what bounding drops.
func (e Expectation) Better() bool {
	if e.Kept < 1 {
		return e.Vector*math.Sqrt(e.Kept) <= 1.1*e.Bounded
	}
	return e.Vector <= e.Bounded
}

// Expected returns what is expected for a person in perPerson groups, against a mechanism for each
// group and aggregate that keeps a person in maxGroups groups. With A aggregates, of which one
// person moves all:
//
//	this release    C = √(A·perPerson) scales        f·C/√(2ρ₃)            ρ₃ what the looks leave of ρ
//	each group      a part of the loss for each      √(A·maxGroups·e/(2ρ))   e = 1; under replace-one, where a person exchanged goes out
//	                group kept                                               of groups and comes into others, 2 of counts, else 4
//
// The mechanism for each group is taken to have a scale given to it, at no loss: its own searches
// cost about what the looks here do.
func Expected(p Params, perPerson, maxGroups int) (Expectation, error) {
	if err := p.check(); err != nil {
		return Expectation{}, err
	}
	e, err := New(p)
	if err != nil {
		return Expectation{}, err
	}
	r := e.(release)
	a, l, most := float64(len(r.layout.parts)), float64(max(perPerson, 1)), float64(max(maxGroups, 1))
	exchange := 1.0
	if p.Relation == estimator.ReplaceOne {
		exchange = 2
		for _, a := range p.Aggregates {
			if !a.Measure.count() {
				exchange = 4 // estimator.ExchangeCost at most
			}
		}
	}
	return Expectation{
		Vector:  math.Sqrt(float64(r.factor2) * a * l / (2 * (r.first + r.sum))),
		Bounded: math.Sqrt(a * most * exchange / (2 * p.Rho)),
		Kept:    min(1, most/l),
	}, nil
}
