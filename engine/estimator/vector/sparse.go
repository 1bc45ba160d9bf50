package vector

import (
	"errors"
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// sparse is the mean of vectors of numbers in [0, hi] most of which are 0. They are never made
// dense: every pass takes O(nnz + n + d).
//
//	clipped   the clipped mean about 0                        [HLY21] sections 3.1 and 3.2
//	shifted   the same about the coordinates' medians, which are 0 for all but frequent coordinates
//	plan      in an ellipsoid that suits a first noisy mean     [ALP24] sections 5.2 and 7
//
// plan has two stages. The first, a tenth of the loss, is a clipped mean about 0 (of the squares,
// where values are not 0 or 1): from it come the second moment m_j of each coordinate, so the
// weights σ̄_j^(−4/(p+2)), σ̄_j = √m_j + Σ√m/d, and the centre. The second is the sum about this
// centre, clipped in the weighted norm. The answer is the average of the two by precision.
//
// The centre is not in the paper. By default it is the corner of the box [0, hi]^d next to the
// first mean: all vectors x − c of the box lie in one orthant then (a person's own factor keeps it
// there), so that two of them that are clipped to the radius C are at most √2·C apart, which
// replace-one asks for (factor2), and what clipping takes away can be guessed and restored (kept).
// About any other point they may be 2C apart, and 2·min(q, 1−q) ≤ 4·q(1−q): under replace-one no
// other point is better. Under add-remove the first mean itself makes norms smaller, m_j =
// q_j(1−q_j) in place of min(q_j, 1−q_j); it is taken where that matters, which is for dense bits
// and not for baskets.
//
// With shrinkDim coordinates or more the answer is shrunk (shrinker). Its StdErr is that of the
// noise before, and so are error bars.
//
// Privacy: the sums are in the lattice of the values, every quantity that steers a step is public
// or was released, each person's factor is a function of that person and of these. The loss is that
// of the histograms of norms and of the sums (and of medians), which add up to rho at most.
type sparse struct {
	p      Params
	rho    float64
	count  persons
	method Method
	hi     int64 // public upper end of a value, in grid steps; the lower end is 0
}

// firstShare is the share of the loss for plan's first stage; from 5 to 20 % make little
// difference.
const firstShare = 0.1

// bits reports whether vectors are answered by sparse: lists, what the scale Binary is asked for,
// and by default dense vectors of numbers 0 and 1, whose spread their mean tells.
func (p Params) bits() bool {
	lo, hi := scalar.Range(p.Params)
	plain := p.Method == Auto && p.Scale == Direct && len(p.Sigma) == 0 && !p.Rotate && !p.Relative && p.Search == Bisect
	return p.Sparse || p.Scale == Binary || plain && lo == 0 && hi == 1
}

// newSparse returns the mean of sparse vectors at loss rho, by one of Clipped, Shifted and Plan,
// and the reason for the choice of Plan in place of Auto. Dense vectors are turned into lists.
func newSparse(p Params, count persons, rho float64, method Method) (core, string, error) {
	lo, hi := scalar.Range(p.Params)
	reason := ""
	switch {
	case lo != 0 || hi < 1:
		return nil, "", errors.New("vector: sparse and binary vectors need values from 0 on")
	case p.Rotate:
		return nil, "", errors.New("vector: sparse vectors are not rotated")
	case p.Search == Exponential:
		return nil, "", errors.New("vector: sparse vectors are searched by counts")
	case method == Coinpress:
		return nil, "", errors.New("vector: coinpress is not for sparse vectors")
	case method == Plan && p.Scale != Direct && p.Scale != Binary && p.Scale != Unscaled:
		return nil, "", errors.New("vector: sparse vectors get their scales from a first mean")
	case method == Plan && p.Scale == Unscaled:
		method = Shifted
	case method == Auto:
		method, reason = Plan, "plan, as most values are 0: a first mean tells the scales"
		if !p.Sparse {
			reason = "plan, as values are 0 or 1: a first mean tells the scales"
		}
	}
	if p.P == 0 {
		p.P = 1
	}
	return sparse{p: p, rho: rho, count: count, method: method, hi: hi}, reason, nil
}

// bounded reports whether all values are compared with hi, so that a mean of m tells of a second
// moment of m·hi at most: exactly that for 0 and hi.
func (s sparse) bounded() bool { return s.hi == 1 || s.p.Scale == Binary }

// release implements core.
func (s sparse) release(n noise.Noiser, g group, count float64) estimator.Estimate {
	r := s.entries(g)
	left := newBudget(s.rho)
	var mean, sigma []float64
	switch s.method {
	case Shifted:
		c := s.medians(n, r, left.take(medianShare))
		mean, sigma = s.sum(n, r, clipping{unit: 1, centre: c, factor2: block.Factor2(s.p.Relation, corner(c, r.top))}, count, left.rest())
	case Clipped:
		mean, sigma = s.sum(n, r, clipping{unit: 1, factor2: block.Factor2(s.p.Relation, true)}, count, left.rest())
	default:
		mean, sigma = s.plan(n, r, count, left)
	}
	shown := mean
	if s.p.Dim >= shrinkDim {
		shown = s.shrink(mean, sigma, float64(r.top))
	}
	e, moved := s.p.estimate(group{Block: r.Block, shift: r.shift}, shown, sigma), 0.0
	for j, m := range mean {
		mean[j] = scalar.Finite(scalar.Scale(s.p.Grid, math.Ldexp(m, -int(r.shift))))
		moved = math.Hypot(moved, mean[j])
	}
	if s.p.Dim >= shrinkDim {
		e.Error.Raw = mean
	}
	return s.count.told(e, count, moved)
}

// clipping is what a sum is clipped to, but for its radius.
type clipping struct {
	unit    int64     // the values count unit each
	centre  []int64   // in 1/unit of the values' units; nil: 0
	weights []float64 // nil: 1
	factor2 int64
	// cost tells the error of a radius, given the loss of the sum; nil: the radius leaves out
	// tailTarget persons.
	cost func(rho float64) cost
	// restore makes up for what clipping takes away (kept): for centres at a corner.
	restore bool
}

// sum releases the mean Σ_i a_i(x_i − c)/n̂ + c at loss rho, in the units of the rows, with the
// standard deviation of its noise: a noisy histogram of the norms for the radius, then the noisy
// sum.
func (s sparse) sum(n noise.Noiser, r entries, b clipping, count, rho float64) (mean, sigma []float64) {
	part := newBudget(rho)
	target := firstpass.TailTarget(s.p.Dim, b.factor2, rho)
	norms := block.NormsIn(r.Block, b.unit, b.centre, b.weights)
	least, most := s.norms(r, b)
	h := firstpass.NewHistogram(firstpass.NewOctaves(firstpass.RadiusPer, most/least), firstpass.Delta2(s.p.Relation, false),
		part.take(firstpass.RadiusShare(rho, target, count, s.p.Relation)))
	noisy := h.Release(n, divided(norms, least))
	radius, rest := 0.0, part.rest()
	if b.cost == nil {
		radius = least * h.Radius(noisy, min(target, count/4))
	} else {
		radius = least * balanced(h, noisy, least, b.cost(rest))
	}
	sums := block.ClipSumIn(r.Block, b.unit, b.centre, norms, radius)
	mean, sigma = addNoise(n, sums, b.weights, radius, b.factor2, rest)
	divisor, counted := count, s.count.sigma()/count
	if b.restore {
		divisor *= kept(h, noisy, radius/least)
	}
	for j, m := range mean {
		m /= divisor
		sigma[j] = math.Hypot(sigma[j]/divisor, m*counted) / float64(b.unit)
		if b.centre != nil {
			m += float64(b.centre[j])
		}
		mean[j] = m / float64(b.unit)
	}
	return mean, sigma
}

// norms returns public ends for the norms: the least that is told from 0, and one that is not
// passed.
func (s sparse) norms(r entries, b clipping) (least, most float64) {
	low, sum := 1.0, float64(s.p.Dim)
	if b.weights != nil {
		low, sum = math.Inf(1), 0
		for _, w := range b.weights {
			low, sum = min(low, w), sum+w
		}
	}
	least = 0.5
	if s.bounded() {
		least = float64(r.top) / (1 << scalar.MeanBits)
	}
	unit := float64(b.unit)
	return unit * least * math.Sqrt(low), 1.001 * unit * float64(r.top) * math.Sqrt(sum)
}

func divided(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / by
	}
	return out
}

// corner reports whether every coordinate of c is at an end of [0, top].
func corner(c []int64, top int64) bool {
	for _, v := range c {
		if v != 0 && v != top {
			return false
		}
	}
	return true
}

// shrink returns the centres of the posteriors (shrinker).
func (s sparse) shrink(mean, sigma []float64, top float64) []float64 {
	k := newShrinker(mean, sigma, top)
	out := make([]float64, len(mean))
	for j, y := range mean {
		if s.p.P < 2 {
			out[j] = k.median(y, sigma[j])
		} else {
			out[j] = k.mean(y, sigma[j])
		}
	}
	return out
}

// centreBits is the resolution of a centre: the range of the values is 2^centreBits steps of it at
// least.
const centreBits = 20

// plan releases the mean by two stages.
func (s sparse) plan(n noise.Noiser, r entries, count float64, left *budget) (mean, sigma []float64) {
	if !s.bounded() {
		moments, noise := s.squares(n, r, count, left.take(firstShare))
		q := s.guess(moments, noise)
		return s.sum(n, r, clipping{unit: 1, weights: s.weights(q), factor2: block.Factor2(s.p.Relation, true)}, count, left.rest())
	}
	first := clipping{unit: 1, factor2: block.Factor2(s.p.Relation, true)}
	before, noisy := s.sum(n, r, first, count, left.take(firstShare))
	q := s.guess(divided(before, float64(r.top)), divided(noisy, float64(r.top)))
	second := s.about(q, r.top)
	mean, sigma = s.sum(n, r, second, count, left.rest())
	counted := s.count.sigma() / count
	for j := range mean {
		// n̂ is one for both: their errors by it add up
		both := math.Sqrt(math.Abs(mean[j]*before[j])) * counted
		mean[j], sigma[j] = weighed(mean[j], sigma[j], before[j], noisy[j])
		sigma[j] = math.Hypot(sigma[j], both/math.Sqrt2)
	}
	return mean, sigma
}

// weighed returns the average of two independent numbers by precision.
func weighed(x, sx, y, sy float64) (mean, sigma float64) {
	v, w := sy*sy/(sx*sx+sy*sy), sx*sx/(sx*sx+sy*sy)
	return v*x + w*y, sx * sy / math.Hypot(sx, sy)
}

// guess returns the means in [floor, 1] that released ones point to: those of the posterior where
// there are many. The floor keeps a coordinate whose mean comes out as 0 from a weight that would
// shorten everyone who is not 0 there. The noise level is the floor without the help of other
// coordinates, as [ALP24] Lemma 5.3 puts d^(−2/5) there for want of a noise level.
func (s sparse) guess(mean, sigma []float64) []float64 {
	q, floor := make([]float64, len(mean)), 2.0
	copy(q, mean)
	if s.p.Dim >= shrinkDim {
		floor = 0.2
		k := newShrinker(mean, sigma, 1)
		for j := range q {
			q[j] = k.mean(mean[j], sigma[j])
		}
	}
	for j := range q {
		q[j] = min(max(q[j], min(0.5, floor*sigma[j])), 1)
	}
	return q
}

// about returns the ball about the centre that suits means q in units of the range: the means
// themselves where that makes norms smaller by nearCorner at least, under add-remove; else the next
// corner of the range.
func (s sparse) about(q []float64, top int64) clipping {
	b := clipping{unit: 1, centre: make([]int64, len(q)), factor2: block.Factor2(s.p.Relation, true)}
	for b.unit*top < 1<<centreBits {
		b.unit *= 2
	}
	at, moments := middles(q)
	corners, far := corners(q)
	b.restore = s.p.Relation == estimator.ReplaceOne || radius2(moments, s.weights(moments)) > nearCorner*radius2(far, s.weights(far))
	if b.restore {
		at, moments = corners, far
	}
	end := float64(b.unit * top)
	for j, x := range at {
		b.centre[j] = min(int64(x*end), b.unit*top)
	}
	b.weights = s.weights(moments)
	b.cost = func(rho float64) cost { return s.lostEvenly(b, moments, end, rho) }
	return b
}

// nearCorner is how much of the squared radius must be left about the means to prefer the corner,
// from which lost mass can be restored.
const nearCorner = 0.9

// middles returns the means and the second moments about them of numbers 0 and 1, half of the least
// mean at least.
func middles(q []float64) (at, moments []float64) {
	moments, floor := make([]float64, len(q)), slices.Min(q)/2
	for j, x := range q {
		moments[j] = max(x*(1-x), floor)
	}
	return q, moments
}

// corners returns the ends of the range next to the means, and the second moments about them.
func corners(q []float64) (at, moments []float64) {
	at, moments = make([]float64, len(q)), make([]float64, len(q))
	floor := slices.Min(q) / 2
	for j, x := range q {
		if x > 0.5 {
			at[j] = 1
		}
		moments[j] = max(min(x, 1-x), floor)
	}
	return at, moments
}

// radius2 is the mean squared radius of vectors with these moments, times the noise of a unit
// radius squared in the ℓ1 norm: what the error grows with.
func radius2(moments, weights []float64) float64 {
	norm, noise := 0.0, 0.0
	for j, m := range moments {
		norm += weights[j] * m
		noise += 1 / math.Sqrt(weights[j])
	}
	return norm * noise * noise
}

// weights returns σ̄_j^(−4/(p+2)) for second moments.
func (s sparse) weights(moments []float64) []float64 {
	mean := 0.0
	for _, m := range moments {
		mean += math.Sqrt(m) / float64(len(moments))
	}
	w := make([]float64, len(moments))
	for j, m := range moments {
		w[j] = math.Pow(math.Sqrt(m)+mean, -4/(s.p.P+2))
	}
	return w
}

// cost is what the error of a sum of clipped vectors is made of, by coordinate: noise in proportion
// to the radius C, and a bias in proportion to what clipping takes away. Vectors of numbers >= 0
// are all shortened to the same side, so that the bias does not cancel: in the norm p = 1 it is all
// of the lost mass, and much less than its worst case in others, since it is spread over the
// coordinates as the mass is.
//
// Per unit of C the rule of [HLY21] Theorem 2, K* persons beyond the radius, equates noise and bias
// in the ℓ2 norm of the worst case, where all lost parts point the same way. For baskets with a
// Zipf law of items that is a twelfth of the persons that should be shortened.
type cost struct {
	p     float64   // the error's norm
	noise []float64 // root of the p-th absolute moment of the noise, per unit of C
	bias  []float64 // per unit of Σ_i (1 − a_i)·‖x_i − c‖_w²
}

// noiseLeft is the share of the noise that is left after clamping and shrinking, roughly, over the
// sets that were tried.
const noiseLeft = 0.7

// of returns the p-th power of the error: E|N(l, s²)|^p is taken as (s_p² + l²)^(p/2), right at
// both ends.
func (c cost) of(radius, lost float64) float64 {
	e := 0.0
	for j, s := range c.noise {
		s, l := s*radius, c.bias[j]*lost
		switch q := s*s + l*l; c.p {
		case 1:
			e += math.Sqrt(q)
		case 2:
			e += q
		default:
			e += math.Pow(q, c.p/2)
		}
	}
	return e
}

// balanced returns the radius of the least cost, in units of least, by the noisy counts of norms in
// the same units.
func balanced(h firstpass.Histogram, noisy []float64, least float64, c cost) float64 {
	top, ok := h.Top(noisy)
	if !ok {
		return h.Edge(float64(top)) // too few persons for any choice
	}
	best, lowest := top, math.Inf(1)
	try := func(i int) {
		if i < 0 || i > top {
			return
		}
		radius := h.Edge(float64(i))
		if e := c.of(least*radius, least*least*lost(h, noisy[:top+1], radius)); e < lowest {
			best, lowest = i, e
		}
	}
	for i := top; i > top-8*h.Per; i -= h.Per / 4 {
		try(i)
	}
	for i, middle := 1-h.Per/4, best; i < h.Per/4; i++ {
		try(middle + i)
	}
	return h.Edge(float64(best))
}

// lost returns Σ (1 − C/v)·v² over the numbers v > C.
func lost(h firstpass.Histogram, noisy []float64, radius float64) float64 {
	sum := 0.0
	for i, count := range noisy {
		if v := h.Edge(float64(i) - 0.5); v > radius {
			sum += count * (v - radius) * v
		}
	}
	return max(0, sum)
}

// kept returns the share of Σ ‖x_i‖² that is left after clipping, by the noisy counts: 1/4 at
// least. Vectors of numbers >= 0 lose about that share of each coordinate, so that dividing by it
// leaves only what heavy persons have in more or less than proportion. The cost still counts all of
// the loss: the share is a guess.
func kept(h firstpass.Histogram, noisy []float64, radius float64) float64 {
	top, ok := h.Top(noisy)
	all := lost(h, noisy[:top+1], 0)
	if !ok || !(all > 0) {
		return 1
	}
	return min(max(0.25, 1-lost(h, noisy[:top+1], radius)/all), 1)
}

// lostEvenly is the cost of a sum in a ball where coordinate j has the second moment
// moments[j]·end² about the centre and contributes to the lost mass in proportion to it.
func (s sparse) lostEvenly(b clipping, moments []float64, end, rho float64) cost {
	c := cost{p: s.p.P, noise: make([]float64, len(moments)), bias: make([]float64, len(moments))}
	sum := 0.0
	for j, m := range moments {
		sum += b.weights[j] * m
	}
	g, _ := math.Lgamma((c.p + 1) / 2)
	moment := math.Sqrt2 * math.Pow(math.Exp(g)/math.Sqrt(math.Pi), 1/c.p)
	for j, m := range moments {
		c.noise[j] = noiseLeft * moment * math.Sqrt(float64(b.factor2)/(2*rho*b.weights[j]))
		c.bias[j] = m / (sum * end)
	}
	return c
}
