// Package lower translates bound MySQL expressions into SQL for the store, DuckDB, with MySQL's
// meaning and total on every row.
//
// The input is an expression tree of go-mysql-server after name resolution and before
// optimisation. The output is one fragment of generated SQL. Three rules hold for every fragment:
//
//  1. No row can make it raise. What MySQL would report as an error or a warning (overflow,
//     division by zero, a bad date, a domain error) is NULL.
//  2. A fragment of kind Double is never NaN or infinite: those are NULL.
//  3. Text that comes from a client is only ever a bound value, never part of the SQL.
//
// Guards are CASE and TRY_CAST, never TRY: the store hoists a subexpression that occurs twice out
// of a TRY and then raises; it hoists nothing out of the branch of a CASE. A fragment does not
// rely on a filter beside it, for the store may evaluate conjuncts in any order. TRY_CAST raises,
// too, between some types of moments.
//
// A CASE does not guard everything. Where the values of a column come as a dictionary, from
// Parquet files and of texts, the store evaluates a function of that column and constants on the
// whole dictionary, on the values of other rows, too, unless it knows that the function may raise.
// Of some it does not know, and a CASE that takes one branch on all rows of a vector hands the
// dictionary on. So what is too long for substring, or makes lpad, repeat and replace exhaust the
// memory, is clamped by functions, which have no such values in their results.
//
// testdata/raises lists every function, operator, cast and aggregate that statements over protected
// rows call, the types on which the linked store raises, and how that is guarded. TestRaises holds
// the list against the store, over hostile values of all types, and TestTotal and the planner's
// TestScansAreTotal hold what is written against the list. For another version of the store,
// go test -run TestRaises -rewrite shows what has changed, and asks for a guard of what raises now.
//
// Only what the tables of this package list is translated. Everything else, also what is not
// deterministic, has a side effect or can stall, is refused by name with refuse.Expression.
// Subexpressions that are constants of the statement, such as NOW() or @@time_zone, are evaluated
// when the statement is planned and bound as values.
package lower
