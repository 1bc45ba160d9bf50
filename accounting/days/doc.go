// Package days is stretches of days of the data, which charges are for where the unit of a table is
// one person's rows of one period. It knows nothing of losses.
package days
