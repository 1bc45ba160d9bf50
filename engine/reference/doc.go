// Package reference writes docs/reference.md from the tables that the server itself uses:
// functions, procedures, variables, the dp database, the allow-list of expressions, and refusals.
package reference
