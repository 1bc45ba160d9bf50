// Package everyday asks a real server everyday questions over its own wire, about public data sets
// and generated tables whose exact answers are known, and judges the answers.
//
//	Table      rows with persons, made by a generator or read from a file, and their policy
//	Statement  a SELECT as an analyst writes it, in parts, so that the exact answer can be asked too
//	truth      each person's counts and sums by group, from which the exact answers follow
//	Cell       one aggregate of a statement at one ε under one neighbour relation, over all runs
//	Report     cells as Markdown, JSON, text and plots
//
// A cell has the error beside that of the best clip in hindsight, the coverage of DP_LOW and
// DP_HIGH, and how many answers were wild, silent or NULL; cell.go says what these words mean. Each
// run asks for a slightly different ε, so that none is a replay of a stored answer. Rows come from
// fixed seeds; noise is the server's own, so figures differ a little from run to run.
package everyday
