package planner

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/store"
	"scrim/internal/params"
	"scrim/planner/cells"
	"scrim/planner/keys"
	"scrim/planner/plan"
	"scrim/planner/push"
)

// SessionFacts answers what the planner must know about the session of a context.
type SessionFacts interface {
	// Parameter returns a session parameter as the client set it; set is false where the session
	// leaves the choice to the table's defaults.
	Parameter(ctx *sql.Context, p *params.Parameter) (value params.Value, set bool)
	// RawAccess reports whether the session may read protected rows as they are: a DBA with dp_raw
	// ON.
	RawAccess(ctx *sql.Context) bool
	// IsDBA reports whether the session's account is a DBA.
	IsDBA(ctx *sql.Context) bool
}

// Config holds what a planner depends on.
type Config struct {
	// Catalog returns the current policies; it is called once a statement.
	Catalog  func() catalog.Reader
	Executor plan.Executor
	Session  SessionFacts
	// Pure reports whether what the session's principal spends on a table's or an entity's account
	// must have a pure ε: a budget that it is tested against has δ = 0. nil: it never must.
	Pure func(ctx *sql.Context, account string, entity bool) bool
	// Forecast tells what the budgets would say to the charges of a statement, as far as the
	// session's account may know: EXPLAIN prints it. nil: EXPLAIN tells the cost alone.
	Forecast func(ctx *sql.Context, s *plan.Statement) ([]accounting.Forecast, error)
	// Earlier finds what an earlier answer of the session's principal tells about the error of an
	// aggregate, by its shape (Aggregate.Shape). nil: nothing is kept.
	Earlier func(ctx *sql.Context, shape string) (plan.Earlier, bool)
	// Views lists the DP views of the given tables, and of no others, that the session's account
	// may read. nil: there are none.
	Views func(ctx *sql.Context, tables []store.TableRef) ([]*cells.View, error)
	// Domains may be nil: domains that come from a table are then refused.
	Domains keys.DomainSource
	// Public may be nil: queries on public tables then stay with go-mysql-server.
	Public push.Executor
	// Memory bounds the numbers of one query that the executor holds, in bytes; 0: no bound is
	// known.
	Memory int64
	// StoreMemory bounds what the store keeps in memory, in bytes; 0: no bound is known.
	StoreMemory int64
}
