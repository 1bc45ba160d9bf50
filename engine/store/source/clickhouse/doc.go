// Package clickhouse reads tables of ClickHouse servers: of MergeTree, and of Distributed over
// MergeTree. Of a table some columns of all rows are read by one SELECT, as they are; what is asked
// of them is computed elsewhere.
//
//	Kind.Open ──▶ session     one connection; settings pinned (pins.go), never a second one
//	  Look    ──▶ table       where the rows are, and their columns (source.go, types.go)
//	  Version ──▶ parts       a digest of the list of them, on all servers
//	  Rows    ──▶ source.Batch (types.go)
//
// # Invariants
//
//   - All rows or an error. Every setting under which an answer may be of a part of the rows is set
//     on the connection, and read back on every server that has rows, before rows are read.
//   - No setting that acts on how many rows there are is in force.
//   - The connection cannot write.
//   - A value that the store cannot have is NULL, whatever the other rows are. It is no error.
//   - A row is there or not by itself. Engines that replace or add up rows are refused: under them
//     one person's row decides about another's.
package clickhouse
