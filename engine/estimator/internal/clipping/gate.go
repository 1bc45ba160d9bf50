package clipping

import "math"

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
