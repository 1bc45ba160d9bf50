package vector

import (
	"errors"
	"math"

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
