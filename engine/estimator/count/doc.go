// Package count holds the private counts: of persons and of rows.
//
// The neighbour relation is add-remove: one person more or less, with all rows.
package count
