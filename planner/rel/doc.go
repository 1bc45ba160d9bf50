// Package rel is the one algebra of relations over rows of the store, and their one writer as SQL.
//
// In go bound trees, table by table with their policies. Out comes a Relation: one generated SELECT
// in the making, whose columns are expressions over its FROM item. A private relation names the
// person of each row, its unit, through every filter, join, projection, union and derived table;
// what would mix the rows of persons is refused.
//
//	Writer      the values and aliases of one scan, and the definitions of the tables it reads
//	Relation    FROM, WHERE, columns, units, base columns with public domains
//
// A relation is used by whoever aggregates it: a release of package planner, or a public query that
// is pushed down. It knows neither losses nor parameters.
package rel
