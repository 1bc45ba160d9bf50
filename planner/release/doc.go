// Package release builds the aggregations of one statement: one GROUP BY over rows of persons each,
// before its loss is known.
//
// In go a relation with its grouping and its aggregates. Out comes an Aggregation: how many groups
// a person may be in, whether groups and columns are answered as one vector, the neighbour relation
// that its estimators run under, the scans of one row a (group, person) or one row a row, and the
// key under which its answer is kept. All of it follows from public facts.
package release
