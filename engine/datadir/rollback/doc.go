// Package rollback notices that a ledger was put back: that it is older than it had been, so that
// budgets which were spent could be spent again.
//
// The store, the catalogue, the audit log and a witness, where there is one, know how far the
// ledger had come. Every position that one of them has is of a durable state of the ledger. So a
// ledger that does not continue one of them is older than it was, and is refused, unless an
// operator accepts it.
package rollback
