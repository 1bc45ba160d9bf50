// Package spent keeps for a session what its last private statement was charged, for dp.last_cost.
// Neither an entry of the ledger nor a stored answer names a connection, so that nobody else can
// tell which of an account's charges a statement has made.
package spent
