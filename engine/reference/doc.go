// Package reference writes the README's reference from the tables that the server itself uses:
// functions, procedures, variables, the dp database, the allow-list of expressions, and refusals.
package reference
