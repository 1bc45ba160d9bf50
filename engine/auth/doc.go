// Package auth keeps the accounts: who may log in, with what, and how that survives a restart.
//
// Accounts and grants live in GMS's grant tables. Persister writes them to one file, replaced as a
// whole and flushed before the statement that changed them is answered. Server wraps the login
// methods: no account without a password logs in, whatever the grant tables say, every refusal is
// MySQL's own text, and no failure inside a method reaches the client.
//
// CheckStatement refuses the account statements that would make an account without a password, or
// an anonymous one, or a role that stands in for one.
package auth
