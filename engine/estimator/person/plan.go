package person

import "math"

// How the loss after the number of persons is shared. The looks take what makes them clear
// (lookShare); of the rest every stage before the last takes what it needs with the persons at
// hand, at least leastStage and at most mostCoarse, mostRound of it, and the last stage the rest.
// [AKM25] Algorithm 4 gives a half to the coarse estimate and a quarter to each of the others,
// whatever n is.
const (
	leastStage = 0.005
	mostCoarse = 0.3
	mostRound  = 0.15
)

// plannedBuckets is the number of buckets that MinPersons is for where there are more: a range of
// 2^32·3τ, 10^10 standard deviations. A wider one has the same loss, and is only more likely to be
// searched in vain: 2^61 buckets at the least number of persons with a probability of some per cent
// for normal means, half of whom are in one bucket.
const plannedBuckets = 1 << 32

// leastPersons is the number under which nothing is answered.
const leastPersons = 20

// clips is the plan of the stages after the looks: losses of the coarse estimate and of every
// clip-and-noise.
type clips struct {
	coarse float64
	rounds []float64 // losses of all but the last
	radii  []float64 // of the rounds
	norms  float64   // of the histogram for the last radius; 0: none
	last   float64
}

// plan computes the losses of the stages for count persons, where loss is left. With Persons every
// stage has all of it and a third of the persons, and the rounds, which share a third, share it
// evenly.
func (m mean) plan(s shape, count, loss float64) clips {
	p := clips{radii: m.rounds(s)}
	if m.p.Split == Persons {
		p.coarse = loss
		for range p.radii {
			p.rounds = append(p.rounds, loss/float64(len(p.radii))*(1-1e-12))
		}
		p.norms, p.last = m.ending(count, loss)
		return p
	}
	left := budget{loss, 1}
	p.coarse = left.take(between(leastStage, m.coarseNeed(count, m.bucketsOf(s))/loss, mostCoarse))
	for _, r := range p.radii {
		p.rounds = append(p.rounds, left.take(between(leastStage, m.roundNeed(s, r, count)/loss, mostRound)))
	}
	p.norms, p.last = m.ending(count, left.rest())
	return p
}

// ending splits the loss of the last stage into those of its radius and of its sum.
func (m mean) ending(count, loss float64) (norms, sum float64) {
	share := m.radiusShare(count, loss)
	if share == 0 {
		return 0, loss
	}
	left := budget{loss, 1}
	return left.take(share), left.rest()
}

func between(lo, x, hi float64) float64 { return min(max(x, lo), hi) }

// bucketsOf is the number of buckets of the coarse estimate.
func (m mean) bucketsOf(s shape) float64 {
	return float64(m.rangeBuckets(integer(s.width())).count)
}

// rounds returns the radii of the clip-and-noise before the last one.
func (m mean) rounds(s shape) []float64 {
	switch r := s.threaded(); m.p.Stages {
	case Threaded:
		return r[:len(r)-1]
	case Single:
		return nil
	default:
		return r
	}
}

// paperRadius is the radius of the last clip-and-noise that follows from moments: P*.
func (m mean) paperRadius(s shape, count, loss float64) float64 {
	switch unit := m.law.unit(loss); m.p.Stages {
	case Threaded:
		r := s.threaded()
		return r[len(r)-1]
	case Single:
		return s.single(count, unit)
	default:
		return s.last(count, unit)
	}
}

// roundNeed is the loss with which the noise of a round moves the centre by no more than a fifth of
// the radius that follows, at least base.
func (m mean) roundNeed(s shape, radius, count float64) float64 {
	return m.law.lossOf(count * s.base() / (5 * radius * math.Sqrt(s.dim)))
}

// enough reports whether count persons are enough, from public facts: the looks see the bulk of
// what they look at, the coarse estimate finds its bucket and the rounds have little noise without
// more than they may take, and the noise of the last sum is an eighth of its radius.
func (m mean) enough(count float64) bool {
	if !m.seen(count, m.rowsShare(count), false) || !m.seen(min(count/2, 1<<14), m.spreadShare(count), true) {
		return false
	}
	s, stage := m.widest(), count
	left := m.core * (1 - m.rowsShare(count) - m.spreadShare(count))
	if m.p.Split == Persons {
		stage = count / 3
	}
	p := m.plan(s, stage, left)
	if m.coarseNeed(stage, min(m.bucketsOf(s), plannedBuckets)) > max(p.coarse, mostCoarse*left) {
		return false
	}
	for i, r := range p.radii {
		if m.roundNeed(s, r, stage) > max(p.rounds[i], mostRound*left) {
			return false
		}
	}
	return stage >= 8*math.Sqrt(s.dim)*m.law.unit(p.last)
}

// plannedRows is the number of rows that MinPersons is for where it is not declared and may be
// larger: the rounds' radii grow with √ln m.
const plannedRows = 1000

// widest is the shape that asks for most persons: the declared one, with the largest m and the
// least spread where they are not declared.
func (m mean) widest() shape {
	rows := m.p.Rows
	if m.p.learnsRows() {
		rows = min(m.p.mostRows(), plannedRows)
	}
	tau := leastTau
	if !m.p.learnsSpread() {
		tau = max(tau, m.units(m.p.Sigma)/math.Sqrt(rows))
	}
	return m.shapeOf(tau, rows)
}

// needs returns the least number of persons that is enough; 2^50 if none is.
func (m mean) needs() int64 {
	lo, hi := int64(leastPersons), int64(1)<<50
	for lo < hi {
		if mid := lo + (hi-lo)/2; m.enough(float64(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
