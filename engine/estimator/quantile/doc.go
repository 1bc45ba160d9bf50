// Package quantile holds private quantiles of one scalar.
//
// The neighbour relation is add-remove: one person more or less, with all rows.
package quantile
