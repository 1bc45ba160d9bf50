// Package source says how tables of other database servers are read. It knows servers and names of
// tables, and nothing of SQL here: the store copies what a statement needs of such a table into a
// temporary table of its own, and all else goes on as if the rows had always been there.
//
//	Servers ──▶ Server       what the operator has declared: kind, address, account
//	               │ Open
//	               ▼
//	            Snapshot     one reading of a server: Look, Version, Rows
//
// The kinds of servers are packages below this one.
//
// # Invariants
//
//   - A server is reached only if the operator has declared it, with the account declared. SQL
//     names it and says nothing of addresses and passwords.
//   - Rows hands over all rows of one state of the table, or fails. No limit and no time-out of a
//     kind depends on how many there are.
//   - Two tables that share one of their Identities are the same data: what is spent on them is
//     kept under one name.
package source
