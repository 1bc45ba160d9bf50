package settings

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
)

// PilotNeeded is the refusal of a statement whose cost only a pilot can tell, where the pilot is
// allowed: the caller runs the statement under WithPilot, and plans it again under AfterPilot.
type PilotNeeded struct{ Share float64 } // of what the statement usually costs, within (0, 1]

// Error implements error.
func (p *PilotNeeded) Error() string { return "planner: a pilot is needed" }

// pilot is what a context says about pilots.
type pilot struct {
	Share float64 // of the pilot that is running; 0: none is
	Over  bool    // one has run
}

type pilotKey struct{}

// WithPilot returns a context in which a statement is planned as its own pilot.
func WithPilot(ctx *sql.Context, p *PilotNeeded) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{Share: p.Share}))
}

// AfterPilot returns a context in which no further pilot is asked for.
func AfterPilot(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, pilotKey{}, pilot{Over: true}))
}

// PilotOf returns what the context says about pilots; the zero value where it says nothing.
func PilotOf(ctx *sql.Context) pilot {
	p, _ := ctx.Value(pilotKey{}).(pilot)
	return p
}
