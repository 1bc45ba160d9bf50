package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"

	"scrim/internal/refuse"
	"scrim/planner/sample"
	"scrim/planner/survey"
)

// sample plans the source of a simulation. Raw access plays no part: what is protected is charged,
// whoever asks.
func (p *Planner) sample(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, nested bool, want sample.Wanted) (sql.Node, error) {
	c := p.config.Catalog()
	f := survey.Of(ctx, c, n)
	switch {
	case len(f.Undeclared) > 0:
		return nil, sample.Unsuitable("%s has been declared neither protected nor public.", f.Undeclared[0])
	case len(f.Protected) == 0:
		return n, sample.OnlyStored(ctx, n)
	case nested || f.BindVars:
		return nil, sample.Unsuitable("The query on %s has a subquery or a place holder.", f.Protected[0])
	}
	t, err := survey.ReadText(ctx)
	if err != nil {
		return nil, err
	}
	if !t.Query || t.Explain {
		return nil, sample.Unsuitable("The source is not a SELECT.")
	}
	s, err := p.statement(ctx, a, c, t, f)
	if err != nil {
		return nil, err
	}
	out, err := sample.Source(s.Writer, s.ctx, s.params, s.rows, n, want)
	if r, ok := refuse.As(err); ok && r.Code != refuse.Parameter && r.Code != refuse.SimulationSource {
		return nil, sample.Unsuitable("%s", r.Cause)
	}
	return out, err
}
