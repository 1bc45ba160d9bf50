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
//
// # Replays
//
// An answer is kept by a digest of the principal, the release's canonical plan and the versions of its tables, and found by it across restarts (replay.go).
// What is asked several times at once is charged once (flight.go). What the ledger keeps of a statement is its redacted text.
// docs/replays.md has the reasons.
//
// # From rows to blocks
//
// Each scan is taken in chunk by chunk, while the store computes the next one. What scalar aggregates read
// becomes columns, ordered by group in the end; what aggregates of vectors read becomes one block a group as the
// rows arrive:
//
//	arrays        onto the grid, appended or added to the sums of the row's person     dense
//	coordinates   columns of sums, transposed                                          dense
//	pairs         sorted by person and coordinate, each kept once                      sparse
//
// A block holds each person's rows added up by a function that does not depend on the order of rows, whatever
// order the store returns them in; the order of the persons in it is that of arrival and means nothing. All memory
// is taken from one bound for each release.
package exec
