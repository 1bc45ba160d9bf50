// Package views makes DP views: tables of noisy counts and sums by cell of public dimensions, which
// are released once, for one charge, and are public afterwards.
//
//	CALL dp_create_view  ─▶ options, names           options.go, views.go
//	                     ─▶ the definition, planned  define.go      a release of package planner, of all cells
//	                     ─▶ charge, scan, cube       engine/exec    as of any private statement
//	                     ─▶ table and record         views.go       one transaction of the store
//	                     ─▶ public                   catalog
//
// Synthetic tables are of the same kind: records, tables and charges are the same, and what is
// released is rows.
//
//	CALL dp_synthesize   ─▶ columns as codes        coded.go       CASE over public values or bins
//	                     ─▶ charge, scan, rounds    engine/exec    one vector of codes a person
//	                     ─▶ rows in values          synthesize.go
//
// A view is never there without its charge: the charge is durable before anything is read, and the
// table is made of what was released. Where the server ends in between, the answer is kept, and the
// same call makes the view of it without a second charge, as long as the data are the same.
//
// A series of running totals (Totals) is charged when it is made, and reads nothing then. Its days
// are released later, each once:
//
//	CALL dp_continual  ─▶ options, definition    series.go
//	                   ─▶ charge for all days    engine/exec, charges.go
//	CALL dp_continue   ─▶ is the ledger's last release the store's?   series_release.go
//	                   ─▶ what persons add, within their bounds       series_persons.go
//	                   ─▶ kept, noted, shown                          series_release.go
//
// docs/proofs/continual.md has the argument.
//
// Statements over the tables of a view are answered from it where its cells tell the answer: Of
// tells the planner of the views (package planner/cells). Suggest proposes one by what was charged.
//
// Everything in a record is public: the definition, what was released, and what it cost.
package views
