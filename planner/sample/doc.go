// Package sample plans the values that a simulated collection is run over: one value of each person
// of one protected table, of which an execution uses a fixed number.
package sample
