package virtual

import "github.com/dolthub/go-mysql-server/sql"

// Leaf is what nodes of a plan without children and expressions have in common.
type Leaf struct{}

// Resolved implements sql.Node.
func (Leaf) Resolved() bool { return true }

// Children implements sql.Node.
func (Leaf) Children() []sql.Node { return nil }

// CollationCoercibility implements sql.CollationCoercible.
func (Leaf) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}
