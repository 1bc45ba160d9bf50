// Package price tells what a statement would cost and how exact its answer would be, without
// running it and without charging anything.
package price
