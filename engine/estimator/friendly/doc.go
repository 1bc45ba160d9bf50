// Package friendly estimates means of vectors from fewer persons than a private centre needs:
// persons who are near to too few others are left out [TCK22], the rest are averaged, and the noise
// has the shape of the coordinates' spreads [DJY24].
//
//	mean.go     the estimator, NewMean: number of persons, or a secret sample of them
//	learn.go    weights and the distance of friends, from matched pairs; mean.go has declared ones
//	metric.go   the distance of two persons, and the mean of those who are kept, with noise
//	core.go     who is whose friend, in all pairs; who is kept, how far one moves the mean
//
// The loss has slack: what runs is within a total-variation distance of a ρ-zCDP mechanism, on each
// of two neighbours (privacy.Loss.DeltaTV). The proof for both neighbour relations is
// docs/proofs/friendly.md; how the method was chosen, docs/decisions/anisotropic.md. Floats decide
// who is a friend and who is not, as a symmetric function of two persons, and nothing else across
// persons: counts and sums are whole numbers.
package friendly
