// Package quota bounds the memory that clients' statements hold in the server's own process: rows
// that operators keep, texts that functions build, and what a session keeps between statements.
//
// An Account belongs to a connection, a Pool to all connections together. What is about to be held
// is taken from the account first, and an error of MySQL's, ER_CAPACITY_EXCEEDED, refuses what does
// not fit:
//
//	Pool            of all connections
//	 └── Account    of a connection
//	      ├── kept  by the session: user variables
//	      ├── held  by the running statement: rows that are sorted, grouped, joined or cached
//	      └── live  texts of the row that is being computed, which nobody holds yet: a stack (Mark, Push, Reset)
//
// Sizes are those of Go's values, estimated from above (Size, Row). A text that several rows share
// counts in each of them.
package quota
