// Package store is the boundary between the server and what holds the tables. A store runs
// generated SQL in its own dialect (DuckDB's by default), hands results over column by column in
// chunks, and keeps, for every table, a version that each committed write changes.
//
// The package imports nothing of ours; implementations live in packages below it.
package store
