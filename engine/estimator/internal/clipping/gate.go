package clipping

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Of the fullest octave, or else of windows, it is asked whether it stands out of the noise at all,
// at gateZ standard deviations. From there the gate climbs. A window of 1, 2, 4 or 8 octaves stands
// out
//
//	within 3 octaves above the gate              once, at adjoiningZ·√width, of distances aboutZ·√width
//	within besideGate octaves above the gate     at gateZ·√width
//	4 to lookOctaves octaves above it            once, at lookZ·√width
//	anywhere above it                            at farZ·√width
//
// The chance that noise alone lifts the gate by more than lookOctaves is 4·120·1.9·10⁻⁸, under
// 10⁻⁵: a statement has several gates, and one that is lifted by ten octaves leaves nothing of its
// answers. By four to six octaves it is lifted with a chance of 9·2.1·10⁻⁵, by at most three with
// one of 6·1.9·10⁻³: both cost less than to miss persons who have ten or fifty times as much as all
// others, of whom there are enough to have most of what there is.
const (
	gateZ      = 4.5
	adjoiningZ = 2.9
	farZ       = 5.5
	besideGate = 3
	// lookZ is where persons stand out who have 4 to lookOctaves octaves more than all others.
	lookZ       = 4.1
	lookOctaves = 6
	// nearWindow is how far apart the gates of two sides may be, and how far above the gate the
	// interval of distances looks.
	nearWindow = 8
	// laplaceTail brings the chance of 3.4·10⁻⁶ of a normal law to 6.5·10⁻⁵ of a Laplace law, of
	// the same standard deviation, where it would be 8.6·10⁻⁴.
	laplaceTail = 1.4
)

// points are what takes the places of gateZ, lookZ and farZ where many groups have a gate each.
type points struct{ gate, look, far float64 }

// fewGroups is the number of groups from which on the chance that noise alone opens the gate of any
// of them, or lifts it far, stays the same.
const fewGroups = 16

func pointsOf(groups int) points {
	if groups <= fewGroups {
		return points{gateZ, lookZ, farZ}
	}
	z := math.Sqrt2 * math.Erfcinv(math.Erfc(gateZ/math.Sqrt2)*fewGroups/float64(groups))
	return points{z, z + lookZ - gateZ, z + farZ - gateZ}
}

// open returns the greatest octave that stands out of noise of standard deviation sigma, −1 where
// none does; adjoining is the point for octaves beside it.
func (p points) open(counts []float64, sigma, adjoining float64) int {
	best := fullest(counts)
	if counts[best] <= p.gate*sigma {
		if best = p.climb(counts, sigma, -1, len(counts)); best < 0 {
			return -1
		}
	}
	for {
		next := p.climb(counts, sigma, best, besideGate)
		if next == best {
			break
		}
		best = next
	}
	gate := best
	for width := 3; width >= 1 && gate == best; width-- {
		for from := best + width; from > best; from-- {
			if to := best + width + 1; to <= len(counts) && sum(counts[from:to]) > adjoining*sigma*math.Sqrt(float64(to-from)) {
				gate = best + width
			}
		}
	}
	return max(gate, p.leap(counts, sigma, best))
}

// leap returns the greatest octave within lookOctaves above the gate that a window of up to 3
// octaves ends with, which stands out beyond besideGate at lookZ·√width; the gate where none does.
func (p points) leap(counts []float64, sigma float64, gate int) int {
	for top := min(gate+lookOctaves, len(counts)-1); top > gate+besideGate; top-- {
		for width := 1; width <= 3 && top-width >= gate; width++ {
			if counts[top] > sigma && sum(counts[top-width+1:top+1]) > p.look*sigma*math.Sqrt(float64(width)) {
				return top
			}
		}
	}
	return gate
}

// stray reports whether a side whose octaves stand out far beyond the gate of the other side has
// none that would stand out there: it is rather noise.
func (s *side) stray(other int, tail float64) bool {
	return s.gate > other+nearWindow && s.counts[fullest(s.counts)] <= s.points.far*s.sigma*tail
}

// fullest returns the bucket with the greatest count.
func fullest(counts []float64) int {
	best := 0
	for i, c := range counts {
		if c > counts[best] {
			best = i
		}
	}
	return best
}

// climb returns the greatest octave above the gate that stands out, the gate where none does: alone
// if one does, as a wider window has noise above the octave that fills it.
func (p points) climb(counts []float64, sigma float64, gate, near int) int {
	for _, width := range []int{1, 2, 4, 8} {
		for top := len(counts) - 1; top-width+1 > gate; top-- {
			z := p.far
			if top <= gate+near {
				z = p.gate
			}
			low := top - width + 1
			if sum(counts[low:top+1]) <= z*sigma*math.Sqrt(float64(width)) {
				continue
			}
			for top > low && counts[top] < sigma {
				top--
			}
			return top
		}
	}
	return gate
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// Zeros answers a sum of which no total stands out: 0 where many persons have a total of 0.
//
// Two counts are released at the loss that the sum would have had: persons with total 0, and
// persons with another one. A person is in one count of both, so that one who comes or goes changes
// one by 1, and one who is exchanged changes both. The noise is that of ℓ2 sensitivity √2 (ℓ1
// sensitivity 2) under either relation, so that an exchange costs it no more than a sum
// (estimator.Exchanging). That they are released follows from the counts of octaves, which are
// released; by adaptive composition all of it costs no more than the search and the sum.
type Zeros struct {
	P     estimator.Params
	Share float64 // of the loss
	// Sign is that of the totals, 0 where they have either: a person with another total than 0 is
	// taken for one step on that side.
	Sign  int64
	Limit int64 // the largest total, in steps
}

// Persons with total 0 have to be zerosPerHidden times as many as those whom the noise may hide,
// at hiddenZ standard deviations.
const (
	zerosPerHidden = 20
	hiddenZ        = 3
)

// Answer draws the noise. rows are those of each person, nil where who has none counts as well;
// needed is the number of persons that a search needs. The interval allows for each person who is
// counted, or whom the noise may hide, the largest total that there is: more than half a step for
// each row, by which a row may be off that is 0 on its grid.
func (z Zeros) Answer(n noise.Noiser, rows, totals []int64, step float64, needed int64) estimator.Estimate {
	var zero, other int64
	for i, t := range totals {
		switch {
		case t != 0:
			other++
		case rows == nil || rows[i] > 0:
			zero++
		}
	}
	hidden := scalar.NewNoise(z.P, big.NewInt(2), 2, z.Share)
	zeros, others := float64(hidden.Add(n, zero)), float64(hidden.Add(n, other))
	if least := zerosPerHidden * (max(0, others) + hiddenZ*hidden.Sigma()); zeros < least {
		if zeros > hiddenZ*hidden.Sigma() {
			needed = max(needed, scalar.Twice(least))
		}
		return scalar.TooFew(1, needed)
	}
	value := 0.0
	if z.Sign != 0 && others != 0 { // no −0
		value = float64(z.Sign) * others * step
	}
	e := scalar.Hidden(value, hidden, step)
	limit := float64(z.Limit) * step
	far := []estimator.CutPart{{Weight: 1, Mean: max(0, others) * limit, StdDev: hidden.Sigma() * limit}}
	if hidden.Law() == estimator.Laplace {
		far[0].StdDev *= 2 // its tails reach farther than a normal law's, down to a risk of 10⁻⁴
	}
	cut := estimator.Cut{Up: far, Down: far, Seen: limit}
	switch {
	case z.Sign > 0:
		cut.Down = nil
	case z.Sign < 0:
		cut.Up = nil
	}
	e.Error.Cut, e.Error.Persons, e.Error.Roomy = []estimator.Cut{cut}, zeros, true
	return e
}
