// Package quantile holds private quantiles of one scalar.
//
// Both neighbour relations are covered: one person more or less, with all rows, and one person's
// rows exchanged. A pure release (Params.Epsilon) chooses by the exponential mechanism, without
// slack.
package quantile
