// Package duckdb keeps the tables in a DuckDB file. It is the one package that imports the driver,
// and it imports only package store of ours.
//
//	Open ──▶ Store ──▶ Session   one driver connection: transactions, DDL, DML, rows as columns or as Go values
//	           │──────▶ Snapshot  one connection in a read-only transaction: columns, chunk by chunk
//	           │──────▶ commits   the versions of the last committed state, in memory
//	           │──────▶ crew      threads that help with long statements
//	           └──────▶ catalogue cache, dropped when a session commits a change of definition
//	ImportFile            opens the file in a mode of its own, offline
//
// # Invariants
//
//   - Before the first statement of anybody else, the configuration is locked: no access to files
//     but the database's own, no extensions, no settings. Every connection of the process shares
//     this, and each statement's type is checked against a short list besides.
//   - A committed write to a table changes its version: the write adds a row to an insert-only log in
//     the same transaction. Two writers never touch the same log row, so the log adds no conflicts.
//     A version is the number of log entries and the exclusive-or of their random tokens, which
//     folding entries together keeps.
//   - What is kept between statements holds for one state of the tables only (commits.go): their versions, and plans that DuckDB
//     made with its statistics of them.
//   - A cancelled context interrupts the statement that runs under it.
//   - Public error text holds nothing of rows: see classify.go.
//
// # The hidden schema
//
//	__scrim.version(schema_name, table_name, entries BIGINT, token BIGINT)    insert-only, folded
//	__scrim.meta(bucket, key, value BLOB)                                      NULL value: deleted
//
// # Two ways in
//
// Sessions use the driver's connections, statements and appenders, and read the results of their queries column by column through
// the C interface, on the handle of the driver's connection (instance.go): a Go value made of every value of a row takes more time
// than all else. What has parts, lists and arrays, goes through the driver's rows. Snapshots use the driver's
// mapping of the C interface on the same database instance, and of that interface two functions that
// the mapping leaves out (stream.go). The driver's Arrow reader will not do: it cannot be interrupted,
// and it holds the whole result in memory, outside DuckDB's memory limit. The streamed result takes a
// few chunks, DuckDB goes on computing while a chunk is worked on, and its plain vectors are as good
// as Arrow's.
package duckdb
