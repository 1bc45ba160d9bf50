package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// medians searches the medians of all coordinates of a block, of the values or of the distances
// from a centre. delta is the most by which one person moves the centred rank 2·#{x ≤ t} − #x of a
// coordinate:
//
//	add-remove       1: one value comes or goes
//	replace-one, or  2: one value is exchanged
//	matched groups
type medians struct {
	search Search
	delta  int64
}

func newMedians(p Params, groups bool) medians {
	m := medians{p.Search, p.Relation.Factor()}
	if groups {
		m.delta = 2
	}
	return m
}

// cells releases the cell of each coordinate's median at loss rho.
//
// Bisect ([HLY21] Algorithm 1 for every coordinate): each of T rounds asks every coordinate for
// 2·#{x ≤ mid} − n with noise σ² = ⌈T·d·delta²/(2ρ)⌉, so at most T·d answers of sensitivity delta;
// n enters only inside them. Exponential: the exponential mechanism at ρ/d a coordinate.
func (m medians) cells(n noise.Noiser, b *estimator.Block, axis block.Axis, centre []int64, rho float64) []uint32 {
	if m.search == Exponential {
		share := rho / float64(b.Dim) * (1 - 1e-12)
		return exponential.NewQuantile(1, 2, 1, share, m.relation()).Search(n, b, axis, centre)
	}
	sigma2 := scalar.SmallSigma2(m.delta, int64(b.Dim)*int64(max(1, axis.Rounds())), rho)
	persons := b.Persons()
	return block.Bisect(b, axis, centre, func(_ int, atMost int64) bool {
		return n.GaussianInt(2*atMost-persons, sigma2) < 0
	})
}

// relation is the one whose sensitivity is delta.
func (m medians) relation() estimator.Relation {
	if m.delta == 2 {
		return estimator.ReplaceOne
	}
	return estimator.AddRemove
}

// slack is the total-variation slack of one search of all coordinates.
func (m medians) slack(dim int) float64 {
	if m.search == Exponential {
		return float64(dim) * exponential.Slack
	}
	return 0
}

// rank is the standard deviation of the ranks at loss rho, in persons.
func (m medians) rank(dim, rounds int, rho float64) float64 {
	if m.search == Exponential { // density e^{−λ|rank|}, λ = √(2ρ/d)·2/delta
		return float64(m.delta) * math.Sqrt(float64(dim)/(4*rho))
	}
	return float64(m.delta) / 2 * math.Sqrt(float64(rounds)*float64(dim)/(2*rho))
}

// persons is the number of persons with which, at loss rho, no comparison with an empty part of an
// axis goes wrong in any of the coordinates, with probability 99 %: the margin there is half the
// persons.
func (m medians) persons(dim, rounds int, rho float64) float64 {
	all := float64(rounds) * float64(dim)
	if m.search == Exponential { // the gaps at most N·e^{−λ·n/2} times as heavy as the values
		lambda := 2 * math.Sqrt(2*rho/float64(dim)) / float64(m.delta)
		return 2 / lambda * (float64(rounds)*math.Ln2 + math.Log(float64(dim)/wrongTurn))
	}
	return 2 * m.rank(dim, rounds, rho) * math.Sqrt2 * math.Erfcinv(2*wrongTurn/all)
}

// wrongTurn bounds the probability that a search goes wrong for want of persons. The bound is a
// union over all comparisons; in fact a few in a thousand do where the number of persons is just
// enough.
const wrongTurn = 0.01

// share is the least share of a loss rho with which persons() is at most count.
func (m medians) share(dim, rounds int, rho, count float64) float64 {
	x := m.persons(dim, rounds, rho) / count // persons falls with the square root of the loss
	return x * x
}
