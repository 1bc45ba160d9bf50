// Package views makes DP views: tables of noisy counts and sums by cell of public dimensions, which
// are released once, for one charge, and are public afterwards.
//
//	CALL dp_create_view  ─▶ options, names           options.go, views.go
//	                     ─▶ the definition, planned  define.go      a release of package planner, of all cells
//	                     ─▶ charge, scan, cube       engine/exec    as of any private statement
//	                     ─▶ table and record         views.go       one transaction of the store
//	                     ─▶ public                   catalog
//
// A view is never there without its charge: the charge is durable before anything is read, and the
// table is made of what was released. Where the server ends in between, the answer is kept, and the
// same call makes the view of it without a second charge, as long as the data are the same.
//
// Everything in a record is public: the definition, what was released, and what it cost.
package views
