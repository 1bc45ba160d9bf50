// Package backup copies a data directory as of one moment, and puts a copy back without giving
// spent budgets back.
//
// A backup is a directory with the store's file, the policies, the accounts, the ledger with its
// key, and a manifest with the digests of all of them. The manifest is written last.
package backup
