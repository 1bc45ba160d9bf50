package mean

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// persons is the mean of one number a person.
type persons struct {
	p estimator.Params
	n scalar.Persons
	// the middle and half the width of declared bounds, Bounded where there are any
	declared scalar.Centred
	centred  scalar.Centred  // the search for a centre
	clip     clipping.Search // of distances from the centre
	fixed    bool            // nothing is searched for
	share    float64         // loss of the sum
}

// NewMean returns the private mean of one value a person, the mean of the person's rows. Columns:
// Rows, Sum.
//
// With x̄ᵢ the person's mean, c a centre and C a radius the answer is c + S/n̂,
//
//	n̂ = max(1, n + N_Z(0, ⌈1/(2ρ_n)⌉))     S = Σ clip(x̄ᵢ − c, ±C) + N_Z(0, ⌈Δ²/(2ρ₃)⌉)
//
// It is the shifted clipped mean of [HLY21] section 3.3 for one dimension. There n is public,
// points are exchanged and Δ = 2C; that is replace-one with p.Sized. Under add-remove a person
// comes or goes, n is released first, and the centred sum has Δ = C. Under replace-one with a
// private n, Δ = 2C, and n̂ is covered by the other steps (scalar.Shares). Shares of ρ:
//
//	add-remove    bounds declared   n̂ 0.17, c 0.15, C 0.19, sum 0.49
//	              otherwise         n̂ 0.08, c 0.23 (median), C 0.22 (package clipping, of x̄ᵢ − c), sum 0.47
//	replace-one   bounds declared   c 0.17, C 0.21, sum 0.62
//	              otherwise         c 0.24, C 0.28, sum 0.48
//
// The searches get a larger share under replace-one, where the median's rank moves by twice as much
// and the histogram by √2.
//
// Pure: the same shares of ε, Laplace noise in place of Gaussian noise, c by the exponential
// mechanism (scalar.Centred).
//
// With declared bounds L and U the same is searched for within them. Where n̂ is too small for
// that, where no distance stands out, and where one person would move the sum by more than about
// the middle of the bounds, c is that middle and C half of U − L. There S/n is not near 0, so that
// n̂ gets more: with s = |x̄−c|/C the variance is C²/(2ρn²)·(1/ρ₃ + s²/ρ_n), least at ρ_n/ρ₃ = s;
// 1/3 is within 10 % of the best for s from 0.1 to 0.8. All steps are charged in either case. A
// declaration that is wide so costs nothing beside none. Values count as the end they are beyond,
// which only brings the answer nearer to the truth.
//
// What persons have beyond a C that was searched for, on either side, is estimated from the
// histogram. The estimate is added to S, as in NewSum, and both ends of the interval allow for what
// it may be.
//
// A person is in one bucket of the histogram, on one side of c: the bucket is a function of the
// person's rows and of c, which is released before. So exchanging a person moves two counts by 1,
// and C is a function of the noisy counts.
//
// TooFew when n̂ is under MinPersons, or when no distance stands out from the histogram's noise.
func NewMean(p estimator.Params) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	return newPersons(p), nil
}

// Shares of NewMean, and where nothing is searched for.
var (
	fixedShares   = scalar.Shares{AddRemove: []float64{1, 3}, ReplaceOne: []float64{1}, Joining: []float64{scalar.JoiningBall}}
	boundedShares = scalar.Shares{
		AddRemove: []float64{17, 15, 19, 49}, ReplaceOne: []float64{17, 21, 62}, Joining: openShares.Joining,
	}
	openShares = scalar.Shares{
		AddRemove: []float64{8, 23, 22, 47}, ReplaceOne: []float64{24, 28, 48},
		Joining: []float64{scalar.JoiningMedian, scalar.JoiningHistogram, scalar.JoiningInterval},
	}
)

func newPersons(p estimator.Params) persons {
	e := persons{p: p}
	if p.Bounded() {
		e.declared = scalar.NewCentred(p, 0, 0)
	}
	var parts []float64
	e.n, parts = e.shares().Of(p, 1)
	e.centred, e.share = scalar.NewCentre(scalar.Open(p), parts[0]), parts[2]
	far := e.centred.Hi - e.centred.Lo
	e.clip = clipping.NewSearch(p, parts[1], -far, far)
	return e
}

// fixedPersons are persons with declared bounds, of which nothing is searched for.
func fixedPersons(p estimator.Params) persons {
	e := persons{p: p, fixed: true, declared: scalar.NewCentred(p, 0, 0)}
	var parts []float64
	e.n, parts = fixedShares.Of(p, 1)
	e.centred, e.share = e.declared, parts[0]
	return e
}

func (e persons) shares() scalar.Shares {
	switch {
	case e.fixed:
		return fixedShares
	case e.p.Bounded():
		return boundedShares
	}
	return openShares
}

func (persons) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (e persons) Loss() privacy.Loss           { return scalar.LossOf(e.p) }
func (persons) ExpectedError() (float64, bool) { return 0, false }

// MinPersons implements estimator.Estimator.
func (e persons) MinPersons() int64 {
	if e.p.Bounded() {
		return e.n.Enough()
	}
	return max(e.n.Enough(), e.needed())
}

// needed is the number of persons that the searches need.
func (e persons) needed() int64 { return max(e.centred.MinPersons(), e.clip.Persons()) }

// Exchange implements estimator.Exchanging.
func (e persons) Exchange() float64 {
	if e.fixed {
		return fixedShares.Exchange(scalar.ExchangeBall)
	}
	return e.shares().Exchange(scalar.ExchangeMedian, scalar.ExchangeHistogram, scalar.ExchangeBall)
}

// AllowsForBias implements estimator.Allowing.
func (persons) AllowsForBias() bool { return true }

// Bias implements estimator.Biased.
func (e persons) Bias() string {
	if e.fixed {
		return ""
	}
	return "the clip about the centre"
}

// Steps implements estimator.Estimator.
func (e persons) Steps() []estimator.Step {
	sum := estimator.Step{Name: "sum", Sensitivity: "l2=clip"}
	steps := append(e.n.Steps(), e.centred.Steps()...)
	switch {
	case e.fixed:
		_, radius := e.declared.Middle()
		sum.Sensitivity = fmt.Sprintf("l2=%v", e.centred.Value(float64(e.p.Relation.Factor()*radius)))
	case e.p.Relation == estimator.ReplaceOne:
		sum.Sensitivity = lengthOfClip
		fallthrough
	default:
		steps = append(steps, e.clip.Step("clip"))
	}
	return append(steps, e.noise(interval{0, 1}).Step(sum))
}

// lengthOfClip is the sensitivity of a sum of numbers of an interval where a person is exchanged.
const lengthOfClip = "l2=length(clip)"

// noise is that of the sum of numbers of an interval.
func (e persons) noise(clip interval) scalar.Noise {
	return scalar.Single(e.p, clip.moves(e.p.Relation), e.share)
}

// Release implements estimator.Estimator.
func (e persons) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(e.p, e.Columns(), in)
	rows, totals := in.Columns[0], in.Columns[1]
	count := e.n.Release(n, e.n.Of(in))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(1, e.MinPersons())
	}
	c, choice, ok := e.found(n, in, count)
	if !ok {
		return scalar.TooFew(1, scalar.Twice(max(count, float64(e.MinPersons()))))
	}
	clip := interval{-choice.Low, choice.High}
	var acc scalar.Sum
	for i, m := range rows {
		if m > 0 {
			acc.Add(clip.of(e.centred.Of(m, totals[i]) - c))
		}
	}
	hidden := e.noise(clip)
	added := clipping.Added(choice.Cut, hidden.Sigma())
	shift := (hidden.Of(n, acc) + added) / count
	v := float64(c) + shift
	v = min(max(v, float64(e.centred.Lo)), float64(e.centred.Hi))
	stdErr := math.Hypot(hidden.Sigma(), shift*e.n.Sigma()) / count
	return scalar.Ratio(e.centred.Value(v), e.centred.Value(stdErr), estimator.Error{
		Law:     hidden.Law(),
		Noise:   []float64{e.centred.Value(hidden.Size() / count)},
		Step:    []float64{e.centred.Value(1/count + e.rounding())},
		Under:   []float64{e.n.Under(count)},
		Centre:  []float64{e.centred.Value(float64(c))},
		Persons: count,
		Cut:     choice.Means(e.centred.Value(added / count)),
	})
}

// found returns the centre and the clip about it: those that are searched for, or those of declared
// bounds. ok is false where there is neither.
func (e persons) found(n noise.Noiser, in estimator.Input, count float64) (c int64, choice clipping.Choice, ok bool) {
	bounded := e.p.Bounded()
	if !e.fixed && (!bounded || count >= float64(e.needed())) {
		c, _ = e.centred.Search(n, in.Memory, in.Columns[0], in.Columns[1])
		choice, ok = e.choose(n, in, c, e.centred.Value(1)/count)
		choice = choice.Within(c-e.centred.Lo, e.centred.Hi-c)
	}
	if !bounded {
		return c, choice, ok
	}
	middle, radius := e.declared.Middle()
	declared := clipping.Choice{Low: radius, High: radius}
	if ok && e.moves(choice.Low, choice.High) <= e.moves(radius, radius) {
		return c, choice, true
	}
	return middle, declared, true
}

// moves is the most by which one person moves a sum of numbers of [−low, high].
func (e persons) moves(low, high int64) int64 { return interval{-low, high}.moves(e.p.Relation) }

// choose releases the histogram of distances from c and chooses the clip by it; ok is false where
// none stands out. A person at c counts as one unit away, so that a column of one value stands out,
// too. The laws of what the clip takes are in units of step.
func (e persons) choose(n noise.Noiser, in estimator.Input, c int64, step float64) (clipping.Choice, bool) {
	var h clipping.Histogram
	for i, m := range in.Columns[0] {
		if m > 0 {
			d := e.centred.Of(m, in.Columns[1][i]) - c
			if d == 0 {
				d = 1
			}
			h.Add(d)
		}
	}
	unit := e.noise(interval{0, far}).Sigma() / far
	return e.clip.Release(n, &h, in.Groups).About().Choose(func(low, high int64) float64 {
		return unit * float64(e.moves(low, high))
	}, step)
}

// rounding is how far a person's mean can be from the lattice that it is brought to, twice.
func (e persons) rounding() float64 {
	if e.p.MaxRows == 1 {
		return 0
	}
	return 1
}

// Events implements estimator.Itemised.
func (e persons) Events() []privacy.Event { return estimator.StepEvents(e) }

// Events implements estimator.Itemised.
func (s sum) Events() []privacy.Event { return estimator.StepEvents(s) }

// NoiseAlone implements estimator.NoiseAlone: both histograms and the sum have noise.
func (sum) NoiseAlone() bool { return true }

// Events implements estimator.Itemised. Which steps there are follows from the number of persons
// (NewRowMean), so they are those that cost the most at every order: fewest, and none by choice.
//
// Gaussian: a choice at ρ, and Gaussian steps at ρ together, have at most the divergence α·ρ that
// one Gaussian step has. Pure: with f(ε) the divergence of randomised response, which is the worst
// of all that are (ε, 0)-DP, f(ε)/ε grows with ε: its derivative has the sign of h((β+½)ε) − h(ε/2)
// with h(x) = x·tanh x − ln cosh x, whose derivative is x/cosh²x. So f(a + b) >= f(a) + f(b).
func (e rowMean) Events() []privacy.Event { return estimator.StepEvents(fewest{e}) }

// fewest has the fewest steps that a mean over rows may come to.
type fewest struct{ rowMean }

// Steps implements estimator.Estimator.
func (e fewest) Steps() []estimator.Step {
	return append(e.n.Steps(), e.coarse.Step(""), e.whole.clip.Step(""), e.whole.noise.Step(estimator.Step{Queries: 2}))
}
