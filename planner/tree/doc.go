// Package tree reads and makes go-mysql-server's bound trees: one walker over nodes and
// expressions, what an expression is whatever its rows are, the ids of columns, and a leaf of known
// rows. It knows nothing of privacy or of the store.
package tree
