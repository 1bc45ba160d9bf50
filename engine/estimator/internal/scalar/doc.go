// Package scalar holds the steps that the scalar estimators are put together from: the split of a
// loss, 128-bit sums, the noisy number of persons, a search for a clipping radius, bisection for a
// quantile, and the joint clip of a small vector.
//
// Units: data are int64 numbers of grid steps (or of a public fraction of a step). Floats are used
// only inside one person and on released numbers: sums across persons are integers, and so is the
// noise.
//
// Every step holds its loss under the neighbour relation that it is made for, add-remove or
// replace-one. Under replace-one the person exchanged may be in the group on one side only: its
// number of persons is private unless Params.Sized says otherwise, and each sensitivity stated
// covers that case.
//
// Steps that are made from estimator.Params are pure where these ask for it: ε in the place of ρ,
// Laplace noise in the place of Gaussian noise. Sensitivities then enter in the ℓ1 norm, and a
// share of ε is a share of a sum as one of ρ is.
//
// Room: a per-person integer is at most 2^62 in absolute value, a group has at most 2^40 entries,
// so a sum stays below 2^102 of the 2^127 that an accumulator holds.
package scalar
