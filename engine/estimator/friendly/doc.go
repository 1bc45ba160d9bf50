// Package friendly estimates means of vectors from fewer persons than a private centre needs:
// persons who are near to too few others are left out [TCK22], the rest are averaged, and the noise
// has the shape of the coordinates' spreads [DJY24].
//
//	persons.go                 number of persons, or a secret sample of them
//	declared.go, learn.go      weights and the distance of friends, from declared spreads or from matched pairs
//	metric.go, friends.go      who is whose friend, in all pairs
//	core.go                    Core: who is kept, how many at least, and how far one person moves their mean
//	average.go                 that mean, with noise
//	mean.go                    the estimator, NewMean
//
// The loss has slack: what runs is within a total-variation distance of a ρ-zCDP mechanism, on each
// of two neighbours (privacy.Loss.DeltaTV). The proof for both neighbour relations is
// docs/proofs/friendly.md; how the method was chosen, docs/decisions/anisotropic.md. Floats decide
// who is a friend and who is not, as a symmetric function of two persons, and nothing else across
// persons: counts and sums are whole numbers.
package friendly
