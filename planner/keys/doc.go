// Package keys finds what a GROUP BY over rows of persons groups by.
//
// In go the grouping expressions of a relation. Out comes a Grouping: for each key its image, a
// finite set of public values that has that of every row, or none where the key has to be selected
// privately; which combinations of public keys are feasible under the conditions of the query; and
// the SQL that maps a row to the number of its value.
//
//	facts.go     what the query says of all rows: equal columns, conditions, what is not NULL
//	ranges.go    the values and the ends of a column, by its domain, its type and the conditions
//	space.go     the variables that an expression is made of, and the expression over them
//	  tables.go    rows of public tables
//	  cells.go     ranges, cut so that the expression has one value in each cell
//	  atoms.go     parts of a moment, tests
//	  ranges.go    rounded numbers
//	  feasible.go  what conditions list
//	variable.go  expressions on all combinations of variables, evaluated by the store
//	grouping.go, feasible.go  the keys, and which combinations there may be
//	tuples.go    the values that columns of the rows around a subquery have together
//
// Images follow from definitions of tables, declared domains, the rows of public tables and the
// text of the query, and from nothing else: no row of a protected table is read. So two
// neighbouring databases have the same keys, and each row is in one group at most, as the mapping
// makes the values distinct in the store's own sense. What an image has too much is an empty group;
// a value that it should have and has not is a group that is not answered. Neither is a loss of
// privacy.
package keys
