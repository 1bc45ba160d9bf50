package scalar

import (
	"fmt"
	"math"
	"math/bits"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Axis divides a public range of integers into at most 2^rounds cells, as fine as a floating-point
// number with a fixed number of bits: cells have width 1 near zero and relative width 2^-bits
// beyond, so a value anywhere in ±2^50 is found with the same relative precision, and a short range
// exactly.
//
// With 24 rounds: every integer up to 2^18 by itself, and 1 part in 2^18 beyond, on ±2^50.
type Axis struct {
	lo, hi int64 // public range
	bits   int
	first  int64 // cell of lo
	cells  int64
	rounds int
}

// NewAxis returns the finest axis of at most 2^rounds cells on [lo, hi].
func NewAxis(lo, hi int64, rounds int) Axis {
	a := Axis{lo: lo, hi: hi}
	for a.bits = 52; ; a.bits-- {
		a.first = a.cell(lo)
		if a.cells = a.cell(hi) - a.first + 1; a.cells <= 1<<rounds {
			break
		}
	}
	a.rounds = bits.Len64(uint64(a.cells - 1))
	return a
}

// cell returns the number of the cell of k, counted from the cell of 0.
func (a Axis) cell(k int64) int64 {
	if k < 0 {
		return -a.cell(-k)
	}
	e := bits.Len64(uint64(k)) - (a.bits + 1)
	if e <= 0 {
		return k
	}
	return int64(e)<<a.bits + k>>e
}

// Cell returns the number of k's cell, from 0; k outside the range counts as its nearest end.
func (a Axis) Cell(k int64) uint32 { return uint32(a.cell(min(max(k, a.lo), a.hi)) - a.first) }

// Cells returns the cell of each of several numbers, in memory from m.
func (a Axis) Cells(m estimator.Memory, of []int64) []uint32 {
	out := estimator.Make[uint32](m, len(of))
	for i, k := range of {
		out[i] = a.Cell(k)
	}
	return out
}

// Value returns the middle of a cell.
func (a Axis) Value(cell uint32) int64 {
	j := int64(cell) + a.first
	sign := int64(1)
	if j < 0 {
		j, sign = -j, -1
	}
	if e := j>>a.bits - 1; e > 0 {
		j = (j-e<<a.bits)<<e + (1<<e-1)/2
	}
	return min(max(sign*j, a.lo), a.hi)
}

// Ends returns the least and the largest number of a cell.
func (a Axis) Ends(cell uint32) (lo, hi float64) {
	j := int64(cell) + a.first
	sign := 1.0
	if j < 0 {
		j, sign = -j, -1
	}
	l, h := j, j
	if e := j>>a.bits - 1; e > 0 {
		l = (j - e<<a.bits) << e
		h = l + 1<<e - 1
	}
	lo, hi = sign*float64(l), sign*float64(h)
	return max(min(lo, hi), float64(a.lo)), min(max(lo, hi), float64(a.hi))
}

// Bisection searches an axis for the quantile num/den of one value a person.
//
// Each of at most T rounds asks Q = den·#{x ≤ mid} − num·n, whose sign says on which side of mid
// the quantile lies. Each value adds den−num or −num to Q, so a person with at most M values adds a
// number in [−M·num, M·(den−num)], and Q changes
//
//	add-remove    by at most Δ = M·max(num, den−num), a number of this interval
//	replace-one   by at most Δ = M·den, the length of the interval, which holds 0
//
// Each answer has σ² = ⌈TΔ²/(2ρ)⌉, together ρ. T is fixed by the axis before data are read. n
// enters only inside Q and need not be public.
//
// Rank error: with probability 1−β the answer's rank is within zσ/den values of the quantile's, z
// the two-sided normal point of β/T; that is at most (Δ/den)·√(T·ln(2T/β)/ρ) [HLY21, Theorem 1; the
// constant is that of the union bound, larger by √2 than printed].
type Bisection struct {
	axis     Axis
	num, den int64
	rho      float64
	delta    int64
	sigma2   noise.Variance
}

// NewBisection returns a search at loss rho for values of which a person has at most rows.
func NewBisection(relation estimator.Relation, a Axis, num, den, rows int64, rho float64) Bisection {
	b := Bisection{axis: a, num: num, den: den, rho: rho, delta: rows * max(num, den-num)}
	if relation == estimator.ReplaceOne {
		b.delta = rows * den
	}
	b.sigma2 = SmallSigma2(b.delta, int64(max(a.rounds, 1)), rho)
	return b
}

// Rounds is the most ranks that a search asks for.
func (b Bisection) Rounds() int { return b.axis.rounds }

// Sigma is the standard deviation of one round's noise, in values.
func (b Bisection) Sigma() float64 { return Root(b.sigma2.Big()) / float64(b.den) }

// RankError is the number of values by which the answer's rank is off at most with probability
// 1−beta: the point that a normal variable of each round's σ passes, on either side, with
// probability beta/T.
func (b Bisection) RankError(beta float64) float64 {
	return b.Sigma() * math.Sqrt2 * math.Erfcinv(beta/float64(max(b.axis.rounds, 1)))
}

// Persons is the number of values with which no round that compares the quantile with an empty part
// of the axis turns the wrong way, with probability 95 %: the margin of such a round is a share
// min(num, den−num)/den of the values, and the noise is beyond it on one side.
func (b Bisection) Persons() int64 {
	margin := float64(min(b.num, b.den-b.num)) / float64(b.den)
	z := math.Sqrt2 * math.Erfcinv(2*0.05/float64(max(b.axis.rounds, 1)))
	return int64(math.Ceil(b.Sigma() * z / margin))
}

// Step describes the search.
func (b Bisection) Step(name string) estimator.Step {
	return estimator.Step{
		Name: name, Mechanism: estimator.DiscreteGaussian, Use: "bisection", Sensitivity: fmt.Sprintf("l2=%d", b.delta),
		Queries: b.axis.rounds, Rho: b.rho,
	}
}

// Search returns a value at the quantile. cells holds the cell of each value; it is reordered.
func (b Bisection) Search(n noise.Noiser, cells []uint32) int64 {
	v, _ := b.Ranks(n, cells)
	return v
}

// Ranks is Search, which also returns the noisy ranks that it went by, at most Rounds. Each is paid
// for as a number, of which Search uses the sign alone. Rank.At is in the units of the axis: the
// upper end of the cells that the round asked about, or the lower end of those beyond.
func (b Bisection) Ranks(n noise.Noiser, cells []uint32) (int64, []estimator.Rank) {
	total, sigma := int64(len(cells)), Root(b.sigma2.Big())
	ranks := make([]estimator.Rank, 0, b.axis.rounds)
	lo, hi, below := uint32(0), uint32(b.axis.cells-1), int64(0)
	for lo < hi {
		mid := lo + (hi-lo)/2
		k := partition(cells, mid)
		noisy := n.GaussianInt(b.den*(below+int64(k))-b.num*total, b.sigma2)
		rank := estimator.Rank{Z: float64(noisy) / sigma}
		if noisy < 0 {
			rank.At, _ = b.axis.Ends(mid + 1)
			lo, below, cells = mid+1, below+int64(k), cells[k:]
		} else {
			_, rank.At = b.axis.Ends(mid)
			hi, cells = mid, cells[:k]
		}
		ranks = append(ranks, rank)
	}
	return b.axis.Value(lo), ranks
}

// partition moves the entries that are at most mid to the front and returns their number. Which way
// an entry goes cannot be foretold, so nothing branches on it.
func partition(cells []uint32, mid uint32) int {
	i := 0
	for j, x := range cells {
		cells[j] = cells[i]
		cells[i] = x
		below := 0
		if x <= mid {
			below = 1
		}
		i += below
	}
	return i
}
