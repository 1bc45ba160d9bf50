// Package datadir is the data directory: the names of its files, its identity, and the lock of the
// one process that has it open. What is done with a directory that nobody serves lies beside:
//
//	rollback     notices a ledger that was put back, and takes an older one where that is asked for
//	backup       copies a directory, and puts a copy back
//	fileimport   loads a file into a table
package datadir
