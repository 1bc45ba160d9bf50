package trace

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/session"
	"scrim/planner/plan"
)

// NotingExecutor is the executor that notes, in the session and in the trace, that protected tables
// are about to be read.
type NotingExecutor struct{ plan.Executor }

// Begin implements planner.Executor.
func (e NotingExecutor) Begin(ctx *sql.Context, s *plan.Statement) (plan.Execution, error) {
	if own, ok := session.From(ctx); ok {
		own.TouchProtected()
	}
	Of(ctx).Private(s)
	return e.Executor.Begin(ctx, s)
}
