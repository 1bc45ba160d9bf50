// Package estimates answers the functions over collections in SQL:
//
//	SELECT stratum, LDP_MEAN(report), LDP_LOW(report, 0.99) FROM survey.commute GROUP BY stratum
//
// A rule of the analyzer finds the GROUP BY that holds such functions (functions.Reported), and
// puts a leaf in its place which answers from the estimate of each stratum. What stands above,
// HAVING, ORDER BY, joins and arithmetic, works on the answer:
//
//	Project ─ GroupBy(LDP_MEAN(report)) ─ Filter(stratum = 'x') ─ Table     as bound
//	Project ─ Estimates(LDP_MEAN(report))                                   as run
//
// An estimate is made from all reports of the last round of a stratum, because the decoders count
// on the whole design. So below the GROUP BY there is one collection's table, under other names if
// need be, with conditions on the stratum alone; everything else is refused
// (refuse.CollectionFilter).
//
// # Privacy
//
// The leaf reads one table of reports, which are private already, and public parameters: what it
// answers is post-processing and costs no budget. It has no expression that could hold a protected
// table: conditions are on the stratum, constants have no subquery. Protected tables elsewhere in
// the statement go through the planner as always, for which the leaf is a public table. Who asks
// needs SELECT on the collection, which the binder checks.
package estimates
