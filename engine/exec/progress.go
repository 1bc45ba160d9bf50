package exec

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
)

// progress tells how far an attempt is, in steps of the plan: their names and their number are
// public. How long one takes follows from the rows, as the time of the whole statement does.
type progress struct {
	tell        func(name string, step, steps int) // nil where nobody wants to know
	step, steps int
}

// progressOf is that of the releases of a statement.
func (x *Executor) progressOf(ctx *sql.Context, releases []*plan.Release) *progress {
	p := &progress{}
	if x.Progress == nil {
		return p
	}
	p.tell = func(name string, step, steps int) { x.Progress(ctx, name, step, steps) }
	for _, r := range releases {
		p.steps += len(r.Scans) + 1
		if r.Selection != nil {
			p.steps++
		}
	}
	return p
}

// begin begins the next step.
func (p *progress) begin(format string, args ...any) {
	if p.step++; p.tell != nil {
		p.tell(fmt.Sprintf(format, args...), p.step, p.steps)
	}
}
