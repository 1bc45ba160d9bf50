// Package mean holds the private sum, the mean of persons and the mean of rows of one scalar.
//
// Each estimator states its sensitivities for both neighbour relations: one person more or less,
// with all rows, and one person's rows exchanged, where the number of persons is public
// (Params.Sized) or private.
//
// All have a pure form (Params.Epsilon): ε in the place of ρ, Laplace noise in the place of
// Gaussian noise, ℓ1 norms in the place of ℓ2 norms, and the exponential mechanism in the place of
// a bisection.
package mean
