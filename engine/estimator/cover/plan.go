package cover

import (
	"fmt"
	"math"

	"scrim/engine/estimator/internal/scalar"
)

// plan is a cover with all that it needs, from public facts.
//
// Candidates are centre + step·(i, j) with |i|, |j| ≤ side. A step has sub cells, a cell 64 ticks.
// Along a direction u a candidate stands on the cell nearest to it, so that the scores of at most
// 2·cells+1 positions serve all candidates.
type plan struct {
	facts
	alpha      float64 // units
	width      int64   // of a bucket of the coarse step, units; 0: there is none
	share      float64 // ε_1, for one coordinate
	loss       float64 // ε_2
	tick       float64 // units
	sub        int64
	side       int64
	cells      int64
	directions [][2]int64 // unit vectors in cells a step, times 2^32
	reach      int64      // P, ticks
	threshold  int64      // h, ticks
	top        int        // scores are cut at it
	// ln of what is left of the draw's failure: >= 0 where the accuracy is proven
	surplus float64
}

const (
	ticks     = 64      // in a cell
	fixed     = 32      // bits after the point of directions
	maxTicks  = 1 << 37 // largest projection
	maxCells  = 1 << 22 // on either side of a line: the scores take 4 bytes each
	topScore  = 1 << 20
	topWeight = 250 // ln of the largest weight over the smallest
)

// shapes returns the directions of a dimension, and how many cells a step has: 8 lines, 16
// directions, in two dimensions.
func shapes(dim int) (directions [][2]int64, sub int64) {
	if dim == 1 {
		return [][2]int64{{1 << fixed, 0}}, 1
	}
	const lines = 8
	sub = 4
	// the axes first: they tell most candidates apart
	for _, l := range [lines]int{4, 0, 2, 6, 1, 3, 5, 7} {
		sin, cos := math.Sincos(math.Pi * float64(l) / lines)
		scale := float64(sub) * (1 << fixed)
		directions = append(directions, [2]int64{int64(math.Round(cos * scale)), int64(math.Round(sin * scale))})
	}
	return directions, sub
}

// plan returns the cover for an error of alpha units whose candidates are within alpha/fineness of
// every point, with or without a coarse step. false: there are too few persons.
func (f facts) plan(alpha, fineness float64, ranged bool) (plan, bool) {
	p := plan{facts: f, alpha: alpha, loss: f.epsilon}
	half := f.half()
	if ranged {
		p.width = int64(min(math.Ceil(8*math.Sqrt(f.variance))+1, 1<<61))
		share, ok := f.rangeShare(float64(p.buckets()))
		if !ok {
			return p, false
		}
		p.share, p.loss, half = share, (f.epsilon-float64(f.dim)*share)*(1-1e-12), 1.5*float64(p.width)+1
	}
	p.directions, p.sub = shapes(f.dim)
	d, lines := float64(f.dim), float64(len(p.directions))
	step := 2 * alpha / fineness / math.Sqrt(d)
	cell := step / float64(p.sub)
	p.tick = cell / ticks
	p.top = int(min(f.persons, topScore, math.Ceil(2*topWeight/p.loss)))

	side := math.Ceil(half / step)
	cells := math.Ceil(side*float64(p.sub)*math.Sqrt(d)) + 1
	rounding := math.Sqrt(d)/2 + 2*p.tick // persons to units, projections to ticks, directions
	onCell := 0.0
	if p.sub > 1 {
		onCell = cell / 2
	}
	t := target{
		facts: f, events: 4 * lines, tick: p.tick,
		near: alpha/fineness + onCell + rounding,
		far:  alpha*p.angle() - onCell - rounding,
	}
	reach, threshold, score := t.best()
	if !(score > 0) {
		return p, false
	}
	p.side, p.cells = int64(min(side, 1<<60)), int64(min(cells, 1<<60))
	p.reach, p.threshold = int64(min(reach, maxTicks)), int64(min(threshold, maxTicks))
	p.surplus = p.loss/2*math.Floor(min(score, float64(p.top))) - math.Log(p.candidates()/failDraw)
	return p, p.surplus >= 0
}

// angle is the cosine of the largest angle from a vector to the nearest direction.
func (p plan) angle() float64 {
	if p.dim == 1 {
		return 1
	}
	return math.Cos(math.Pi / float64(2*len(p.directions)))
}

// buckets is the number of buckets of the coarse step.
func (p plan) buckets() int64 { return (p.hi-p.lo)/p.width + 1 }

// row is the number of candidates in a row.
func (p plan) row() int64 { return 2*p.side + 1 }

// candidates is the number of all.
func (p plan) candidates() float64 { return math.Pow(float64(p.row()), float64(p.dim)) }

// finenesses are tried in turn: the first one for which everything holds is taken.
func finenesses(dim int) []float64 {
	if dim == 1 {
		return []float64{256, 128, 64, 32, 16, 8}
	}
	return []float64{64, 32, 16, 8}
}

// choose returns the cover for an error of alpha units that takes at most limit seconds; false:
// there is none.
func (f facts) choose(alpha, limit float64) (plan, bool) {
	for _, fineness := range finenesses(f.dim) {
		var best plan
		found := false
		for _, ranged := range []bool{false, true} {
			p, ok := f.plan(alpha, fineness, ranged)
			if ok && p.fits(limit) && (!found || p.surplus > best.surplus) {
				best, found = p, true
			}
		}
		if found {
			return best, true
		}
	}
	return plan{}, false
}

// smallest returns the cover with an error of nearly the least that is proven, of those that take
// at most limit seconds. The least is had with few candidates; 1.1 times it leaves room for a finer
// cover, which has less error than it promises.
func (f facts) smallest(limit float64) (plan, bool) {
	best, ok := f.choose(f.half(), limit)
	if !ok {
		return best, false
	}
	low, high := 0.0, math.Log2(f.half()) // an error of one unit is not proven
	for high-low > 0.01 {
		mid := (low + high) / 2
		if p, ok := f.choose(math.Exp2(mid), limit); ok {
			best, high = p, mid
		} else {
			low = mid
		}
	}
	if p, ok := f.choose(1.1*best.alpha, limit); ok {
		best = p
	}
	return best, true
}

// newPlan returns the plan for checked parameters, or the reason why there is none.
func (p Params) newPlan(means scalar.Means) (plan, error) {
	f, err := p.facts(means)
	if err != nil {
		return plan{}, err
	}
	if p.Error == 0 {
		for _, limit := range f.limits() {
			if c, ok := f.smallest(limit); ok {
				return c, nil
			}
		}
		return plan{}, p.refusal(f, f.half())
	}
	alpha := p.Error / means.Value(1)
	for _, limit := range f.limits() {
		if c, ok := f.choose(alpha, limit); ok {
			return c, nil
		}
	}
	return plan{}, p.refusal(f, alpha)
}

// refusal says why there is no cover for an error of alpha units.
func (p Params) refusal(f facts, alpha float64) error {
	if c, ok := f.cheapest(alpha); ok {
		return fmt.Errorf("cover: an error of %.3g would take %.3g candidates and about %.0f seconds, of at most %d: want a larger error, or a smaller radius",
			p.Error, c.candidates(), c.seconds(), maxSeconds)
	}
	if need := f.needed(alpha); need > 0 {
		return fmt.Errorf("cover: want at least %d persons for this error, epsilon and moment, have %d", need, p.Persons)
	}
	return fmt.Errorf("cover: no number of persons up to %d is enough for an error of %.3g", int64(maxPersons), p.Error)
}

// cheapest returns the cover for an error of alpha units that takes the least time; false: there
// are too few persons.
func (f facts) cheapest(alpha float64) (best plan, found bool) {
	for _, fineness := range finenesses(f.dim) {
		for _, ranged := range []bool{false, true} {
			if p, ok := f.plan(alpha, fineness, ranged); ok && (!found || p.seconds() < best.seconds()) {
				best, found = p, true
			}
		}
	}
	return best, found
}

// needed returns the least number of persons with which an error of alpha units is proven, 0 where
// it is more than maxPersons.
func (f facts) needed(alpha float64) int64 {
	enough := func(n int64) bool {
		f.persons = float64(n)
		_, ok := f.cheapest(alpha)
		return ok
	}
	low, high := int64(0), int64(1)
	for ; !enough(high); low, high = high, 2*high {
		if high >= maxPersons {
			return 0
		}
	}
	for high-low > 1 {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
