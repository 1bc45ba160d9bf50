package session

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/params"
)

// Facts tells the planner about the session of a statement: it is a planner.SessionFacts.
type Facts struct{}

// Parameter implements planner.SessionFacts.
func (Facts) Parameter(ctx *sql.Context, p *params.Parameter) (params.Value, bool) {
	s, ok := From(ctx)
	if !ok {
		return params.Value{}, false
	}
	return s.Parameter(p)
}

// RawAccess implements planner.SessionFacts.
func (Facts) RawAccess(ctx *sql.Context) bool { return Raw(ctx) }

// IsDBA implements planner.SessionFacts.
func (Facts) IsDBA(ctx *sql.Context) bool { return IsDBA(ctx) }
