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

// The accuracy that is claimed, for independent rows and no rounding but the one that is named. Let
// μ be the mean, ξ the deviation of a person's mean from it along a unit vector u, n the number of
// persons, h the threshold, P the reach.
//
// Moments. The k-th root of E|ξ|^k is at most τ = σ_k·min(1, √((k−1)/m)): the triangle inequality,
// and Rio's inequality of 2009 for sums of independent variables of mean 0, ‖S‖_k² ≤
// (k−1)·Σ‖X_i‖_k². Its variance is at most v = σ_k²/m.
//
// Bias. (y−t)₊ ≤ y^k·(k−1)^{k−1}/(k^k·t^{k−1}) for y, t > 0 (both sides touch at y = tk/(k−1)), so
// E(|ξ|−t)₊ ≤ B(t) = τ^k·(k−1)^{k−1}/(k^k·t^{k−1}). For a point that is behind μ by a along u, E
// clip(a+ξ, ±P) is at most a + B(P−|a|) and at least a − B(P−|a|).
//
// Fluctuation. The clipped variables have a variance of at most v, as clipping brings no two values
// further apart, and are within P−a and P+a of their mean. By Bernstein's inequality their average
// is off by more than f = Mq/3 + √((Mq/3)² + 2vq), q = ln(1/β)/n, M ≥ P+|a|, on a given side with
// probability at most β. It falls as the point moves ahead. So one event for every direction covers
// all points that are behind μ by s or more, and another one all points that are behind it by g or
// less, wherever candidates lie: 4·lines events in all, whatever the coarse step answers.
//
// A good candidate, the nearest to μ, is off by at most g along every u. Where f does not fail the
// average of its Z_i is at most g + B(P−g) + f, and an exchange moves it by 2P/n at most: its score
// is at least G = n·(h − g − B(P−g) − f)/(2P). For a candidate that is off by more than α some
// direction is within π/(2·lines) of the one to μ, and it is behind μ by s = α·cos(π/(2·lines))
// along it: with h = s − B(P−s) − f its score is 0. By the draw's weights one of those is drawn
// with probability at most candidates·e^{−ε_2·G/2}.
//
// The coarse step. A person's coordinate is more than a bucket's width w ≥ 8σ_k/√m away from μ's
// with probability at most 1/64, and more than a twelfth of the persons are so with probability at
// most e^{−0.0741·n} (Chernoff's bound; 0.0741 is less than the divergence of 1/12 from 1/64). The
// others are in μ's bucket and the two beside it, so one of the three has 11n/36, and any other
// bucket at most 3n/36. A draw is among the three but for a probability of
// buckets·e^{−ε_1·(8n/36)/2}; then its middle is within 1.5·w.
const (
	failRange  = 0.02 // probabilities of failure: the coarse step,
	failSample = 0.04 // the fluctuation,
	failDraw   = 0.04 // the draw
	confidence = 1 - failRange - failSample - failDraw

	tailRate = 0.0741
)

// target is what a cover aims at. Lengths are in units.
type target struct {
	facts
	near   float64 // g: how far a good candidate is off at most, with all rounding
	far    float64 // s: how far a bad one is behind at least
	events float64
	tick   float64
}

// bias is B(t); it is +Inf for t <= 0.
func (f facts) bias(t float64) float64 {
	if t <= 0 {
		return math.Inf(1)
	}
	k := f.moment
	return f.root * math.Pow(f.root*(k-1)/(k*t), k-1) / k
}

// fluctuation is f for variables within width of their mean.
func (t target) fluctuation(width float64) float64 {
	q := math.Log(t.events/failSample) / t.persons
	linear := width * q / 3
	return linear + math.Sqrt(linear*linear+2*t.variance*q)
}

// score returns the threshold for a reach, a whole number of ticks, and G for it.
func (t target) score(reach float64) (threshold, score float64) {
	f := t.fluctuation(reach + t.far)
	threshold = math.Floor((t.far-t.bias(reach-t.far)-f)/t.tick) * t.tick
	return threshold, t.persons * (threshold - t.near - t.bias(reach-t.near) - f) / (2 * reach)
}

// best returns the reach, in ticks like the threshold, with the largest G.
func (t target) best() (reach, threshold, score float64) {
	score = math.Inf(-1)
	for i := range 96 {
		r := math.Ceil(max(1.25*t.far, t.root/4)*math.Exp2(float64(i)/8)/t.tick) * t.tick
		if h, s := t.score(r); s > score {
			reach, threshold, score = r/t.tick, h/t.tick, s
		}
	}
	return math.Round(reach), math.Round(threshold), score
}

// rangeShare returns ε_1 for one coordinate's fullest bucket, and whether there are enough persons
// for it.
func (f facts) rangeShare(buckets float64) (float64, bool) {
	fail := failRange / float64(2*f.dim) // half of it for the tail
	share := 9 * math.Log(buckets/fail) / f.persons
	return share, tailRate*f.persons >= -math.Log(fail) && float64(f.dim)*share <= f.epsilon/2
}

// maxSeconds bounds the time that a plan may take by its public facts: half of a minute, as the
// seconds are those of a quiet machine. Where usualSeconds and the time for reading the persons are
// enough for the error that is asked for, or for some error where none is, they are not passed.
const (
	maxSeconds   = 30
	usualSeconds = 2
)

// Nanoseconds of one core for the parts of a release, as BenchmarkParts measures them and about
// half as much again.
const (
	// a person's projection, and each comparison of the sort that follows: by log2 n + 1
	nsPerson = 8.0
	// a comparison of the two searches for the score of a position: by log2 n + 1
	nsPosition  = 12.0
	nsCandidate = 4.0  // the look-up of a candidate's position on one line
	nsWeight    = 40.0 // a word of a weight, in one of the two passes over them
)

// seconds is the time that a release takes at most on one core, whatever the data are. More cores
// share all but the weights.
func (p plan) seconds() float64 {
	lines := float64(len(p.directions))
	words := (weightBits+float64(p.top)*p.loss/2/math.Ln2)/64 + 1
	return p.reading() + 1e-9*(lines*float64(2*p.cells+1)*2*p.comparisons()*nsPosition+
		2*p.candidates()*(lines+1)*nsCandidate+
		2*float64(p.top)*words*nsWeight)
}

// reading is the part of it that no choice of candidates changes.
func (f facts) reading() float64 {
	directions, _ := shapes(f.dim)
	return 1e-9 * float64(len(directions)) * f.persons * f.comparisons() * nsPerson
}

// comparisons are those of a search among the persons.
func (f facts) comparisons() float64 { return math.Log2(f.persons) + 1 }

// limits are the seconds that a plan may take: those that it should, and those that it must not
// pass.
func (f facts) limits() []float64 {
	return []float64{min(usualSeconds+f.reading(), maxSeconds), maxSeconds}
}

// fits says whether a release takes at most limit seconds, and its numbers have room.
func (p plan) fits(limit float64) bool {
	return p.seconds() <= limit && p.cells <= maxCells && p.cells*ticks+p.reach < maxTicks
}
