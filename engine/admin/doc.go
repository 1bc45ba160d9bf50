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
// What loosens a budget wants a reason, and dp_reset_budget alone refills one: limits, windows and
// policies change nothing of what is spent.
//
// # Who sees what
//
// The catalogue, functions, errors and variables are public. Of budgets, an analyst sees what they
// may spend; of the ledger, their own charges and replays. What others spent, and so what is left
// of a common budget, is for DBAs and auditors. A session without an account sees no budgets and no
// ledger.
//
// # The ledger
//
// dp.ledger is read by pages from the ledger's index. An analysis rule hands it the conditions, the
// order and the limit of a statement; the statement keeps its conditions, so that what is handed
// over decides how much is read, and never what is shown. What the session may not see is left out
// first.
package admin
