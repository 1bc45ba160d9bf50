// Package view releases what a view holds: counts and sums by cell of several dimensions, with all
// their roll-ups, for one loss.
//
//	lengths   of each measure: a noisy histogram of what persons' vectors cost, in rows of one cell
//	clip      the length that vectors are shortened to, by laws of lengths (package clipping)
//	cube      residuals of all marginals of the shortened vectors (package cube)
//	fit       where nothing can be under 0, the nearest tables without a cell under 0
//
// A measure is a number of rows or a sum over rows. Each has an even share of the loss. Every
// marginal is measured: those that are not asked for count next to nothing when the loss is
// divided, so that one table of all cells adds up to every roll-up, and standard errors are known
// of all sums of cells.
//
// docs/proofs/cubes.md has the argument for one person's loss.
package view
