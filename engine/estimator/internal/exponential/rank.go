package exponential

import "math"

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
