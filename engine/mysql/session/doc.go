// Package session is one client's connection as the server sees it: who pays (the principal),
// whether the account is a DBA and which roles it has, the store connection with its transaction,
// and the privacy parameters. Rights are asked for at every use, and the account at every
// statement: what is revoked or dropped is gone at the next one.
//
// The store connection is opened when the first statement needs it and closed with the session.
// Transactions are lazy: BEGIN, or the first statement under autocommit = 0, only notes that a
// transaction is wanted, and the store's transaction begins with the first access. A transaction
// decides what happens to rows; it never decides what happens to a charge, which lives in the
// ledger.
//
// The dp_ system variables are registered once a process, before the server starts. Their values
// are checked when they are set: what is not a positive finite number within its range is refused,
// and nothing is charged. dp_raw can be switched on by a DBA only, for one session, and only after
// the switch has been noted durably.
package session
