package vector

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// mean is a private mean: the number of persons, then a core.
type mean struct {
	p      Params
	count  persons
	core   core
	slack  float64 // DeltaTV of the core's searches
	reason string
	least  int64 // MinPersons, once computed
}

func (mean) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }

// Loss implements estimator.Estimator.
func (m mean) Loss() privacy.Loss {
	l := scalar.Loss(m.p.Rho)
	l.DeltaTV = m.slack
	return l
}

// MinPersons implements estimator.Estimator.
func (m mean) MinPersons() int64 {
	if m.least > 0 {
		return m.least
	}
	return max(m.count.enough(), m.core.needs())
}

// ExpectedError implements estimator.Estimator: the radius is not known before the data are read.
func (mean) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (m mean) Steps() []estimator.Step { return append(m.count.steps(), m.core.steps()...) }

// Bias implements estimator.Biased.
func (m mean) Bias() string { return "what persons beyond the joint clip lose" }

// Reason implements estimator.Reasoned.
func (m mean) Reason() string { return m.reason }

// Release implements estimator.Estimator.
func (m mean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = m.p.whole(in)
	count := m.count.release(n, in)
	if least := m.MinPersons(); count < float64(least) {
		return scalar.TooFew(m.p.Dim, least)
	}
	return m.core.release(n, m.p.group(in.Vectors), count)
}

// NewMean returns the private mean of one vector a person, the mean of the person's rows. Columns:
// Vector.
func NewMean(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.P == 0 && !p.bits() {
		p.P = 2
	}
	p.Pairs = max(1, p.Pairs)
	count, rho := p.counted()
	m := mean{p: p, count: count}
	var err error
	switch {
	case p.bits():
		m.core, m.reason, err = newSparse(p, m.count, rho, p.Method)
	case p.Method == Coinpress:
		var c coinpress
		c, err = newCoinpress(p, rho)
		m.core = c.counted(m.count)
	default:
		m.core, m.slack, m.reason, err = p.dense(m.count, rho)
	}
	if err != nil {
		return nil, err
	}
	m.least = m.MinPersons()
	return m, nil
}

// dense returns the core of a method for dense vectors, the slack of its searches, and the reason
// for its choice.
func (p Params) dense(count persons, rho float64) (core, float64, string, error) {
	scaled := p.Method == Plan && p.Scale != Unscaled
	if p.Rotate && (p.Method == Clipped || scaled || p.Relative) {
		return nil, 0, "", errRotate
	}
	switch p.Method {
	case Auto:
		c, slack, reason := newAuto(p, count, rho)
		return c, slack, reason, nil
	case Clipped:
		return newDense(p, count, rho, never, never), 0, "", nil
	}
	d := newDense(p, count, rho, always, never)
	if scaled {
		d = newDense(p, count, rho, always, always)
	}
	return d, d.slack(), "", nil
}

// countShare is the share of the loss for the number of persons, 0 where it is known; under
// replace-one it comes on top of the loss of the other steps, which cover it (counted). About a
// centre it has an effect of second order only: 2 %, more in low dimension, where the searches get
// by with few persons. About a fixed point a relative error of the number is one of the answer:
// with S/n at most C long the squared error is C²(d/ρ₃ + 1/ρ_n)/(2n²), least at ρ_n/ρ₃ = 1/√d; half
// of that is taken, as most answers are nearer.
func (p Params) countShare() float64 {
	d := float64(p.Dim)
	switch {
	case p.Sized:
		return 0
	case p.Method == Clipped:
		return max(0.02, 0.25/math.Sqrt(d))
	}
	return 0.02 + 0.04/d
}

// Method is an estimator of a vector's mean.
type Method uint8

// Methods, with the names that options use.
const (
	Auto      Method = iota // chosen from public facts and the noisy number of persons
	Clipped                 // clipped mean about 0 or a declared centre
	Shifted                 // clipped mean about a private centre
	Plan                    // the same with per-coordinate scales
	Coinpress               // for declared spreads: iterated clipping of sub-Gaussian data
)

// Search is how quantiles are found.
type Search uint8

// Searches.
const (
	Bisect      Search = iota // noisy counts ("search")
	Exponential               // exponential mechanism ("em")
)

// Tail is which norm the clipping radius aims at.
type Tail uint8

// Tails.
const (
	Optimal Tail = iota // balances bias and noise of the mean of the data
	SqrtN               // √n persons beyond it: for means of light-tailed populations
)

// Clip is how the radius of dense means is found.
type Clip uint8

// Clips.
const (
	Counts Clip = iota // a noisy histogram of the norms ("counts")
	Tails              // noisy tail counts in turn, [HLY21] Algorithm 1 ("tails")
)

// Scale is how PLAN finds the spread of each coordinate.
type Scale uint8

// Scales.
const (
	Direct Scale = iota // quantile of the distances from the centre
	// median of squared differences of secretly matched persons, PairSize of them a group
	Pairs
	Declared // Sigma
	Unscaled // one scale for all: PLAN is then the shifted clipped mean
	Binary   // √(q(1−q)) of a first noisy mean: sparse and binary data
)

// Params are the public facts of a vector estimator. The bounds Lower and Upper, and the Grid, hold
// for every coordinate.
type Params struct {
	estimator.Params
	Dim    int  // 1 to 2^20
	Sparse bool // the block is sparse, values >= 0
	Method Method
	P      float64 // the error's norm, >= 1; 0: 2, or 1 for sparse data
	Tail   Tail
	Clip   Clip
	Rotate bool // random rotation before the shift
	Search Search
	Scale  Scale
	Pairs  int // pairs in a group, for Pairs; 0: 1
	// Relative makes PLAN scale every coordinate by its own spread, so that the error of each is in
	// proportion to it: for coordinates that are different things.
	Relative bool
	Radius   float64 // declared bound on the norm of the mean, in values; 0: none
	SigmaMin float64 // declared bounds on the spread of a coordinate, in values; 0: none
	SigmaMax float64
	Sigma    []float64 // declared spreads, one for each coordinate or one for all; nil: none
	Rounds   int       // of Coinpress; 0: 4
}

// maxDim is the largest dimension.
const maxDim = 1 << 20

// check validates what all vector estimators need.
func (p Params) check() error {
	if err := scalar.Check(p.Params, true); err != nil {
		return err
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return fmt.Errorf("vector: want a dimension from 1 to %d, have %d", maxDim, p.Dim)
	case p.P != 0 && !(p.P >= 1 && p.P <= 100):
		return fmt.Errorf("vector: want 1 <= p <= 100, have %v", p.P)
	case p.Pairs < 0 || p.Pairs > 1<<16:
		return fmt.Errorf("vector: want 1 to 65536 pairs in a group, have %d", p.Pairs)
	case !positive(p.Radius) || !positive(p.SigmaMin) || !positive(p.SigmaMax):
		return fmt.Errorf("vector: want a finite radius and finite spreads > 0")
	case p.SigmaMin > 0 && p.SigmaMax > 0 && p.SigmaMin > p.SigmaMax:
		return fmt.Errorf("vector: want sigma_min <= sigma_max, have %v and %v", p.SigmaMin, p.SigmaMax)
	case len(p.Sigma) > 1 && len(p.Sigma) != p.Dim:
		return fmt.Errorf("vector: want 1 or %d spreads, have %d", p.Dim, len(p.Sigma))
	case slices.ContainsFunc(p.Sigma, func(s float64) bool { return !(s > 0) || !positive(s) }):
		return fmt.Errorf("vector: want finite spreads > 0")
	case p.Scale == Declared && len(p.Sigma) == 0:
		return fmt.Errorf("vector: scale=declared needs declared spreads")
	}
	return nil
}

// positive reports whether x is 0, for undeclared, or positive and of a size that floats can
// square.
func positive(x float64) bool { return x == 0 || x > 1e-150 && x < 1e150 }

// group brings every person to one vector within the public range: the mean of the person's rows,
// rounded once. A map of one person at a time. A block that is so already is taken as it is.
func (p Params) group(b *estimator.Block) group {
	if p.Sparse {
		return group{Block: b}
	}
	means, totals := p.means(b, p.shift())
	return group{Block: means, shift: p.shift(), totals: totals}
}

// shift is the fraction of a step that dense vectors are rounded to.
func (p Params) shift() uint { return scalar.VectorShift(p.Params) }

// means returns the block of person means in units of 2^-shift steps, clamped to the public range:
// a map of one person at a time. With one row each, shift 0 and all values within the range it is b
// itself.
//
// totals are those of the block where they come from the same reading; otherwise nil.
func (p Params) means(b *estimator.Block, shift uint) (out *estimator.Block, totals *block.Totals) {
	lo, hi := scalar.Range(p.Params)
	lo, hi = lo<<shift, hi<<shift
	b = block.Means(b, shift)
	if p.Method == Clipped && lo <= -estimator.MaxUnits<<shift && hi >= estimator.MaxUnits<<shift {
		return b, nil // nothing is beyond the range, and the sum comes with the norms
	}
	totals, inRange := block.Total(b, lo, hi)
	if inRange {
		return b, totals
	}
	out = &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	eachChunk(b, func(i int, ch *estimator.Chunk, _ int) {
		out.Chunks[i] = estimator.Chunk{Persons: ch.Persons, Dense: clampedValues(b.Memory, ch.Dense, lo, hi)}
	})
	return out, nil
}

func clampedValues(m estimator.Memory, x []int64, lo, hi int64) []int64 {
	out := estimator.Make[int64](m, len(x))
	for i, v := range x {
		out[i] = min(max(v, lo), hi)
	}
	return out
}

// inRange reports whether all values are from lo to hi.
func inRange(x []int64, lo, hi int64) bool {
	least, most := extremes(x, lo)
	return least == lo && most <= hi
}

// largest returns max_j |x_ij − middle| of each person.
func largest(b *estimator.Block, middle int64) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))
	eachChunk(b, func(_ int, ch *estimator.Chunk, at int) {
		for x := ch.Dense; len(x) > 0; x, at = x[b.Dim:], at+1 {
			least, most := extremes(x[:b.Dim], middle)
			out[at] = float64(max(most-middle, middle-least))
		}
	})
	return out
}

// extremes returns the least and the most of x and v. It looks at four numbers at a time, so that
// comparisons need not wait for each other.
func extremes(x []int64, v int64) (least, most int64) {
	a, b, c, d := v, v, v, v
	e, f, g, h := v, v, v, v
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
		e, f, g, h = max(e, x[0]), max(f, x[1]), max(g, x[2]), max(h, x[3])
	}
	for _, v := range x {
		a, e = min(a, v), max(e, v)
	}
	return min(a, b, c, d), max(e, f, g, h)
}

// eachChunk calls work for every chunk with its number and that of its first person, several at a
// time.
func eachChunk(b *estimator.Block, work func(i int, ch *estimator.Chunk, at int)) {
	var all fork.Group
	at := 0
	for i := range b.Chunks {
		ch, from := &b.Chunks[i], at
		all.Go(func() { work(i, ch, from) })
		at += ch.Persons
	}
	all.Wait()
}

// auto uses the first of several cores whose least number of persons is there: an adaptive
// composition with the released number of persons, each core having the same loss.
type auto struct {
	cores []core
	least []int64 // the least number of persons of each, falling
}

// add appends a core if it gets by with fewer persons than those before.
func (a *auto) add(c core) bool {
	least := c.needs()
	if len(a.cores) > 0 && least >= a.needs() {
		return false
	}
	a.cores, a.least = append(a.cores, c), append(a.least, least)
	return true
}

// needs implements core.
func (a auto) needs() int64 { return a.least[len(a.least)-1] }

// steps implements core: those of the core for many persons.
func (a auto) steps() []estimator.Step { return a.cores[0].steps() }

// release implements core.
func (a auto) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	i := 0
	for ; i < len(a.cores)-1 && count < float64(a.least[i]); i++ {
	}
	return a.cores[i].release(n, g, count)
}

// newAuto chooses a method for dense vectors from public facts:
//
//	persons enough for a centre   dense, which decides from released numbers whether to take the middle for a centre, and, in four
//	                              dimensions and more, whether to scale coordinates (dense.choose, dense.useScales)
//	fewer, spreads and a place declared   coinpress: its rounds end far off where they begin with the whole range
//	fewer, a place declared       clipped, if bounds or the mean's norm are declared: its error is in proportion to them
//	fewer, few dimensions         each coordinate by itself, with a share of the loss (separate)
//	fewer                         too few
//
// It returns the reason for EXPLAIN.
func newAuto(p Params, count persons, rho float64) (a auto, slack float64, reason string) {
	if len(p.Sigma) > 0 {
		p.Scale = Declared
	}
	scaled := maybe
	if p.Relative {
		scaled = always
	}
	if p.Rotate {
		scaled = never
	}
	first := newDense(p, count, rho, maybe, scaled)
	a.add(first)
	reasons := []string{first.reason()}
	if p.Bounded() || p.Radius > 0 {
		if c, err := newCoinpress(p, rho); err == nil && !p.Rotate && a.add(c.counted(count)) {
			reasons = append(reasons, fmt.Sprintf("coinpress from %d, as spreads and a place are declared", c.needs()))
		}
		if c := newDense(p, count, rho, never, never); a.add(c) {
			reasons = append(reasons, fmt.Sprintf("clipped from %d, about a declared place", c.needs()))
		}
	}
	if s, ok := p.coordinates(count.apart(rho)); ok && !p.Rotate && a.add(s) {
		reasons = append(reasons, fmt.Sprintf("from %d, each coordinate alone", s.needs()))
	}
	return a, first.slack(), strings.Join(reasons, "; ")
}

// reason tells what the choices of d depend on.
func (d dense) reason() string {
	switch {
	case d.scaled == always && d.sigma != nil:
		return fmt.Sprintf("plan from %d persons, as spreads are declared", d.needs())
	case d.scaled == always:
		return fmt.Sprintf("plan from %d persons, with scales of their own for coordinates that are different things", d.needs())
	case d.scaled == never || d.p.Dim < leastScaled:
		return fmt.Sprintf("shifted from %d persons, or clipped if the middle is as good as a centre", d.needs())
	}
	return fmt.Sprintf("plan from %d persons if coordinates differ in spread; otherwise, and from %d, shifted, or clipped if the middle is as good as a centre",
		d.scalesFrom(), d.needs())
}
