package friendly

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// persons is the number of persons, and the sample of those who are compared.
//
//	n̂ = n + N_Z(0, ⌈1/(2ρ_n)⌉), or n where it is public; n_u = n̂ + t with P[N_Z ≤ −t] ≤ δ_u: at least n but for δ_u
//
// Sensitivity 1 in either relation. Beyond most persons each is kept by a coin of their own, with a
// probability that follows from n̂. What is done with the sample has the loss that it has with all
// (firstpass.Coins). Their number is released anew, at a loss that goes to the mean where there is
// no sample; where n is public it is a function of the coins alone, and known.
type persons struct {
	public        bool
	first, second scalar.Persons
	rho           float64 // of the second
	slack         float64
	most          int64
	covered       bool
}

// newPersons returns the numbers at losses first and second, with slack for each in total
// variation.
func newPersons(p Params, first, second, slack float64) persons {
	out := persons{public: p.Sized, rho: second, slack: slack, most: mostPersons(p.Dim), covered: p.Relation == estimator.ReplaceOne}
	if !p.Sized {
		out.first, out.second = scalar.NewPersons(first), scalar.NewPersons(second)
	}
	return out
}

// Bounds on the work, all pairs of persons: 75 ns a pair, and 0.6 ns a coordinate where the head
// does not tell, on one core. That is 15 s of two cores at worst.
const (
	manyPersons = 20000
	manyTerms   = 1e11 // persons² · dimension
)

// mostPersons is the number of persons beyond which there is a sample.
func mostPersons(dim int) int64 {
	return int64(min(manyPersons, math.Sqrt(manyTerms/float64(dim))))
}

// sample is the persons who are compared.
type sample struct {
	*estimator.Block
	about  float64 // their number, released
	atMost int64   // n_u
	left   float64 // loss that was not needed
}

// release returns the persons to compare, or false where there are fewer than least.
func (p persons) release(n noise.Noiser, b *estimator.Block, least int64) (sample, bool) {
	about, above := p.count(n, b, p.first)
	if about < float64(least) {
		return sample{}, false
	}
	if about <= float64(p.most) {
		return sample{b, about, int64(about) + above, p.unused()}, true
	}
	b = p.coins(n, b, about)
	about, above = p.count(n, b, p.second)
	return sample{b, about, int64(about) + above, 0}, true
}

// count returns the number of persons and t. Where the number is public, the block has as many
// persons (package sized), or is a sample of them.
func (p persons) count(n noise.Noiser, b *estimator.Block, c scalar.Persons) (about float64, above int64) {
	if p.public {
		return float64(max(1, b.Persons())), 0
	}
	return c.Release(n, b.Persons()), tail(c.Sigma(), p.slack)
}

// above is t for the first number, and as much for its noise.
func (p persons) above() int64 {
	if p.public {
		return 0
	}
	return 2 * tail(p.first.Sigma(), p.slack)
}

// unused is the loss left where there is no sample. Under replace-one the second number is covered
// by other steps, and leaves none.
func (p persons) unused() float64 {
	if p.public || p.covered {
		return 0
	}
	return p.rho
}

// coins keeps about most of about so many persons.
func (p persons) coins(n noise.Noiser, b *estimator.Block, about float64) *estimator.Block {
	sides := uint64(float64(p.most) / about * firstpass.CoinSides)
	return block.Sample(b, firstpass.Toss(n, b.Memory, b.Persons()).Keep(b.Memory, sides))
}

// steps describes the numbers, and returns the loss of the second, which the mean gets where there
// is no sample.
func (p persons) steps() ([]estimator.Step, float64) {
	if p.public {
		return nil, 0
	}
	step := p.first.Step()
	if p.covered {
		step.Sensitivity, step.Rho = step.Sensitivity+" (covered by the other steps)", 0
	}
	return []estimator.Step{step}, p.unused()
}
