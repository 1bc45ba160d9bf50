package estimator

import (
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
