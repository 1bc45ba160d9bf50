// Package remark is the vocabulary of what a reader has to know of an answer that was given all the
// same: that keys are left out, that values are NULL for too few persons, that errors are wide. It
// has one table of codes, and the type that carries one remark to the client.
//
//	remark.New(remark.TooFewPersons, "AVG(x) is NULL; about %d persons are needed.", n).In(3, 12)
//
// A private statement's remarks reach its client in four ways: as MySQL's warnings (SHOW WARNINGS),
// in dp.last_warnings, as an error under dp_warnings = 'error', and, by Summary, in the ledger's
// record of the charge.
//
// # How to add one
//
// Give it a constant and a row of Table. Make it where what it says is known:
//
//   - What follows from an answer's released numbers goes into engine/exec, remarks.go: the loop
//     over cells there counts, and the executor delivers.
//   - What follows from the plan or from the reconciliation of answers is told with Add, while the
//     statement runs. Such a remark is a warning of the statement, and is not in the ledger.
//
// # Privacy
//
// A remark is sent to the client, so everything in it, and whether it is made at all, must follow
// from public facts (the statement, the policies, the plan) and released numbers only. Then it is
// post-processing and costs nothing. How many keys were left out is neither; how many were answered
// is released. State the reason beside the code that makes the remark.
package remark
