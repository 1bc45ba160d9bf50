// Package admin is the DBA's side of the server in SQL: the procedures that declare policies and
// budgets, and the read-only database dp in which policies, budgets and the ledger are seen.
//
// # Procedures
//
// Every procedure is for DBAs only. A call is noted in the ledger, with who made it, before it does
// anything; when it is then refused, a second note says so. All arguments arrive as text, so that
// any literal serves for a number. Policies take effect at once and are no part of the client's
// transaction: ROLLBACK does not undo them.
//
// # What an analyst sees
//
// The catalogue, functions, errors and variables are public. Of budgets, an analyst sees what they
// may spend; of the ledger, their own charges. What others spent, and so what is left of a common
// budget, is for DBAs. A session without an account sees no budgets and no ledger.
package admin
