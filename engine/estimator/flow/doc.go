// Package flow counts and sums what belongs to two persons at once: results of joins of two
// protected tables, of a table with itself, and distinct values that many may hold.
//
//	in    pairs of persons with a weight each, as GROUP BY unit_1, unit_2 has them
//	out   Q(τ) with noise for a cap τ: the most weight that can be kept with τ or less for each person
//
// No person can be left out one after the other here: what a person may keep depends on whom they
// share it with. Q(τ) is a largest flow, and taking a person out lowers it by at most τ, whoever
// else is there (docs/proofs/flow.md).
//
//	network.go   the flow, for ascending caps
//	flow.go      the estimator; Q by shape: two entities, one entity twice, values, one entity
//	choice.go    the public caps, the private choice of one, and what is beyond it
//	mean.go      means, of two of them
//
// # Loss
//
// The loss is that of a person of any one entity, and each entity is charged the whole of it:
// persons of different entities are different persons. Where they may be the same humans, who lose
// (√ρ₁ + √ρ₂)², the caller refuses, or knows that they are not. An estimator for replace-one serves
// entities of either relation: a removal is an exchange for somebody without results.
//
// Each group has a release of its own; what a person is in is divided beforehand. A mean is two
// releases, each with a flow of its own: no sum may be read off the flow of a number.
//
// # Time
//
// How long a flow takes follows from the pairs, as a scan's time does; caps whose weight in the
// choice cannot matter are not computed. Nothing else depends on their number: there is no limit on
// it, and what is made of them lies in estimator.Memory.
package flow
