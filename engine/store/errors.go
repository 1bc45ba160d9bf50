package store

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what went wrong, coarsely enough to be mapped to a MySQL error number.
type Kind uint8

// Kinds of failure.
const (
	Internal     Kind = iota // anything not listed, a bug of ours included
	DuplicateKey             // a PRIMARY KEY or UNIQUE constraint
	NotNull                  // a NOT NULL constraint
	ForeignKey               // a FOREIGN KEY constraint
	Check                    // a CHECK constraint
	Conflict                 // another transaction changed the same rows or definition; try again
	Aborted                  // an earlier error aborted the transaction: roll back
	Interrupted              // cancelled, or its time was up
	OutOfMemory              // over the memory limit
	DiskFull                 // no space for the data or the temporary files
	// a value does not fit its type: conversion, range, overflow, division by zero
	BadValue
	NotFound // no such schema, table, column or other entry
	Exists   // the schema, table or other entry is already there
	// something else still needs the entry that was to be dropped or altered
	Dependency
	Syntax      // the statement does not parse or bind
	Unsupported // the store cannot do this
	Refused     // closed by the store's locked configuration
	Damaged     // the store cannot go on, and has to be opened anew
	InDoubt     // a commit failed by the disk: whether it is kept shows when the store is opened anew
	Halted      // a commit failed by the disk: the store does nothing until it is opened anew
	NoRoom      // the directory for temporary files cannot take any; see Error.Reason
	// the files that a table is read from are not there, are others than they have to be, or
	// changed while they were read; or another server is not there
	Source
	Corrupt // a part of the data file is not what was written; see Error.At
	kindCount
)

var kindText = [kindCount]string{
	Internal:     "internal error",
	DuplicateKey: "duplicate key",
	NotNull:      "a NOT NULL column got no value",
	ForeignKey:   "a foreign key constraint fails",
	Check:        "a CHECK constraint fails",
	Conflict:     "conflict with another transaction",
	Aborted:      "the transaction was aborted by an earlier error",
	Interrupted:  "interrupted",
	OutOfMemory:  "out of memory",
	DiskFull:     "disk full",
	BadValue:     "a value does not fit its type",
	NotFound:     "not found",
	Exists:       "already exists",
	Dependency:   "something else depends on it",
	Syntax:       "malformed statement",
	Unsupported:  "not supported",
	Refused:      "refused",
	Damaged:      "the store has stopped, and must be opened anew",
	InDoubt:      "writing a commit to the disk failed",
	Halted:       "writing to the disk failed, and the store must be opened anew",
	Source:       "what an attached table is read from cannot be read, does not have its columns, or changed meanwhile",
	Corrupt:      "the data file is damaged, and has to be restored from a backup",
	NoRoom:       "the server's directory for temporary files cannot be used",
}

// String returns the fixed text of the kind.
func (k Kind) String() string {
	if k < kindCount {
		return kindText[k]
	}
	return kindText[Internal]
}

// Error is a failure of the store. Its text is fixed by its kind and holds nothing of rows; on a
// statement over protected rows even the kind must not reach the analyst.
type Error struct {
	Kind Kind
	// Primary tells, of a DuplicateKey, that it is the primary key.
	Primary bool
	// Table and Column name what a NotNull or Check constraint is about, "" when unknown.
	Table, Column string
	// Reason says more of NoRoom, in public words of this code.
	Reason string
	// Detail says of Source which file, and of OutOfMemory, DiskFull and NoRoom what was wanted and
	// what there was. It is
	// made of fixed words, of sizes, and for NoRoom of the directory's name: it holds nothing of
	// rows, and may be logged. It is not public: sizes follow from rows.
	Detail string
	// At is, of Corrupt, at which byte of the data file what cannot be read begins.
	At int64
	// Driver is the driver's own message. It may hold values of rows: only for an operator's
	// debugging, off by default.
	Driver string
	// Cause is the context's error for Interrupted, what failed for InDoubt and Halted,
	// else nil.
	Cause error
}

// Error returns public text.
func (e *Error) Error() string {
	if e.Kind == NotNull && e.Column != "" {
		return fmt.Sprintf("store: column %s must not be NULL", e.Column)
	}
	if e.Reason != "" {
		return "store: " + e.Kind.String() + ": " + e.Reason
	}
	return "store: " + e.Kind.String()
}

// Unwrap returns Cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of a store error, and Internal for any other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Interrupted
	}
	return Internal
}

// Crowded tells of a statement's error that the statement may end well when nothing runs beside it
// (Snapshot.Alone): it had too little memory or disk, which others may have taken.
func Crowded(err error) bool {
	k := KindOf(err)
	return k == OutOfMemory || k == DiskFull
}

// ErrInUse tells that another process, or another Store of this process, holds the data.
var ErrInUse = errors.New("store: the data directory is in use by another process")

// ErrForeign tells that the data belong to another data directory than the one that opened them.
var ErrForeign = errors.New("store: the data belong to another data directory")

// ErrClosed tells that the store, session or snapshot has been closed.
var ErrClosed = errors.New("store: closed")
