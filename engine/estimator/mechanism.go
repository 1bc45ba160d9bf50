package estimator

import (
	"context"
	"strings"
)

// Mechanism says what draws the noise of a step. The account composes the steps of all statements
// by it (Events). The zero value stands for every mechanism that is not listed: a release with such
// a step is one event of its whole loss.
type Mechanism uint8

// Mechanisms.
const (
	Unlisted Mechanism = iota
	DiscreteGaussian
	DiscreteLaplace
	Exponential
	Public // a public number, without noise
)

var mechanismWords = [...]string{"", "discrete-gaussian", "discrete-laplace", "exponential", "public"}

// String returns the word that EXPLAIN shows; "" of what is not listed.
func (m Mechanism) String() string {
	if int(m) < len(mechanismWords) {
		return mechanismWords[m]
	}
	return ""
}

// Drawn describes what the step draws, for EXPLAIN: the mechanism and its use.
func (s Step) Drawn() string { return strings.TrimSpace(s.Mechanism.String() + " " + s.Use) }

// Relation says which databases are neighbours. The loss of a mechanism holds for the relation that
// it was built for.
type Relation uint8

// Neighbour relations.
const (
	AddRemove  Relation = iota // one person more or less, with all rows
	ReplaceOne                 // one person's rows exchanged for any others
)

// String returns the name that policies use.
func (r Relation) String() string {
	if r == ReplaceOne {
		return "replace-one"
	}
	return "add-remove"
}

// Factor is the most by which one person moves a sum of vectors of norm at most C, in units of C: 1
// or 2.
func (r Relation) Factor() int64 {
	if r == ReplaceOne {
		return 2
	}
	return 1
}

// Pairs holds what belongs to two at once: persons of two entities, two persons of one, or a person
// and a value. Entry i says that Weights[i] belongs to Left[i] and Right[i] together. A pair may
// come more than once: its weights add up. The order of the entries, and the numbers by which
// persons go, mean nothing. Estimators write nothing in it.
type Pairs struct {
	// how many there are of each, together below 2^31: Left[i] < Lefts, Right[i] < Rights
	Lefts, Rights int
	Left, Right   []uint32 // of equal length
	Weights       []int64  // within ±MaxUnits; nil: 1 each
	Counts        []int64  // numbers of results, where Weights are sums that a mean is made of
	Memory        Memory   // for what is made of them; nil: the Go heap
	// Context ends work that takes long: a release panics with its error then, as where Memory has
	// no room. nil: nothing ends it.
	Context context.Context
}
