// Package audit is the append-only record of what every account asked and how it ended: one JSON
// object a line, in files that are only ever appended to.
//
//	<dir>/audit-000001-2026-11-22.jsonl
//	             │      └ day (UTC) on which the file was begun
//	             └ rises by one with each file: the order of the files, whatever the clock does
//
// A file is followed by a new one when it is large enough or its day is over. Files older than the
// retention are removed, never the one that is written. Literals of statements have been replaced
// before a record gets here; nothing of rows is in one. Statements that bring reports to
// collections are not recorded when they were taken: package engine leaves them out.
//
// # Never in a statement's way
//
// Records go through a bounded queue to one goroutine, which writes them together and flushes the
// file to disk every second. A crash of the machine may lose the last second, a crash of the
// process what was in the queue. A torn last line is ended when the file is opened again, so that
// every other line stays readable.
//
// # When the log cannot be written
//
// A statement takes a place in the queue before it runs ([Log.Admit]), so that its record always
// has one. What happens when there is none, or when the disk does not take what is written, is the
// operator's choice: [Refuse], the default, runs no statement until the log is written again;
// [Count] runs it, and the log says how many records are missing as soon as it can. What could not
// be written is tried again every second, from where the last write ended. After a failed flush the
// file is given up and a new one is begun: what the system says of a file after that cannot be
// relied on.
package audit
