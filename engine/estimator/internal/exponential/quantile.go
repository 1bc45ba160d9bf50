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
// with the weights of a pure one (pure.go), so there is no slack. n is private and enters only
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
