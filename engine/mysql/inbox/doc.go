// Package inbox is the database dp_in: a table for each collection of the local model, into which
// contributors insert their reports, and which shows nothing.
//
//	INSERT INTO dp_in.commute (token, report) VALUES (?, ?)
//
// # What an INSERT does
//
// All rows of a statement are taken or none, and they are durable when it is answered. It takes no
// part in a transaction of the client, as an INSERT into a table of an engine without transactions
// does in MySQL: neither autocommit = 0 holds it back, nor does ROLLBACK undo it. A contributor who
// was told that a report was taken will not send another one, and nobody can take it back.
//
// The number of affected rows is that of the rows that were sent. A row that was there before, byte
// for byte, is among them: a client that sends again because an answer got lost need not tell the
// two cases apart.
//
// # Two ways
//
// Form reads the common statement, VALUES of constants and parameters, from its syntax tree,
// without a plan and without a connection to the store: contributors come in thousands. Everything
// else that SQL can compute goes through the SQL engine and ends in the table's Inserter. Both end
// in Accept.
//
// # Who sees what
//
// SHOW TABLES lists the collections that take reports now. The others are found by their names, so
// that a contributor who comes too early or too late is told so. Rows are never shown: there are
// none. A report is found in its collection's own table, without its token.
package inbox
