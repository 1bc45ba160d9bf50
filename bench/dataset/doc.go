// Package dataset makes the named data sets on which estimators are compared: the synthetic
// distributions of the papers' experiments, with their parameters, and readers for public files
// that are not shipped.
//
//	name      KIND or KIND:key=value,…            gaussian-b:alpha=1,n=10000
//	Set       public facts: size, dimension, grid, range, what a user might declare
//	Sample    one draw: a block as the estimators take it, with its own mean and, where known, the truth
//
// A sample depends on the set's name and the seed alone, so methods can be compared on the same
// samples. Nothing here is private or reachable from the server.
package dataset
