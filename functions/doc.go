// Package functions is the table of aggregate functions: the DP functions, the plain SQL aggregates
// that are rewritten to private forms, and the ones that have no private form. Registration with
// go-mysql-server, dp.functions and the README's reference are made from it.
//
// A Call is one use of a function with its options and constants checked; Call.Estimator picks the
// mechanism from public facts. The neighbour relation is add-remove.
package functions
