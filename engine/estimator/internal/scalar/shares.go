package scalar

import (
	"math"

	"scrim/engine/estimator"
)

// Shares says how an estimator splits its loss ρ between the number of persons n̂ and the steps
// after it, in proportion to weights.
//
//	add-remove    n̂ and the steps: AddRemove, n̂ first; together ρ
//	replace-one   the steps: ReplaceOne; together ρ. n̂ is public, or private with ρ_n = Σ (1−Joining_k)·ρ_k besides
//
// Why n̂ costs nothing under replace-one: fix a pair of neighbours. For this pair, losses of steps
// that are asked one after the other add up ([BS16] Lemma 2.3 is about one pair). If the person
// exchanged is in the group on both sides, n is the same and n̂ costs 0, and the steps ρ_k each:
// together ρ. If the person is in the group on one side only, n differs by one, which costs ρ_n;
// but then step k moves by no more than one person who comes or goes moves it, less than an
// exchange does, and costs Joining_k·ρ_k: together ρ again.
//
// Pure: the same with ε for ρ. Sensitivities enter once and not squared, so a step has at most
// √Joining_k·ε_k for one person more or less.
type Shares struct {
	AddRemove  []float64
	ReplaceOne []float64
	Joining    []float64
}

// Squared ratios of the sensitivities of steps to one person more or less and to one exchanged, for
// Shares.Joining.
const (
	JoiningMedian    = 1. / 4 // centred rank of the median: 1 and 2
	JoiningHistogram = 1. / 2 // one bucket a person: 1 and √2
	JoiningBall      = 1. / 4 // a vector of norm C: C and 2C
	// a number of an interval that holds 0: its longer end, and its length
	JoiningInterval = 1.
)

// What an exchange costs a step that is calibrated for one person more or less: the inverse.
const (
	ExchangeMedian    = 1 / JoiningMedian
	ExchangeHistogram = 1 / JoiningHistogram
	ExchangeBall      = 1 / JoiningBall
)

// CoveredPersons returns the number of persons under replace-one, as Shares has it, of a release
// whose other steps have a loss of rho together, none of which costs more than the part joining of
// its loss where one person comes or goes. These cost joining·rho at most then, however many of
// them a release comes to and however rho is divided among them; n̂ has the rest of rho besides,
// and costs nothing where a person is exchanged.
func CoveredPersons(rho, joining float64) Persons {
	n := NewPersons(rho * (1 - joining) * (1 - 1e-12))
	n.covered = true
	return n
}

// Exchange is what an exchange costs in terms of the loss under add-remove, where it costs step k
// so much in terms of its own. The person is present on both sides, so n̂ costs nothing. For
// estimator.Exchanging.
func (s Shares) Exchange(steps ...float64) float64 {
	if len(steps) != len(s.AddRemove)-1 {
		panic("scalar: steps of another number")
	}
	all, cost := s.AddRemove[0], 0.0
	for k, x := range steps {
		all += s.AddRemove[k+1]
		cost += s.AddRemove[k+1] * x
	}
	return cost / all
}

// Of splits the loss of p. Entries counted by n̂ are at most per a person.
func (s Shares) Of(p estimator.Params, per int64) (Persons, []float64) {
	if p.Relation != estimator.ReplaceOne {
		parts := Split(p.Loss(), s.AddRemove...)
		return CountOf(p, parts[0], per), parts[1:]
	}
	parts := Split(p.Loss(), s.ReplaceOne...)
	if p.Sized {
		return Persons{per: per, public: true}, parts
	}
	spare := 0.0
	for k, join := range s.Joining {
		if p.Pure() {
			join = math.Sqrt(join)
		}
		spare += parts[k] * (1 - join)
	}
	n := CountOf(p, spare*(1-1e-12), per)
	n.covered = true
	return n, parts
}
