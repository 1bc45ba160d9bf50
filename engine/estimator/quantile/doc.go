// Package quantile holds private quantiles of one scalar.
//
// Both neighbour relations are covered: one person more or less, with all rows, and one person's rows exchanged.
package quantile
