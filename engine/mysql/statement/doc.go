// Package statement is one statement of a client, from the command on the wire to its last row.
//
//	begin ─▶ parse ─▶ gate ─▶ plan ─▶ rows ─▶ result ─▶ end
//	│                                                    └ errors turned outward, event, audit record
//	└ trace, place in the audit log
//
// LOAD DATA (infile) and reports to collections (reports) branch off behind the parser. A
// statement ends early at its time limit or when its client has gone away (cutoff).
package statement
