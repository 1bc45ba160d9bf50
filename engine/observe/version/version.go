// Package version is what the server calls itself towards clients.
package version

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"scrim/internal/release"
)

// Number is the server's version: MySQL 8.0, which is what clients adapt to, and the product's own.
const Number = "8.0.36-scrim-" + release.Version

// Comment is the value of @@version_comment.
const Comment = "Scrim, differentially private SQL"

// Function is the function VERSION().
func Function(*sql.Context, ...sql.Expression) (sql.Expression, error) {
	return call{Expression: function.Version("")}, nil
}

// call is VERSION() as this server answers it: go-mysql-server's own has its version built in.
type call struct{ sql.Expression }

// Eval implements sql.Expression.
func (call) Eval(*sql.Context, sql.Row) (any, error) { return Number, nil }

// WithChildren implements sql.Expression.
func (c call) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 0)
	}
	return c, nil
}
