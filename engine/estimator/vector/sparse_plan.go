package vector

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/noise"
)

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
