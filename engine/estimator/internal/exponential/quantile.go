package exponential

import (
	"cmp"
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Quantile chooses the quantile num/den of one number a person, or of at most values numbers a
// person, on a public range of cells.
//
// A cell v scores by the distance of the target rank from the ranks that v holds, in units of
// 1/den:
//
//	k(v) = max(0, den·#{x < v} − num·n, num·n − den·#{x ≤ v})
//
// so each distinct value is a category of its own and the cells of a gap share one. Two neighbours
// change k by
//
//	add-remove    at most D = values·max(num, den−num) either way: n and both counts of a cell move together
//	replace-one   at most D = values·den either way: the counts move by values, n does not (or a person comes or goes,
//	              which is less)
//
// so the range is 2D, and rate = √(2ρ)/D costs ρ [CR21, Lemma 3.2]: it is a choice at ε = √(8ρ),
// with the weights of a pure one, so there is no slack. n is private and enters only
// here.
//
// Accuracy: with N cells the rank of the answer is off by at most (ln N + ln 1/β)/(rate·den) values
// with probability 1−β [S11]. With all values equal the answer is that value but for a probability
// of N·e^{-rate·min(num, den−num)·n}.
type Quantile struct {
	num, den int64
	rank     int64 // in the place of num/den: the number of values under the target, see NewRank
	loss     loss
	change   int64
	rate     float64
	powers   powers
}

// maxRank bounds num·n and den·n: a group has at most 2^40 values.
const maxRank = 1 << 62

// NewQuantile returns the choice of the quantile num/den, 0 < num < den <= 2^20, at loss rho, for
// at most values >= 1 numbers a person. At a loss that is too small to be divided so the choice is
// uniform.
func NewQuantile(num, den, values int64, rho float64, relation estimator.Relation) Quantile {
	change := values * max(num, den-num)
	if relation == estimator.ReplaceOne {
		change = values * den
	}
	return newQuantile(num, den, rho, float64(change), change)
}

// newQuantile returns the choice for a distance that changes by at most change.
func newQuantile(num, den int64, rho, change float64, shown int64) Quantile {
	// two roundings of 2^-53
	q, err := newPureQuantile(num, den, math.Sqrt(8*rho)*(1-0x1p-51), change, shown)
	if err != nil {
		q = Quantile{num: num, den: den, change: shown, powers: powers{uniform: true}}
	}
	q.loss = loss{rho: rho}
	return q
}

func checkFraction(num, den int64, change, loss float64) {
	if num <= 0 || den <= num || den > 1<<20 || !(change > 0) || !(loss > 0) {
		panic(fmt.Sprintf("exponential: quantile %d/%d at loss %v", num, den, loss))
	}
}

// RankError is the number of values by which the rank of an answer among cells cells is off at
// most, with probability 1−beta.
func (q Quantile) RankError(cells, beta float64) float64 {
	return math.Log(cells/beta) / (q.rate * float64(q.den))
}

// Persons is the number of values with which the answer lies between the least and the greatest,
// with probability 95 %.
func (q Quantile) Persons(cells float64) int64 {
	margin := float64(min(q.num, q.den-q.num)) / float64(q.den)
	return int64(math.Ceil(min(q.RankError(cells, 0.05)/margin, 1<<62)))
}

// Step describes queries such choices, at q's loss each.
func (q Quantile) Step(name string, queries int) estimator.Step {
	return q.loss.of(queries, estimator.Step{Name: name, Mechanism: estimator.Exponential, Sensitivity: fmt.Sprintf("range=%d", 2*q.change)})
}

// Choose returns the cell of the quantile among cells cells, given the cell of each value in any
// order. m is for what it makes of them.
func (q Quantile) Choose(n noise.Noiser, m estimator.Memory, of []uint32, cells uint64) uint32 {
	data, w := q.near(m, of), &wheel{memory: m}
	defer estimator.Free(m, data.runs)
	defer w.done()
	q.fillWindow(w, data, 0, cells-1)
	return uint32(w.draw(n))
}

// run is a cell with the number of values in it.
type run struct {
	cell  uint64
	count int64
}

func byCell(r run, cell uint64) int { return cmp.Compare(r.cell, cell) }

// runs appends the runs of a sorted list to dst, with memory from m.
func runs[T uint32 | uint64](m estimator.Memory, dst []run, sorted []T) []run {
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		dst = append(estimator.Grow(m, dst, 1), run{uint64(sorted[i]), int64(j - i)})
		i = j
	}
	return dst
}

// pick draws a cell from lo to hi, given the runs of all values there, in ascending order.
func (q *Quantile) pick(n noise.Noiser, w *wheel, data []run, lo, hi uint64) uint64 {
	q.fill(w, data, lo, hi)
	return w.draw(n)
}

// fill makes w the choice of a cell from lo to hi, given the runs of all values there, in ascending
// order.
func (q *Quantile) fill(w *wheel, data []run, lo, hi uint64) {
	total := int64(0)
	for _, r := range data {
		total += r.count
	}
	q.fillWindow(w, window{runs: data, all: total}, lo, hi)
}

// fillWindow is fill, given the window of the values.
func (q *Quantile) fillWindow(w *wheel, data window, lo, hi uint64) {
	if hi-lo >= maxPoints || data.all > maxRank/q.den {
		panic("exponential: too many cells or values")
	}
	w.reset()
	target, next, rank := q.target(data.all), lo, q.den*data.below // rank: den·#{x < next}
	for _, r := range data.runs {
		if r.cell > next {
			w.add(next, r.cell-next, q.powers.at(distance(target, rank, rank)))
		}
		end := rank + q.den*r.count
		w.add(r.cell, 1, q.powers.at(distance(target, rank, end)))
		next, rank = r.cell+1, end
	}
	if next <= hi {
		w.add(next, hi-next+1, q.powers.at(distance(target, rank, rank)))
	}
}

// target is the rank that is aimed at among so many values, in units of 1/den.
func (q *Quantile) target(all int64) int64 {
	if q.rank > 0 {
		return q.rank * q.den
	}
	return q.num * all
}

// distance is that of target from [left, right].
func distance(target, left, right int64) uint64 { return uint64(max(0, left-target, target-right)) }

// NewRank returns the choice of the value that rank values, one a person, are under, rank >= 1, on
// a public range of cells, at loss rho. A cell v scores by
//
//	k(v) = max(0, #{x < v} − rank, rank − #{x ≤ v})
//
// The rank is public, so n is not in it, and one person moves both counts of a cell by at most 1,
// who comes, goes or is exchanged: D = 1 under either relation. All else is as of NewQuantile.
func NewRank(rank int64, rho float64) Quantile {
	// two roundings of 2^-53
	q, err := NewPureRank(rank, math.Sqrt(8*rho)*(1-0x1p-51))
	if err != nil {
		q = Quantile{den: 1, rank: rank, change: 1, powers: powers{uniform: true}}
	}
	q.loss = loss{rho: rho}
	return q
}

// NewPureRank is NewRank at ε = eps, δ = 0. It returns an error where eps is too small to be
// divided so.
func NewPureRank(rank int64, eps float64) (Quantile, error) {
	if rank < 1 || rank > maxRank || !(eps > 0) {
		panic("exponential: want a rank of at least 1 and a loss")
	}
	rate, err := pureRate(eps, 2)
	if err != nil {
		return Quantile{}, err
	}
	return Quantile{den: 1, rank: rank, loss: loss{epsilon: eps}, change: 1, rate: rate, powers: newFloored(rate)}, nil
}

// The pure form of a choice, which quantiles have at a loss ρ, too: ε-DP with δ = 0, by weights for
// which the argument holds to the last bit.
//
// The weight of distance k is the integer w(k) = max(W(k), 2^64), in units of 2^-192, where W(k) is
// the power table's value of ω^k, off by less than 2^13 units, and ω = e^{-s} for the rate s = rate
// − 2^-49 with s ≥ 2^-49. Then for every k >= 0, j >= 1
//
//	1  ≤  w(k)/w(k+j)  ≤  e^{rate·j}
//
// Right: if W(k) ≤ 2^64 then w(k) is the least weight there is. Else ω^k > 2^64 − 2^13 units, so
// W(k) ≤ ω^k·(1+2^-50.9), and ω^{k+j} ≤ w(k+j)·(1+2^-51); the quotient is at most
// e^{sj}·(1+2^-49.9) ≤ e^{sj + 2^-49} ≤ e^{rate·j}. Left: W(k+j) ≤ ω^j·ω^k + 2^13 and ω^j ≤
// e^{-2^-49} leave the same room.
//
// So where the distances of two neighbours differ by k' − k in [−a, b] with a, b ≥ 0 at every
// point, the weights of a point differ by a factor in [e^{-rate·b}, e^{rate·a}]. So does their sum,
// and a probability is the quotient: it differs by a factor e^{rate·(a+b)} at most, and is never 0.
// Sums of weights are exact and a point is found by an exactly uniform integer (wheel), so the draw
// is ε-DP for ε = rate·(a+b), no slack; it is ε-bounded-range, too, and costs ε²/8 in zCDP [CR21,
// Lemma 3.2].
//
// What the floor 2^-128 takes from the good points is at most 2^62·2^-128 of the probability.

// leastRate is the smallest rate of a pure choice: half of it is the room for the rounding of
// weights.
const leastRate = 0x1p-48

// pureRate returns s for the loss eps where neighbours' distances differ by a range of span at
// most.
func pureRate(eps, span float64) (float64, error) {
	rate := eps / span * (1 - 0x1p-50) // two roundings of 2^-53
	if !(rate >= leastRate) || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("exponential: epsilon %v is too small for a choice among scores that move by %v", eps, span)
	}
	return rate - 0x1p-49, nil
}

// NewPureQuantile is NewQuantile at ε = eps, δ = 0. The range of the distances is 2D as there, so
// the rate is ε/(2D). It returns an error where eps is too small to be divided so.
func NewPureQuantile(num, den, values int64, eps float64, relation estimator.Relation) (Quantile, error) {
	change := values * max(num, den-num)
	if relation == estimator.ReplaceOne {
		change = values * den
	}
	return newPureQuantile(num, den, eps, float64(change), change)
}

func newPureQuantile(num, den int64, eps, change float64, shown int64) (Quantile, error) {
	checkFraction(num, den, change, eps)
	rate, err := pureRate(eps, 2*change)
	if err != nil {
		return Quantile{}, err
	}
	return Quantile{num: num, den: den, loss: loss{epsilon: eps}, change: shown, rate: rate, powers: newFloored(rate)}, nil
}

// NewPureFullest is NewFullest at ε = eps, δ = 0: rate ε under add-remove, ε/2 under replace-one.
// Adding a person raises one count; the distances of the other buckets grow by one if it was the
// largest, else its own falls by one: a range of 1 that holds 0. An exchange is two such steps.
func NewPureFullest(buckets uint64, eps float64, relation estimator.Relation) (Fullest, error) {
	checkBuckets(buckets, eps)
	span := int(relation.Factor())
	rate, err := pureRate(eps, float64(span))
	if err != nil {
		return Fullest{}, err
	}
	return Fullest{buckets, loss{epsilon: eps}, span, rate, newFloored(rate)}, nil
}

// newFloored returns the weights of a pure choice.
func newFloored(rate float64) powers {
	p := newPowers(rate)
	p.floored = true
	return p
}

// loss is the cost of one choice: ρ, or ε of a pure one.
type loss struct{ rho, epsilon float64 }

// of puts the loss of n choices into a step.
func (l loss) of(n int, s estimator.Step) estimator.Step {
	s.Queries, s.Rho, s.Epsilon = n, l.rho*float64(n), l.epsilon*float64(n)
	return s
}
