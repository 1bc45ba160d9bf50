// Package synthetic measures how near synthetic tables are to what they are made of.
//
//	Adult   the columns of testdata's adult, numbers in bins, as codes
//	Run     the error of all tables of two and of three columns: of the mechanism, and of what is
//	        simpler at the same loss
//
// The error is that of the workload as papers have it: ‖exact − made‖₁ over the number of persons,
// on average over the tables. It is between 0 and 2.
package synthetic
