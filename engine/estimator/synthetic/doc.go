// Package synthetic makes rows that stand for persons: a table of as many rows as there are
// persons, about, in which the counts by few columns are near the true ones, for one loss.
//
//	columns    each column's counts, with noise; first rows, of independent columns
//	rounds     choose    the table in which the rows are far off (exponential mechanism)
//	           measure   its counts, with Gaussian noise
//	           fit       change rows towards all that was measured
//	           anneal    where that told little, halve the noise of the next round
//	report     how far the rows are off in the table of each pair of columns, with noise
//
// This is AIM [MMSM22] with another estimate in the place of its graphical model. The rows are
// moved towards the least squares of all noisy tables, each weighed by its precision: the problem
// that GReM-LNN [MFXKMS24] solves by residuals, among tables of whole persons. So every table of
// the rows has no count under 0 and agrees with every other one, and rows are all that is kept.
//
//	New(params)   candidates, sizes: public facts alone; refuses what is too large
//	Release       one estimate, which ResultOf reads
//
// Invariants: data are read through measured, choose and answer alone, each of which takes its
// share from what is left of the loss before. docs/proofs/synthetic.md has the argument.
package synthetic
