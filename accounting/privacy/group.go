package privacy

import "math/bits"

// SamplerSlack is more than the DeltaTV of one statement whose only slack is that of samplers: 2^22
// draws of 2^-100.
const SamplerSlack = 0x1p-78

// LeastFailure is the least DeltaTV of a method that may fail for a pair of neighbours: more than
// SamplerSlack, by which OfUnits tells it from samplers. Such methods take no smaller one.
const LeastFailure = 1e-20

// NoBound is the loss of a release that promises nothing. No budget has room for it.
func NoBound() Loss { return Loss{Rho: MaxRho, DeltaEvent: 1} }

// OfUnits returns the loss of a release for neighbours that differ in at most n units, n >= 1,
// where l is its loss for those that differ in one:
//
//	ρ·n², and ε·n where it is pure     group privacy [BS16, Proposition 1.9], n steps from neighbour to neighbour
//
// Each input's output is within the slack of samplers of that of the ideal mechanism, whatever the
// neighbour, so that it stays as it is. Of other slack, which holds for a pair of neighbours, no
// group has a bound of use, nor has a loss of more than MaxRho: these are NoBound. It panics on
// n < 1. Proof note: docs/proofs/periods.md.
func (l Loss) OfUnits(n int64) Loss {
	if n < 1 {
		panic("privacy: a group of no units")
	}
	if n == 1 || l == (Loss{}) {
		return l
	}
	rho, ok1 := product(uint64(l.Rho), uint64(n), uint64(MaxRho))
	rho, ok2 := product(rho, uint64(n), uint64(MaxRho))
	pure, ok3 := product(uint64(l.Pure), uint64(n), uint64(MaxPure))
	if !ok1 || !ok2 || !ok3 || l.DeltaEvent > 0 || l.DeltaTV > SamplerSlack {
		return NoBound()
	}
	return Loss{Rho: Rho(rho), DeltaTV: l.DeltaTV, Pure: Pure(pure)}
}

// product returns x·n, false where that is above most.
func product(x, n, most uint64) (uint64, bool) {
	hi, lo := bits.Mul64(x, n)
	return lo, hi == 0 && lo <= most
}
