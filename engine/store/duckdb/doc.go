// Package duckdb keeps the tables in a DuckDB file. It is the one package that imports the driver,
// and it imports only packages store, spill and lake of ours.
//
//	Open ──▶ Store ──▶ Session   one driver connection: transactions, DDL, DML, rows as columns or as Go values
//	           │──────▶ Snapshot  one connection in a read-only transaction: columns, chunk by chunk; temporary tables of its own
//	           │──────▶ commits   the versions of the last committed state, in memory
//	           │──────▶ log       checkpoints, the count of acknowledged changes, halting
//	           │──────▶ helpers   threads that help with long statements
//	           │──────▶ gate      statements beside each other, or one snapshot alone
//	           │──────▶ spill     the directory for temporary files, and the disk that it lies on
//	           └──────▶ catalogue cache, dropped when a session commits a change of definition
//	ImportFile            opens the file in a mode of its own, offline
//
// # Invariants
//
//   - Before the first statement of anybody else, the configuration is locked: no access to files
//     but the database's own and those below the roots of Options.Lake, no extensions, no
//     settings. Every connection of the process shares this, and each statement's type is checked
//     against a short list besides.
//   - A committed write to a table changes its version: the write adds a row to an insert-only log
//     in the same transaction. Two writers never touch the same log row, so the log adds no
//     conflicts. A version is the number of log entries and the exclusive-or of their random
//     tokens, which folding entries together keeps.
//   - An acknowledged change is counted outside of the file and its log, so that a file that has
//     fewer is refused. After a commit that the disk failed nothing is read or changed until the
//     file is opened anew: what DuckDB has in memory may be another state.
//   - What is kept between statements holds for one state of the tables only (commits.go): their
//     versions; and plans that DuckDB made with its statistics, until one of their tables changes.
//   - That a scan of a snapshot fails, alone, follows from the statement, the configuration and the
//     disk; not from how many rows there are or whose, and not from what else runs. The bounds
//     within which this holds are below.
//   - A cancelled context interrupts the statement that runs under it.
//   - Public error text holds nothing of rows: see classify.go.
//
// # The hidden schema
//
//	__scrim.version(schema_name, table_name, entries BIGINT, token BIGINT)    insert-only, folded
//	__scrim.meta(bucket, key, value BLOB)                                      NULL value: deleted
//	__scrim.mark(order, text)                                                  the highest counts
//	__scrim.counted                                                            there: the count must be, too
//
// # Files of others
//
// A table of files (Attach) is a view over read_parquet(getvariable('…')). Before a statement that
// names the table, the server lists the files itself, compares their columns with the table's, and
// hands the list to the connection (sources.go); after it, the list is made again and
// compared. Connections of snapshots that had a list are not used again, and a session forgets its
// plans when it gets one, because a plan rests on the files.
//
// # Memory
//
// DuckDB's sorts, windows, hash aggregates and hash joins spill: each needs an amount of memory
// that follows from the plan and the number of threads, and puts what is more into temporary files.
// That holds within these bounds, which whoever generates statements keeps to:
//
//   - No aggregate whose state grows with its rows (quantile_disc, list, string_agg, mode): such
//     states do not spill, and the vectors in them are not even counted. A median is the middle one
//     of row_number() over the sorted rows.
//   - No join that builds its hash table of rows of which many may have one key. Rows of one key
//     cannot be parted. Where the smaller table of a statement's own join has tens of millions of
//     them, this bound is passed: SECURITY.md says so.
//   - No aggregation of hundreds of 128-bit sums, and no window or sort over arrays of thousands of
//     numbers, in a small limit. SECURITY.md has what was measured.
//   - No texts of hundreds of kilobytes each: a column of texts is read 2048 at a time, before any
//     operator sees it.
//
// The amounts of several statements add up, and the limit is one for all. As many scans of
// snapshots run at once as the limit allows for in the ordinary case (perScan); a snapshot that was
// crowded out nevertheless goes on in the same state, alone (Snapshot.Alone), on one thread: the
// gate lets the other statements wait until it is closed. In 256 MB each form of alone_test.go then
// ends well: in the test with 2 million rows, and as measured with 20 million and with one person
// of 60 million.
//
// Materialise and Keep make a snapshot's own tables, temporary ones of its connection, which spill
// like everything else and end with its transaction.
//
// Room looks at the disk of the temporary files before anything is charged: a reserve stays free
// (spill.Disk). How much DuckDB may put there is set when the file is opened, from what is free
// then, because its configuration is locked afterwards.
//
// # Two ways in
//
// Sessions use the driver's connections, statements and appenders, and read the results of their
// queries column by column through the C interface, on the handle of the driver's connection
// (instance.go): a Go value made of every value of a row takes more time than all else. What has
// parts, lists and arrays, goes through the driver's rows. Snapshots use the driver's mapping of
// the C interface on the same database instance, and of that interface two functions that the
// mapping leaves out (stream.go). The driver's Arrow reader will not do: it cannot be interrupted,
// and it holds the whole result in memory, outside DuckDB's memory limit. A scan in any order hands
// its rows to a function of ours inside DuckDB (deliver.go), with nothing in between; one in order
// streams, through a few chunks of memory. Both have plain vectors, which are as good as Arrow's.
package duckdb
