// Package console is a page for analysts: they write a statement, see its price, run it, and see
// the answer as a table and as a chart with intervals.
//
//	browser ─▶ headers ─▶ same origin? ─▶ session? ─▶ token? ─▶ handler ─▶ two connections of the MySQL protocol
//
// The console is a client. A log-in opens two connections to the server itself, from within, with
// the account's name and password and the browser's address: the server's own log-in, brake, gates,
// limits, ledger and audit log meet each of its statements as they meet any client's, and there is
// no other way from here to the data. The package cannot even import one (test/layout). The
// password is dropped when the connections are open; the session ends when they do.
//
// One connection runs statements, one at a time; the other asks for prices and names meanwhile, and
// ends the running statement when the browser goes away.
package console
