// Package count holds the private counts: of persons and of rows.
//
// Both neighbour relations are covered: a count of persons moves by one under either, and each
// estimator says what else changes. All have a pure form (estimator.Params.Epsilon), with Laplace
// noise.
package count
