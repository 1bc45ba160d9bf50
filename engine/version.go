package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// versionFunction is VERSION() as this server answers it: go-mysql-server's own has its version
// built in.
type versionFunction struct{ sql.Expression }

// Eval implements sql.Expression.
func (versionFunction) Eval(*sql.Context, sql.Row) (any, error) { return Version, nil }

// WithChildren implements sql.Expression.
func (v versionFunction) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(children), 0)
	}
	return v, nil
}
