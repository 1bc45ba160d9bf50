// Package functions is the table of aggregate functions: the DP functions, the plain SQL aggregates
// that are rewritten to private forms, and the ones that have no private form. Registration with
// go-mysql-server, dp.functions and docs/reference.md are made from it.
//
// A Function is a row. Its Measure says what it estimates and all that the planner asks of it: the
// constructors of its estimators, and what it can do. The planner names no function and no measure.
// A row that lacks something stops the process when it starts, and nothing changes the table later.
//
// A Call is one use of a function with its options and constants checked. Call.Estimator picks the
// mechanism from public facts, which name the neighbour relation. Sums, means and variances take
// vectors, too: Call.Vector says so and checks the options against the method.
//
// Error bars (BarFunction) tell of the error of an aggregate's answer, in the place of the answer
// and at no cost.
//
// Scalar functions make vectors of rows (DP_VECTOR, DP_ONEHOT) and take answers apart (DP_VALUE).
package functions
