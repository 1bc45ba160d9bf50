// Package mysql reads tables of MySQL and MariaDB servers as package source says. All tables of a
// statement are read in one transaction of the server, which shows one committed state (InnoDB's
// consistent snapshot, at REPEATABLE READ).
//
// # Invariants
//
//   - Only base tables of InnoDB are read: other engines have no snapshots, and what a view reads
//     may be anything.
//   - Nothing of a session that could leave out rows is left to the server's defaults: limits of
//     rows and of time are taken off.
package mysql
