// Package auth keeps the accounts: who may log in, with what, and how that survives a restart.
//
// Accounts and grants live in GMS's grant tables. Persister writes them to one file, replaced as a
// whole and flushed before the statement that changed them is answered. Server wraps the login
// methods: no account without a password logs in, whatever the grant tables say, every refusal is
// MySQL's own text, and no failure inside a method reaches the client.
//
// # Roles
//
// Every server has the roles dba, analyst, auditor, importer, collector and shuffler, made where
// they are missing when the accounts are read. All roles that an account has been granted are
// active. A role is granted to accounts only, so that one step leads from an account to everything
// that it may do. Some of what go-mysql-server writes it does not read back; Load repairs that.
//
// # Statements
//
// CheckStatement refuses the account statements that would make an account without a password, or
// an anonymous one, let somebody grant what they do not have or take over an account, or leave
// nobody who is a DBA. ShowGrants lists what an account can do on this server, and nothing that
// gives it nothing.
//
// Privileges of accounts are read under the lock of the grant tables only: GRANT changes them in
// place.
package auth
