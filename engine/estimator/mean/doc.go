// Package mean holds the private sum, the mean of persons and the mean of rows of one scalar.
//
// The neighbour relation is add-remove: one person more or less, with all rows.
package mean
