// Package variance holds the private variance and standard deviation of one scalar, over persons
// and over rows.
//
// The neighbour relation is add-remove: one person more or less, with all rows.
package variance
