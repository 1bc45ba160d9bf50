// Package keys finds what a GROUP BY over rows of persons groups by.
//
// In go the grouping expressions of a relation. Out comes a Grouping: for each key its image, the
// finite set of values that it takes on the public domains of its base columns, or none where the
// key has to be selected privately; which combinations of public keys are feasible under the
// conditions of the query; and the SQL that maps a row to the number of its value. All of it
// follows from domains and the text of the query: no row is read.
package keys
