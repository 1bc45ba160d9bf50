// Package tables shows the backing store to go-mysql-server: schemas as databases, stored tables as
// tables that can be read, written and altered, and the texts of views.
//
// Everything a client does runs on that client's own store session, which SessionOf finds in the
// statement's context, so that a statement sees its session's uncommitted writes and takes part in
// its transactions.
//
// # Raw rows are refused here
//
// A table hands out rows only after Access.CheckRead has agreed, and it asks at the last possible
// place, in PartitionRows. No rule, plan shape or shortcut of the SQL engine can go around it. No
// table has statistics: there is no row count, no index cardinality and no AUTO_INCREMENT counter
// to be seen anywhere.
//
// # A statement whose outcome depends on rows reads them
//
// The number of rows that an UPDATE changed, the refusal of a duplicate key, the success of ADD
// UNIQUE: each tells an exact fact about the rows that are there. The package therefore treats such
// a statement as a read and asks CheckRead as well as CheckWrite or CheckAlter:
//
//   - UPDATE and DELETE, whatever their WHERE: the affected-row count is an exact count, and a
//     failing assignment tells that some row made it fail. Reporting 0 instead would still leave
//     the errors, and the effect of "DELETE ... LIMIT", visible.
//   - INSERT into a table with a PRIMARY or UNIQUE key: it fails exactly when the key is there
//     already, so it can be used to ask for a person by key, one row at a time. An AUTO_INCREMENT
//     column, which must be a key, adds LAST_INSERT_ID, a running count of the rows.
//   - DDL that looks at the rows: MODIFY COLUMN, ADD KEY, ADD CHECK and ADD FOREIGN KEY.
//   - What looks, by a foreign key, at rows of another table: it asks for those tables, too.
//
// On a protected table these need dp_raw, which is recorded; INSERT into a table without keys,
// TRUNCATE (which always reports 0 rows), DROP, RENAME and the other clauses of ALTER TABLE do not,
// because their outcome is known from the statement and the catalogue alone.
//
// # Rows that nothing computes with
//
// What a client gets of most queries on public tables is what the store has read: go-mysql-server
// only passes the rows on. AsText finds that out from the plan, and then the store's columns are
// written as the client's text without a value in between (text.go). Access is asked as always;
// private answers do not come this way, because their rows are not the store's.
//
// # A write changes the rows that a SELECT finds
//
// The store evaluates the conditions and values of an UPDATE or DELETE that package lower
// translates, and go-mysql-server all others, as it is with a SELECT. What has no place in its
// column is an error, and the statement changes nothing.
//
// # Where MySQL's behaviour is not reached
//
// Names of tables, databases and columns are folded to lower case. What is declared without a
// collation is by bytes; a text of any character set is kept in UTF-8. A VECTOR(n) is an array of
// doubles, not of single precision, and is read as JSON. Indexes that are not UNIQUE are of the
// catalogue alone. Foreign keys to tables of other databases, triggers, stored procedures, events,
// temporary tables and LOAD DATA are refused. A statement that fails in the store, or after it has
// changed rows, unlike one that is refused before, ends its transaction: it must be rolled back.
//
// # Columns that follow from others
//
// A generated column, and the hidden one that a UNIQUE key has in the place of a prefix, an
// expression or a text that is not by bytes, is a column of the store whose values each statement
// computes for the rows that it writes (generated.go). store.Table lists hidden columns apart, so
// that nothing reads them.
//
// # Main types
//
//   - Provider: the databases. Builder: the execution of DDL. Rules: analysis rules for UPDATE,
//     DELETE and INSERT.
//   - Table: one stored table, with its projections.
//   - Access: what the engine answers and is told.
package tables
