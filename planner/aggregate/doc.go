// Package aggregate binds the aggregates of a GROUP BY over rows of persons, one by one.
//
// In goes a relation and an aggregate as written. Out comes an Aggregate before its share of the
// loss is known: the function with its options, the argument with its grid and bounds, the columns
// that it reads of a scan, the SQL type of its answer and of its error bars, the error that it is
// asked to have. One aggregate may stand for several: for columns that are answered as one vector,
// and for those that are answered in all groups at once.
package aggregate
