// Package partition selects group keys privately.
//
// Both neighbour relations are covered: one person more or less, with all rows, and one person's
// rows exchanged.
package partition
