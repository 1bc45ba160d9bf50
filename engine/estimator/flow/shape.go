package flow

import "scrim/engine/estimator"

// Shape says whose the results are.
type Shape uint8

// Shapes.
const (
	// Two: persons of two entities. A cap holds for both.
	Two Shape = iota
	// Self: two persons of one entity, whose two orders are one pair, or one person twice.
	Self
	// Distinct: values, each counted once, whoever holds it. Left are persons, Right are values,
	// and weights are not read.
	Distinct
	// One: persons of one entity, Left. Right is not read.
	One
)

// String returns the name that EXPLAIN shows.
func (s Shape) String() string {
	return [...]string{"two entities", "self-join", "distinct values", "one entity"}[s]
}

// parts is by how much the flow of a shape's network is larger than Q: a pair of the same entity is
// in it twice, so that half a result is a whole number.
func (s Shape) parts() int64 {
	if s == Self {
		return 2
	}
	return 1
}

// change is an interval that a number moves within when a person comes.
type change struct{ down, up float64 }

// reach is the most that the number moves by under a relation, either way.
func (c change) reach(r estimator.Relation) float64 {
	if r == estimator.ReplaceOne {
		return c.up + c.down
	}
	return max(c.up, c.down)
}

// span is the length of an interval of all moves under a relation, for one pair of neighbours.
func (c change) span(r estimator.Relation) float64 {
	return (c.up + c.down) * float64(r.Factor())
}

// times is the change of a number as many times as large.
func (c change) times(f float64) change { return change{c.down * f, c.up * f} }

// excess is how (Q(2τ) − Q(τ))/τ changes when a person comes (docs/proofs/flow.md).
func (s Shape) excess() change {
	switch s {
	case One:
		return change{0, 1}
	case Distinct:
		return change{1, 1}
	}
	return change{1, 2}
}

// score is how the score of a cap changes when a person comes: the largest of the excesses up to
// 2τ, 4τ, … over the most that one person adds to it, but for Distinct and One, where the first is
// always the largest.
func (s Shape) score() change {
	switch s {
	case One, Distinct:
		return s.excess()
	}
	return change{0.5, 1}
}

// far reports whether the score of a cap looks farther than to its double.
func (s Shape) far() bool { return s == Two || s == Self }
