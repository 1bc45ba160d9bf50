// Package reconcile makes released totals agree with the released numbers that they sum up, by
// weighted least squares: post-processing of released numbers, with the sizes of their noise.
//
// In go the nodes of a forest, each a released number with its error. Out come numbers that add up:
// each total is the sum of the nodes under it, to the last digit that is shown, where all of them
// are there and the difference is what noise and clips explain. Source of the two passes: [HRMS10],
// for noise of one size; docs/proofs/totals.md has that of any sizes, and what holds of intervals.
package reconcile
