package groups

import (
	"math"

	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/firstpass"
)

// alignment is the share of the worst case that the bias of clipped vectors of dim coordinates has.
// What clipping takes away from persons points in the same direction in the worst case, and its
// norm is then Σ(‖y‖−C)₊, as [HLY21] Theorem 2 counts it. Vectors over many groups differ: the
// shares measured on click-streams, baskets and ratings are 0.95 over 20 groups, 0.4 to 0.7 over 50
// and 0.2 to 0.5 over more. 0.6 is within a quarter of the best radius' error on all of them,
// mostly within a twentieth: too long a radius costs less than too short a one.
func alignment(dim int) float64 { return max(leastAlignment, math.Sqrt(20/float64(max(dim, 20)))) }

const leastAlignment = 0.6

// Buckets of norms: octaves, of which laws of norms are fitted (package clipping). Where a first
// sum is planned there are four an octave, since there are many persons there and many coordinates:
// radii are then told sixteen an octave, with a bucket's persons spread evenly over it.
const (
	normsPer   = 1
	plannedPer = 4
	fineSteps  = 4
)

// cost is the squared ℓ2 error of a sum of clipped vectors, by its radius:
//
//	noise·C² + (alignment·Σ(‖y‖−C)₊)²
type cost struct {
	noise     float64 // f²·d/(2ρ)
	alignment float64
}

func newCost(dim int, factor2 int64, rho float64) cost {
	return cost{float64(factor2) * float64(dim) / (2 * rho), alignment(dim)}
}

// of returns the cost of a radius that count norms of the given sum are beyond.
func (c cost) of(radius, count, sum float64) float64 {
	lost := c.alignment * max(0, sum-float64(count*radius))
	return float64(c.noise*radius*radius) + float64(lost*lost)
}

// mostBeyond is how far the radius may be beyond what stands out, in octaves.
const mostBeyond = 8

// radius returns the radius of the least cost by noisy counts of norms that do not pass limit, a
// public number, with what laws of norms say that it takes; ok is false if no norm stands out. It
// is at most the limit.
//
// Of octaves it is the best by laws that explain all counts (package clipping). Of finer buckets
// the counts are added up from the top downwards; those of the few who are farthest out are taken
// from a tail that is fitted to the others (tailOf).
func (c cost) radius(h firstpass.Histogram, noisy []float64, limit float64) (found clip, ok bool) {
	lengths, fitted := clipping.LengthsBy(h.Together(noisy, h.Per), h.Sigma*math.Sqrt(float64(h.Per)), limit)
	if top, seen := h.Top(noisy); seen && h.Per > normsPer {
		return c.fromTop(h, noisy, top, limit, lengths), true
	}
	if fitted {
		found.radius, ok = lengths.Radius(c.noise, c.alignment)
	}
	if found.known = found.radius >= limit; ok && !found.known {
		found.losses = lengths.Losses(found.radius)
	}
	return found, ok
}

// mostLost is the most that may be lost, of what is left, for a loss to be told.
const mostLost = 1

// fromTop is the radius of the least cost by counts whose top is known. What it takes is told by
// the counts, and beyond the octave of the top by the laws of lengths.
func (c cost) fromTop(h firstpass.Histogram, noisy []float64, top int, limit float64, lengths clipping.Lengths) clip {
	t, above := tailOf(h, noisy, top)
	best, least, beyond, lost := 0.0, math.Inf(1), 0.0, 0.0
	try := func(at, count, sum float64) {
		if r := h.Edge(at); c.of(r, count, sum) < least {
			best, least = at, c.of(r, count, sum)
			beyond, lost = count, max(0, sum-count*r)
		}
	}
	for k := mostBeyond * h.Per * fineSteps; k >= 0; k-- {
		at := float64(above) + float64(k)/fineSteps
		try(at, t.beyond(h.Edge(at)), t.sum(h.Edge(at)))
	}
	end := h.Edge(float64(above))
	count, sum := t.beyond(end), t.sum(end)
	for i := above; i >= 0; i-- {
		for k := range fineSteps {
			at := float64(i) - float64(k)/fineSteps
			try(at, count, sum)
			count += noisy[i] / fineSteps
			sum += noisy[i] / fineSteps * h.Edge(at-0.5/fineSteps)
		}
	}
	found := clip{radius: min(h.Edge(max(0, best)), limit)}
	if found.known = found.radius >= limit; found.known {
		return found
	}
	left := -lost
	for i, count := range noisy[:top+1] {
		left += count * h.Edge(float64(i)-0.5)
	}
	if !(left > lost/mostLost) {
		return found // noise: nothing is known of what is lost
	}
	octave := math.Exp2(math.Ceil(float64(top) / float64(h.Per)))
	for _, l := range lengths.Losses(max(found.radius, octave)) {
		l.Near = lost / left
		l.Wide += l.Near
		l.Heavy = min(1, max(l.Heavy, beyond*found.radius/left))
		found.losses = append(found.losses, l)
	}
	return found
}

// radiusShare is the share of the loss that a histogram of norms up to limit gets: enough that what
// it does not see, a window of 6σ, is no more than the number of persons that should be beyond the
// radius where it is the noise that counts, √noise/alignment; from 3 % to 15 %, which it is for few
// coordinates, where no share would do and the tail has to be guessed, and to 5 % where norms
// cannot differ by more than a factor of 8.
func radiusShare(dim int, limit float64, factor2, delta2 int64) float64 {
	const see = firstpass.FarZ * leastAlignment
	most := 0.15
	if limit <= 8 {
		most = 0.05
	}
	return min(max(see*see*float64(delta2)/(float64(factor2)*float64(max(dim, 1))), 0.03), most)
}
