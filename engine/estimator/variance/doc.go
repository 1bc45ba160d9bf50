// Package variance holds the private variance and standard deviation of one scalar, over persons
// and over rows.
//
// Each estimator states its sensitivities for both neighbour relations: one person more or less,
// with all rows, and one person's rows exchanged, where the number of persons is public
// (Params.Sized) or private.
package variance
