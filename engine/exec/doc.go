// Package exec runs the releases of a private statement: it looks for stored answers, makes the
// charge durable, opens one snapshot of the store, scans, hands each group's block of numbers to
// the estimator core, and stores the answer.
//
// The order is the guarantee. For one execution of a statement:
//
//	versions ─▶ stored answers ─▶ Room ─▶ Reserve (durable) ─▶ snapshot ─▶ keys ─▶ scans ─▶ noise ─▶ store answer ─▶ rows
//	            all there? stop   no? stop  refused? stop      │
//	                                                           ├─ short of memory or disk: once more from here, alone, with the same noise
//	                                                           └─ from here on any failure is the one fixed
//	                                                              error, and the charge stands
//
// The first DPAggregate node that asks for rows runs every release of the statement, so that all
// scans read one snapshot and a statement is charged once, whatever GMS does with its nodes: a CTE
// or subquery that is iterated twice gets the same rows twice. No row of a protected table is read
// before Reserve has returned; reading versions reads no rows, and Room looks at the disk only.
//
// # No limit acts on private sizes
//
// How many persons, rows and distinct keys there are is private, and whether a statement ends well
// is seen. So no failure of this package after the charge follows from them, but for a full disk
// and 2^31 persons in a group or texts that name persons. Within which bounds the store's scans
// keep to that is in package duckdb.
//
//   - What grows with persons lies in an area of package spill, one a release, which goes on on
//     disk. Every slice with an element for each person, row or key comes from room, take or grown,
//     and every estimator gets the area as its memory.
//   - What fails for want of memory or disk (store.Crowded) is done once more, with the store to
//     itself (onSnapshot): in the same state, with the same noise and the answers that are
//     complete, for the same charge. So what is seen does not follow from whether it failed.
//   - Private keys stay in the store (selection.go): the first scan's rows become a temporary
//     table, the store counts the persons of each key, the noise decides on one after the other,
//     and the selected ones with their numbers become a table that every scan is joined with.
//
// Limits act on public sizes before the charge (package planner) and on released ones after it: the
// number of selected keys, and the size of the answer in them (Limit). Progress is told in steps of
// the plan, whose names and number are public.
//
// # Replays
//
// An answer is kept by a digest of the principal, the release's canonical plan and the versions of
// its tables, and found by it across restarts (replay.go). What is asked several times at once is
// charged once (replay.go). What the ledger keeps of a statement is its redacted text.
// docs/decisions/replays.md has the reasons.
//
// # From rows to blocks
//
// Each scan is taken in chunk by chunk, while the store computes the next one. What scalar
// aggregates read becomes columns, ordered by group in the end; what aggregates of vectors read
// becomes one block a group as the rows arrive:
//
//	arrays        onto the grid, appended or added to the sums of the row's person     dense
//	coordinates   columns of sums, transposed                                          dense
//	pairs         sorted by person and coordinate, each kept once                      sparse
//
// A block holds each person's rows added up by a function that does not depend on the order of
// rows, whatever order the store returns them in; the order of the persons in it is that of arrival
// and means nothing. What aggregates of all groups at once read is kept as packed records, dealt
// out by a hash of the person, added up where they grow many, and becomes one sparse vector a
// person (grouped.go, gather.go). What scalar aggregates read of rows is kept in the same
// way, added up by (group, person), and becomes packed columns of each group, which are unpacked
// while its estimators read them (totals.go).
package exec
