// Package chain is the chain of the ledger's records: the key and the hashes that are made with it,
// where a chain ends, and how the ledger's mark and head say so. It opens no files.
package chain
