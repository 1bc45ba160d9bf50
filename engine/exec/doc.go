// Package exec runs the releases of a private statement: it looks for stored answers, makes the
// charge durable, opens one snapshot of the store, scans, hands each group's block of numbers to
// the estimator core, and stores the answer.
//
// The order is the guarantee. For one execution of a statement:
//
//	versions ─▶ stored answers ─▶ Reserve (durable) ─▶ snapshot ─▶ scans ─▶ noise ─▶ store answer ─▶ rows
//	            all there? stop     refused? stop       │
//	                                                    └─ from here on any failure is the one fixed
//	                                                       error, and the charge stands
//
// The first DPAggregate node that asks for rows runs every release of the statement, so that all
// scans read one snapshot and a statement is charged once, whatever GMS does with its nodes: a CTE
// or subquery that is iterated twice gets the same rows twice. No row of a protected table is read
// before Reserve has returned; reading versions reads no rows.
package exec
