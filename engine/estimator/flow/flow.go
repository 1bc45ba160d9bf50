package flow

import (
	"fmt"
	"math"
	"math/big"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Options are what is asked of the pairs.
type Options struct {
	Shape Shape
	// Sum: weights are on Params.Grid, else they are numbers of results
	Sum bool
	// Signed, of Two and Self alone: weights may be negative, and count so; else negative ones are
	// 0
	Signed bool
	// Cap is the cap where it is declared; 0: it is looked for
	Cap int64
	// Most is the most weight that one person has, in grid steps, where that is public; 0: not
	// known. No cap above it is looked for, and intervals rest on it.
	Most int64
	// Clamp shows a negative answer as 0
	Clamp bool
}

const (
	// mostCount and mostSum bound the caps that are looked for: of numbers of results, and of sums
	// in grid steps.
	mostCount = 1 << 20
	mostSum   = 1 << 40
)

// shares are those of the loss: the number of persons, the choice, the look at the tail, the
// answer. docs/proofs/flow.md says how they were chosen.
var shares = [...]float64{0.02, 0.13, 0.10, 0.75}

// release is the estimator.
type release struct {
	p     estimator.Params
	o     Options
	loss  [len(shares)]float64
	caps  []int64
	pick  choice
	signs int64 // 2 where Q⁺ and Q⁻ both move what is looked at
	// quotient says that it is the numerator of a mean, which need not be clear of its noise
	quotient bool
	// ofMean says that it is a part of a mean, of whose two parts a cap takes about alike
	ofMean bool
}

// New returns the private total weight of pairs. Columns: Pair; a value for each result, or one for
// all, with weights.
//
// The answer is Q(τ) + N_Z(0, ⌈Δ²/(2ρ₄)⌉), Q(τ) the most weight that can be kept with τ or less for
// each person. A person who comes or goes moves it by at most τ, as does one who is exchanged, so Δ
// = τ under both relations. With Signed weights it is Q of the positive ones less Q of the others:
// Δ = τ, under replace-one 2τ. The loss is ρ for a person of either entity [CKS20, Theorem 14].
//
//	o.Cap > 0    τ = o.Cap, ρ₄ = ρ
//	o.Cap = 0    Q(1) with noise (ρ₁ = 0.02ρ), a choice of τ by the exponential mechanism (0.13ρ),
//	             a noisy look at (Q(2τ) − Q(τ))/τ that may raise it (0.10ρ), ρ₄ = 0.75ρ
//
// All steps are drawn whatever they find. Pure: Laplace noise and a pure choice; the same shares,
// of ε. p.MaxRows, the bounds and p.Sized are not used; p.Grid only for sums.
//
// Before noise the answer is never above the truth where weights have one sign, so that the lower
// end of an interval holds. The upper one allows for what the cap takes away. TooFew where the
// answer is not clear of its noise, or what is missing outweighs it, for sums where Q(1) is of
// fewer persons than the look at the tail can see, and of the shapes Two and Self where half of the
// persons may be beyond the cap, as far as the look shows, and Most is not known. Numbers of
// distinct values are always shown, without an upper end where it is not known.
//
// Source: docs/proofs/flow.md; linear programs as truncation [DFYTM22].
func New(p estimator.Params, o Options) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, o.Sum); err != nil {
		return nil, err
	}
	limit := int64(mostCount)
	if o.Sum {
		limit = mostSum
	}
	switch {
	case o.Shape > One:
		return nil, fmt.Errorf("flow: unknown shape %d", o.Shape)
	case o.Cap < 0 || o.Cap > estimator.MaxUnits:
		return nil, fmt.Errorf("flow: want 0 <= cap <= 2^50, have %d", o.Cap)
	case o.Most < 0 || o.Most > estimator.MaxUnits:
		return nil, fmt.Errorf("flow: want 0 <= most <= 2^50, have %d", o.Most)
	case o.Signed && o.Shape != Two && o.Shape != Self:
		return nil, fmt.Errorf("flow: want weights of one sign, have both for %v", o.Shape)
	case o.Most > 0:
		limit = min(limit, o.Most)
	}
	r := release{p: p, o: o, signs: 1}
	if o.Signed {
		r.signs = 2
	}
	if o.Cap > 0 {
		r.loss[3] = p.Loss()
		return r, nil
	}
	copy(r.loss[:], scalar.Split(p.Loss(), shares[:]...))
	r.caps, r.pick.candidates = capsUpTo(limit)
	r.pick.caps = r.caps
	least, err := exponential.NewLeast(p, r.score().span(p.Relation)*unit, r.loss[1])
	if err != nil {
		return nil, err
	}
	r.pick.least = least
	return r, nil
}

// score and excess are those of the shape, for weights of both signs where there are such.
func (r release) score() change  { return r.o.Shape.score().times(float64(r.signs)) }
func (r release) excess() change { return r.o.Shape.excess().times(float64(r.signs)) }

// moves is the most by which a person moves the answer at a cap, in parts.
func (r release) moves(cap int64) int64 {
	if r.o.Signed {
		cap *= r.p.Relation.Factor()
	}
	return cap * r.o.Shape.parts()
}

// Columns implements estimator.Estimator.
func (release) Columns() []estimator.Kind { return []estimator.Kind{estimator.Pair} }

// Loss implements estimator.Estimator: it is that of a person of either entity.
func (r release) Loss() privacy.Loss { return scalar.LossOf(r.p) }

// Events implements estimator.Itemised.
func (r release) Events() []privacy.Event { return estimator.StepEvents(r) }

// MinPersons implements estimator.Estimator: an answer is clear of its noise where so many have as
// much as the cap, and of a sum where the look at the tail can see so many. A number of values is
// shown however small it is, as most columns have few.
func (r release) MinPersons() int64 {
	if r.o.Cap > 0 || r.o.Shape == Distinct {
		return 0
	}
	persons := leastNoises * r.answer(1<<20).Sigma() / float64(r.o.Shape.parts()<<20)
	if r.o.Sum {
		persons = max(persons, r.seen())
	}
	return int64(min(persons, 1<<40)) + 1
}

// ExpectedError implements estimator.Estimator: it is known when the cap is declared.
func (r release) ExpectedError() (float64, bool) {
	if r.o.Cap == 0 {
		return 0, false
	}
	return r.answer(r.o.Cap).Sigma() * r.step(), true
}

// RelativeError implements estimator.Relative.
func (r release) RelativeError() (float64, string, bool) {
	const far = 1 << 20 // where the rounding of noise does not matter
	return r.answer(far).Sigma() / float64(far*r.o.Shape.parts()), "cap", r.o.Cap == 0
}

// Bias implements estimator.Biased.
func (r release) Bias() string {
	if r.o.Cap > 0 {
		return ""
	}
	return "the cap on what one person has"
}

// AllowsForBias implements estimator.Allowing.
func (release) AllowsForBias() bool { return true }

// Steps implements estimator.Estimator.
func (r release) Steps() []estimator.Step {
	answer := estimator.Step{Name: "number of results", Sensitivity: "l2=cap"}
	switch {
	case r.o.Shape == Distinct:
		answer.Name = "number of values"
	case r.o.Sum:
		answer.Name = "sum"
	}
	if r.o.Cap > 0 {
		answer.Sensitivity = fmt.Sprintf("l2=%v", float64(r.moves(r.o.Cap))*r.step())
		return []estimator.Step{r.answer(r.o.Cap).Step(answer)}
	}
	if r.moves(1) > r.o.Shape.parts() {
		answer.Sensitivity = "l2=2*cap"
	}
	return []estimator.Step{
		r.first().Step(estimator.Step{Name: "pairs without a person in common", Sensitivity: fmt.Sprintf("l2=%d", r.signs)}),
		r.pick.least.Step("cap", r.score().span(r.p.Relation)),
		scalar.Single(r.p, 1, r.loss[2]).Step(estimator.Step{Name: "persons beyond the cap", Sensitivity: fmt.Sprintf("l2=%g", r.excess().reach(r.p.Relation))}),
		r.answer(1).Step(answer),
	}
}

// first is the noise of Q(1), with signed weights of Q⁺(1) + Q⁻(1).
func (r release) first() scalar.Noise {
	return scalar.Single(r.p, r.signs*r.o.Shape.parts(), r.loss[0])
}

// answer is the noise of Q at a cap.
func (r release) answer(cap int64) scalar.Noise { return scalar.Single(r.p, r.moves(cap), r.loss[3]) }

// step is the value of one part.
func (r release) step() float64 {
	one := 1.0
	if r.o.Sum {
		one = scalar.Scale(r.p.Grid, 1)
	}
	return one / float64(r.o.Shape.parts())
}

// value is the value of a number of parts.
func (r release) value(parts float64) float64 {
	if parts /= float64(r.o.Shape.parts()); r.o.Sum {
		return scalar.Scale(r.p.Grid, parts)
	}
	return parts
}

// seen is the number of persons from which on the look at the tail shows that all of them are
// beyond a cap. With fewer that cannot be told from none, and a sum at a cap that is too small
// would pass for the whole: the steps of a sum say nothing of what persons have. Numbers of results
// begin at 1 a person and are mostly few: they are shown, see tail.most.
func (r release) seen() float64 {
	const cap = 1 << 20
	moved := int64(math.Ceil(r.excess().reach(r.p.Relation)))
	return clearLook * scalar.Single(r.p, moved*cap*r.o.Shape.parts(), r.loss[2]).Sigma() / float64(cap*r.o.Shape.parts())
}

// Release implements estimator.Estimator. It panics with the error of in.Pairs.Context where that
// has ended.
func (r release) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	pairs := in.Pairs
	if pairs == nil {
		pairs = new(estimator.Pairs)
	}
	if r.o.Cap > 0 {
		q := newProfile(r.o.Shape, r.o.Signed, []int64{r.o.Cap}, pairs)
		defer q.done()
		q.fill([]int{0})
		hidden := r.answer(r.o.Cap)
		return r.shown(scalar.Hidden(r.value(hidden.Big(n, q.signed[0])), hidden, r.step()))
	}
	q := newProfile(r.o.Shape, r.o.Signed, r.caps, pairs)
	defer q.done()
	return r.searched(n, q)
}

// searched answers where no cap is declared.
func (r release) searched(n noise.Noiser, q *profile) estimator.Estimate {
	q.fill([]int{0})
	persons := r.first().Big(n, q.all[0]) / float64(r.o.Shape.parts())
	e := r.after(n, q, r.pick.choose(n, q, r.pick.power(persons)), persons)
	if r.o.Sum && persons < r.seen() {
		return scalar.TooFew(1, scalar.Twice(float64(r.MinPersons())))
	}
	return e
}

// after answers once cap number i is chosen, for so many persons.
func (r release) after(n noise.Noiser, q *profile, i int, persons float64) estimator.Estimate {
	// One cap more than chosen costs little noise, and what is just under a steep fall of the score
	// costs much.
	i = min(i+1, r.pick.candidates-1)
	q.fill([]int{i, double(i)})
	t := look(n, r.p, r.loss[2], r.excess().reach(r.p.Relation), r.caps[i], r.o.Shape.parts(), q.excess(i))
	i = max(i, r.atMost(t.raised()))
	q.fill([]int{i})
	return r.told(n, q.signed[i], r.caps[i], t, persons)
}

// atMost is the number of the last cap up to a number that may be chosen.
func (r release) atMost(cap float64) int {
	for i := r.pick.candidates - 1; i > 0; i-- {
		if float64(r.caps[i]) <= cap {
			return i
		}
	}
	return 0
}

const (
	// leastNoises is the least number of standard deviations of its noise that an answer of one
	// sign has.
	leastNoises = 2.5
	// clearLook is the number of standard deviations of the look at which it shows more than
	// mostMissing in some nine of ten cases.
	clearLook = 6
	// mostMissing is the part of an answer that may be seen to be missing.
	mostMissing = 0.6
)

// told is the answer at a cap, with what the look at the tail says of it and of so many persons.
func (r release) told(n noise.Noiser, flow *big.Int, cap int64, t tail, persons float64) estimator.Estimate {
	hidden := r.answer(cap)
	x := hidden.Big(n, flow)
	missing := t.missing() * float64(r.o.Shape.parts())
	var few, much bool // unclear of its noise, and too much of it missing
	if much = missing > mostMissing*x; r.o.Signed || r.quotient {
		much = missing > mostMissing*max(math.Abs(x), hidden.Sigma())
	} else {
		few = x < leastNoises*hidden.Sigma()
	}
	if r.o.Shape != Distinct && (few || much) {
		return scalar.TooFew(1, scalar.Twice(float64(r.MinPersons())))
	}
	open := r.o.Most == 0 && (much || t.most(persons))
	if open && r.o.Shape.far() && !r.ofMean {
		return scalar.TooFew(1, scalar.Twice(max(float64(r.MinPersons()), t.enough())))
	}
	e := scalar.Hidden(r.value(x), hidden, r.step())
	parts := t.beyond(cap, r.o.Most)
	for k := range parts {
		parts[k].Mean *= r.step() * float64(r.o.Shape.parts())
	}
	if open {
		parts = []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
	}
	whole := float64(r.o.Shape.parts())
	cut := estimator.Cut{Up: parts, Radius: r.value(float64(cap) * whole), Seen: r.value(float64(t.seen(r.o.Most)) * whole)}
	if r.o.Signed {
		cut.Down = parts
	}
	e.Error.Cut = []estimator.Cut{cut}
	return r.shown(e)
}

// shown brings a negative answer to 0 where that is wanted.
func (r release) shown(e estimator.Estimate) estimator.Estimate {
	if r.o.Clamp && e.Values[0] < 0 {
		e.Error.Raw = []float64{e.Values[0]}
		e.Values[0] = 0
	}
	return e
}

// profile is Q by cap, as far as it has been asked for.
type profile struct {
	shape  Shape
	signs  []sign
	pairs  *estimator.Pairs
	curves []curve // of the signs, once one was asked for
	last   int64   // the cap that they were last asked for
	caps   []int64
	known  []bool
	all    []*big.Int // Q·parts, with signed weights Q⁺ + Q⁻
	signed []*big.Int // Q·parts, with signed weights Q⁺ − Q⁻
}

func newProfile(s Shape, signed bool, caps []int64, p *estimator.Pairs) *profile {
	q := &profile{shape: s, signs: []sign{positive}, pairs: p, caps: caps, known: make([]bool, len(caps)), all: make([]*big.Int, len(caps)), signed: make([]*big.Int, len(caps))}
	if signed {
		q.signs = append(q.signs, negative)
	}
	return q
}

// fill makes Q known at caps, whose numbers ascend.
func (q *profile) fill(numbers []int) {
	missing := make([]int, 0, len(numbers))
	for _, i := range numbers {
		if !q.known[i] {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return
	}
	if q.curves == nil {
		for _, of := range q.signs {
			q.curves = append(q.curves, newCurve(q.shape, q.pairs, of))
		}
	}
	again := q.caps[missing[0]] < q.last
	for k, c := range q.curves {
		if again {
			c.restart()
		}
		for _, i := range missing {
			q.stop()
			q.put(k, i, c.at(q.caps[i], q.stop))
		}
	}
	q.last = q.caps[missing[len(missing)-1]]
	for _, i := range missing {
		q.known[i] = true
	}
}

// done gives the memory back.
func (q *profile) done() {
	for _, c := range q.curves {
		c.done()
	}
	q.curves = nil
}

// put notes the flow of a sign.
func (q *profile) put(k, i int, flow scalar.Sum) {
	if k == 0 {
		q.all[i], q.signed[i] = flow.Big(), flow.Big()
		return
	}
	q.all[i].Add(q.all[i], flow.Big())
	q.signed[i].Sub(q.signed[i], flow.Big())
}

// from makes Q known at the caps from number low on.
func (q *profile) from(low int) {
	numbers := make([]int, len(q.caps)-low)
	for k := range numbers {
		numbers[k] = low + k
	}
	q.fill(numbers)
}

// stop ends the work where its context has ended.
func (q *profile) stop() {
	if ctx := q.pairs.Context; ctx != nil && ctx.Err() != nil {
		panic(ctx.Err())
	}
}

// excess is (Q(2τ) − Q(τ))·parts at cap number i.
func (q *profile) excess(i int) *big.Int {
	return new(big.Int).Sub(q.all[double(i)], q.all[i])
}

// unit is the number of parts that a score counts in.
const unit = 1 << 8

// score is the largest of ⌊unit·(Q(2^j·τ) − Q(τ))/(2^j·τ)⌋ over j >= 1 where the shape looks far,
// else ⌊unit·(Q(2τ) − Q(τ))/τ⌋. Only what is known counts: which caps are known has to be public,
// or not to matter.
func (q *profile) score(i int) int64 {
	best := int64(0)
	for j := double(i); j < len(q.caps); j = double(j) {
		if !q.known[j] {
			continue
		}
		over := q.caps[i]
		if q.shape.far() {
			over = q.caps[j]
		}
		d := new(big.Int).Sub(q.all[j], q.all[i])
		d.Mul(d, big.NewInt(unit)).Quo(d, new(big.Int).Mul(big.NewInt(over), big.NewInt(q.shape.parts())))
		best = max(best, d.Int64())
		if !q.shape.far() {
			break
		}
	}
	return best
}

// Shape says whose the results are.
type Shape uint8

// Shapes.
const (
	// Two: persons of two entities. A cap holds for both.
	Two Shape = iota
	// Self: two persons of one entity, whose two orders are one pair, or one person twice.
	Self
	// Distinct: values, each counted once, whoever holds it. Left are persons, Right are values,
	// and weights are not read.
	Distinct
	// One: persons of one entity, Left. Right is not read.
	One
)

// String returns the name that EXPLAIN shows.
func (s Shape) String() string {
	return [...]string{"two entities", "self-join", "distinct values", "one entity"}[s]
}

// parts is by how much the flow of a shape's network is larger than Q: a pair of the same entity is
// in it twice, so that half a result is a whole number.
func (s Shape) parts() int64 {
	if s == Self {
		return 2
	}
	return 1
}

// change is an interval that a number moves within when a person comes.
type change struct{ down, up float64 }

// reach is the most that the number moves by under a relation, either way.
func (c change) reach(r estimator.Relation) float64 {
	if r == estimator.ReplaceOne {
		return c.up + c.down
	}
	return max(c.up, c.down)
}

// span is the length of an interval of all moves under a relation, for one pair of neighbours.
func (c change) span(r estimator.Relation) float64 {
	return (c.up + c.down) * float64(r.Factor())
}

// times is the change of a number as many times as large.
func (c change) times(f float64) change { return change{c.down * f, c.up * f} }

// excess is how (Q(2τ) − Q(τ))/τ changes when a person comes (docs/proofs/flow.md).
func (s Shape) excess() change {
	switch s {
	case One:
		return change{0, 1}
	case Distinct:
		return change{1, 1}
	}
	return change{1, 2}
}

// score is how the score of a cap changes when a person comes: the largest of the excesses up to
// 2τ, 4τ, … over the most that one person adds to it, but for Distinct and One, where the first is
// always the largest.
func (s Shape) score() change {
	switch s {
	case One, Distinct:
		return s.excess()
	}
	return change{0.5, 1}
}

// far reports whether the score of a cap looks farther than to its double.
func (s Shape) far() bool { return s == Two || s == Self }
