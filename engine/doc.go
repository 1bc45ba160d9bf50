// Package engine assembles the server: the data directory and what lives in it, the SQL engine with
// our rules, tables and functions, the guarded listener, and the accounts.
//
//	Open ─▶ directory (lock, id) ─▶ store ─▶ ledger ─▶ catalog ─▶ accounts ─▶ SQL engine ─▶ listener
//	Serve ─▶ accept … until the context ends ─▶ Close: clients, listener, ledger, catalog, store
//
// What it assembles lies in packages below it, none of which imports it. Package statement runs
// what clients send, package gate refuses what they may not do, and package mysqlerr decides what
// they may see of a failure.
package engine
