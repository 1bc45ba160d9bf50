// Package covariance holds private statistics of two numbers together: correlation, covariance, and
// the least-squares line of the first on the second.
//
// All of one call come from one release of the persons' moments (covariance.go): a person gives one
// vector (covariance.go), and the statistics are functions of the noisy sums (statistic.go).
//
// The estimator states its sensitivities for both neighbour relations: one person more or less,
// with all rows, and one person's rows exchanged, where the number of persons is public
// (Params.Sized) or private.
package covariance
