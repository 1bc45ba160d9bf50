package plan

import "github.com/dolthub/go-mysql-server/sql"

// Executor runs releases. The engine implements it; the planner's nodes call it.
type Executor interface {
	// Begin is called once for each execution of a statement, by its Budget node. It reads and
	// charges nothing.
	Begin(ctx *sql.Context, s *Statement) (Execution, error)
}

// Execution is one execution of a statement. A DPAggregate node gets it from the Budget node above
// it, through the context, and cannot produce rows without it.
type Execution interface {
	// Answer returns the rows of one release of the statement, in group order: a stored answer when
	// there is one, else it makes the whole statement's reservation durable (the first call does),
	// scans and releases. A second call for the same release returns the same rows.
	Answer(ctx *sql.Context, r *Release) ([]sql.Row, error)
}
