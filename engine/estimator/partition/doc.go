// Package partition selects group keys privately.
//
// The neighbour relation is add-remove: one person more or less, with all rows.
package partition
