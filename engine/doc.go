// Package engine assembles the server: the data directory and what lives in it, the SQL engine with
// our rules, tables and functions, the guarded listener, and the accounts.
//
//	Open ─▶ directory (lock, id) ─▶ store ─▶ ledger ─▶ catalog ─▶ accounts ─▶ SQL engine ─▶ listener
//	Serve ─▶ accept … until the context ends ─▶ Close: clients, listener, ledger, catalog, store
//
// A command passes through here twice. On its way in, handler.go gives it a deadline and a context
// that the client's disappearance cancels, and gate.go refuses what no client may do. On its way
// out, errors.go is the one place that decides what a client may see of a failure: refusals and
// MySQL's own conditions as they are, everything else as a fixed text with the statement's id,
// which the log, the audit log and the event (observe.go) carry too.
package engine
