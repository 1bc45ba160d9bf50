// Package browse tells clients of the server and of its tables: information_schema,
// performance_schema, sys and mysql as databases of virtual tables, and the answers of SHOW,
// DESCRIBE and their like.
//
//	SHOW FULL COLUMNS FROM t LIKE 'n%'
//	   ─▶ Forms       SELECT * FROM `show `.`columns…` AS answer WHERE `Field` LIKE 'n%'
//	   ─▶ answers     the table of one statement, made when it is bound: errors come where MySQL's do
//	   ─▶ objects     what the account may see, from the definitions and the grants
//
// # What is told
//
// An account sees the definitions, grants and settings that it may see. It sees nothing that
// depends on rows: sizes, cardinalities, times of creation and change, and checksums are NULL for
// everybody. Only public tables show their number of rows, and only who may read a table's rows
// sees its next AUTO_INCREMENT value. A time of change would tell when a person's rows were
// written.
//
// Counters of the whole server (statements, bytes) are told to DBAs and auditors; others see those
// of their own connection, because an importer's statements and the size of a DBA's results count
// rows.
//
// # Main types
//
//   - Server: what the answers are made of. Its Databases are given to the SQL engine, its Forms to
//     the parser.
//   - table, database: virtual ones, whose rows are made for the session that reads.
//   - object: a table or view as the account sees it.
//
// The databases "show " and "mysql " exist for the rewritten statements only: no client's name ends
// in a blank. Into the second one Parser turns reads of the database mysql, whose tables an account
// that is no DBA may not read otherwise.
package browse
