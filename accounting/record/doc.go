// Package record is one record of the ledger's chain: its kinds, what each holds, and its bytes,
// which package accounting documents.
package record
