// Package witness keeps, in a second place, how far a data directory's ledger had come: a file on
// another disk, or an HTTP address. When the directory is rolled back as a whole, nothing in it can
// tell; the witness can.
//
// It is a list of lines, each a JSON object, to which lines are added:
//
//	{"time":"2026-11-23T05:00:00Z","directory":"…","run":"…","position":"…"}
//	                                    │           │          └ where the ledger ended, as accounting.Position writes it
//	                                    │           └ the process that wrote it
//	                                    └ the directory's id: one witness is for one directory
//
// The last line counts. A file of more than 1 MiB is cut down to the newest line of each directory
// when the next line is written. At an HTTP address GET gives it (404 or 204: there is none), and
// POST of a line adds one.
//
// A line is written at the start, within a second of each change, and at the stop. So what a
// roll-back of less than a second brings back is not noticed. Before each line the last one is
// read: when another process wrote it, the directory is served twice.
package witness
