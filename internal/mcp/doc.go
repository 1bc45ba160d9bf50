// Package mcp serves the Model Context Protocol to programs that ask on behalf of a model: the
// tools describe, price, query and budget, behind `scrim mcp`.
//
//	server.go   a Server: its options, its connection to the database and the account that it may
//	            be of, and who may connect over HTTP
//	query.go    the tools query, price and budget
//	answer.go   the tool describe; rows as JSON, within bounds, and errors
//
// It is a client of a running server and holds no privilege: every number comes from a statement of
// one account over MySQL's protocol, through that account's gates, budgets, ledger and audit. The
// refusals that are made here, of statements that write and of accounts of DBAs, are there to be
// told early; what protects the data is the server.
package mcp
