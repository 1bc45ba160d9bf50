package person

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
)

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

// batch is the persons of one stage, and the number of them as it follows from released numbers.
type batch struct {
	*estimator.Block
	count float64
}

// batches returns the persons of the coarse estimate, of the threaded rounds and of the last
// clip-and-noise.
//
// With Split Loss all three have everybody. With Persons everyone is put into one of three by a
// coin of three sides of their own, from the Noiser's secret bits; each stage is run on its third
// at the whole loss ρ' that is left. The paper takes thirds of a public list.
//
// Loss of Persons: ρ', in either relation, as thirds are disjoint parts by coins (firstpass.Coins).
// Thirds by a hash of the person's name would not do under replace-one: a new name may be in
// another third, and two stages are touched.
//
// n̂/3 stands for the number of persons in a third. It is off by √(2/n) of it, which only moves the
// answer by that share of a shift about a centre, and is in the standard error.
func (m mean) batches(n noise.Noiser, b *estimator.Block, count float64) [3]batch {
	if m.p.Split == Loss {
		return [3]batch{{b, count}, {b, count}, {b, count}}
	}
	var out [3]batch
	coins := firstpass.Toss(n, b.Memory, b.Persons())
	for s := range out {
		out[s] = batch{block.Sample(b, coins.Part(b.Memory, s, len(out))), count / 3}
	}
	return out
}

// sampled returns the persons that a coarse estimate looks at: all, or about size of them where
// that is less than half, by coins whose sides follow from released numbers only (firstpass.Coins).
// It saves the sorting of columns whose fullest bucket a part of them shows.
func sampled(n noise.Noiser, b batch, size float64) batch {
	sides := firstpass.Sides(size, b.count)
	if sides == firstpass.CoinSides {
		return b
	}
	kept := firstpass.Toss(n, b.Memory, b.Persons()).Keep(b.Memory, sides)
	return batch{block.Sample(b.Block, kept), b.count * float64(sides) / firstpass.CoinSides}
}

// steps describes the steps after the number of persons, as planned for the least number of them.
// With more persons the steps before the last sum take less of the loss. With Split Persons the
// stages have the loss of one of them, the last, since a person is in one.
func (m mean) steps() []estimator.Step {
	count := float64(m.needs())
	out, stage := m.looks(count), count
	left := budget{m.core, 1}
	left.take(m.rowsShare(count))
	left.take(m.spreadShare(count))
	if m.p.Split == Persons {
		stage = count / 3
	}
	p := m.plan(m.widest(), stage, left.rest())
	out = append(out, m.stage(m.choice(), p.coarse, false))
	if len(p.rounds) > 0 {
		sum := 0.0
		for _, r := range p.rounds {
			sum += r
		}
		out = append(out, m.stage(m.sum("clipped sums for a centre", len(p.rounds)), sum, false))
	}
	if p.norms > 0 {
		mechanism, norm := m.law.noisy()
		buckets := m.radiusOctaves(m.paperRadius(m.widest(), stage, p.last)).Buckets
		out = append(out, m.stage(estimator.Step{Name: "clip radius", Mechanism: mechanism, Use: "histogram", Sensitivity: norm + m.law.moves(false), Queries: buckets}, p.norms, true))
	}
	return append(out, m.stage(m.sum("clipped sum", 1), p.last, true))
}

// looks describes the histograms.
func (m mean) looks(count float64) (out []estimator.Step) {
	mechanism, norm := m.law.noisy()
	add := func(name string, share float64, buckets int, groups bool) {
		if share > 0 {
			s := estimator.Step{Name: name, Mechanism: mechanism, Use: "histogram", Sensitivity: norm + m.law.moves(groups), Queries: buckets}
			out = append(out, m.law.step(s, (&budget{m.core, 1}).take(share)))
		}
	}
	add("rows of a person", m.rowsShare(count), m.rowOctaves().Buckets, false)
	add("spread", m.spreadShare(count), m.distanceOctaves().Buckets, true)
	return out
}

// stage puts the loss of a stage into its description.
func (m mean) stage(s estimator.Step, loss float64, last bool) estimator.Step {
	if m.p.Split == Persons {
		s.Sensitivity += ", of a third of the persons"
		if !last {
			return s
		}
	}
	return m.law.step(s, loss)
}

// choice describes the coarse estimate.
func (m mean) choice() estimator.Step {
	s := estimator.Step{Name: "coarse estimate", Mechanism: estimator.Exponential, Sensitivity: "range=1", Queries: m.p.Dim}
	if m.law.relation == estimator.ReplaceOne {
		s.Sensitivity = "range=2"
	}
	if m.p.Delta > 0 {
		s.Mechanism, s.Use, s.Sensitivity = estimator.DiscreteGaussian, "threshold", "l2"+m.law.moves(false)
	}
	return s
}

// sum describes clip-and-noise, a number of times.
func (m mean) sum(name string, times int) estimator.Step {
	mechanism, norm := m.law.noisy()
	s := estimator.Step{Name: name, Mechanism: mechanism, Sensitivity: norm + "=C", Queries: times * m.p.Dim}
	if m.law.relation == estimator.ReplaceOne {
		s.Sensitivity = norm + "=2C"
	}
	return s
}

// moves is how far one person, or one group, moves a histogram, in the norm of the law.
func (l law) moves(groups bool) string {
	switch {
	case !groups && l.relation == estimator.AddRemove:
		return "=1"
	case l.pure:
		return "=2"
	}
	return "=√2"
}
