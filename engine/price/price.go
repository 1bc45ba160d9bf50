package price

import (
	"errors"
	"fmt"
	"math"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/accounting"
	"scrim/engine/admin"
	"scrim/engine/estimator"
	"scrim/engine/exec"
	"scrim/engine/mysqlerr"
	"scrim/internal/refuse"
	"scrim/planner"
	"scrim/planner/plan"
	"scrim/planner/settings"
)

// Teller tells what statements would cost.
type Teller struct {
	Engine *sqle.Engine // plans them
	Ledger *accounting.Ledger
	Runner *exec.Executor // knows earlier answers
	// DefaultLoss is what a statement costs where nobody says.
	DefaultLoss accounting.DefaultLoss
}

// Price plans a query and tells what it would cost and how exact its answers would be, without
// running it or charging anything.
func (t *Teller) Price(ctx *sql.Context, text string) ([]admin.PriceLine, error) {
	parsed, _, _, err := t.Engine.Parser.Parse(ctx, text, false)
	if err != nil {
		return nil, mysqlerr.OfParser(err)
	}
	if _, ok := parsed.(sqlparser.SelectStatement); !ok {
		return nil, refuse.New(refuse.Parameter, "dp_price wants a SELECT.").With("For example CALL dp_price('SELECT COUNT(*) FROM orders').")
	}
	remark := ""
	n, err := planner.Analyze(ctx, t.Engine, text, parsed)
	if needed := (*settings.PilotNeeded)(nil); errors.As(err, &needed) {
		remark = "a pilot, after which the cost of the error is known"
		n, err = planner.Analyze(settings.WithPilot(ctx, needed), t.Engine, text, parsed)
	}
	if err != nil {
		return nil, err
	}
	b, ok := n.(*plan.Budget)
	if !ok {
		return []admin.PriceLine{{Item: "statement", Name: "no protected table", Fits: true, Error: math.NaN(), Remark: "costs nothing"}}, nil
	}
	if b.Statement.Viewed() {
		return viewLines(b.Statement), nil
	}
	forecasts, err := t.Forecast(ctx, b.Statement)
	if err != nil {
		return nil, err
	}
	return append(t.budgetLines(forecasts, remark), t.answerLines(ctx, b.Statement)...), nil
}

// viewLines has a line for each view that answers a statement for nothing, and one for each
// aggregate.
func viewLines(st *plan.Statement) []admin.PriceLine {
	var out []admin.PriceLine
	for _, r := range st.Releases {
		v := r.FromView.View
		out = append(out, admin.PriceLine{Item: "statement", Name: "DP view " + v.Name, Fits: true, Error: math.NaN(), Remark: "costs nothing: answered from the view, " + v.Text()})
		for _, sum := range r.FromView.Sums {
			out = append(out, admin.PriceLine{Item: "answer", Name: sum.Text, Fits: true, Error: sum.StdErr, Remark: "of " + sum.Of + " of the view"})
		}
	}
	return out
}

// budgetLines has a line for each budget that the statement touches.
func (t *Teller) budgetLines(list []accounting.Forecast, remark string) []admin.PriceLine {
	var out []admin.PriceLine
	for _, f := range list {
		name := f.Table
		if f.Entity {
			name = "entity:" + f.Account
		}
		line := admin.PriceLine{Item: "budget", Name: name, Budget: &f, Fits: f.Fits, Error: math.NaN(), Remark: remark}
		if n, ok := f.Questions(t.DefaultLoss); ok {
			line.Questions = &n
		}
		out = append(out, line)
	}
	return out
}

// answerLines has a line for keys that are selected privately, and one for each aggregate.
func (t *Teller) answerLines(ctx *sql.Context, st *plan.Statement) []admin.PriceLine {
	var out []admin.PriceLine
	for _, r := range st.Releases {
		if s := r.Selection; s != nil {
			out = append(out, admin.PriceLine{Item: "keys", Name: plan.KeyNames(r), Fits: true, Error: math.NaN(), MinPersons: s.MinPersons(),
				Remark: unshown(r) + " unless it has " + plan.KeysRule(s)})
		}
		for _, a := range r.Aggregates {
			line := admin.PriceLine{Item: "answer", Name: a.Asked(), Fits: true, MinPersons: estimator.PersonsFor(a.Estimator)}
			line.Error, line.Remark = t.expectedError(ctx, a)
			out = append(out, line)
		}
	}
	return out
}

// unshown tells what becomes of a key that is not selected.
func unshown(r *plan.Release) string {
	if r.Other {
		return "a key is answered with others, in a row whose keys are NULL,"
	}
	return "a key is left out"
}

// expectedError is that of an aggregate: by the mechanism's formula, or scaled from an earlier
// answer; NaN where neither tells it.
func (t *Teller) expectedError(ctx *sql.Context, a plan.Aggregate) (float64, string) {
	if e, ok := a.Estimator.ExpectedError(); ok {
		return e, ""
	}
	if e, ok := t.Earlier(ctx, a.Shape); ok {
		l := a.Estimator.Loss()
		if l.IsPure() {
			return e.StdErr * e.Loss / l.Pure.Float(), "as an earlier answer tells"
		}
		return e.StdErr * math.Sqrt(e.Loss/l.Rho.Float()), "as an earlier answer tells"
	}
	if r, ok := a.Estimator.(estimator.Relative); ok {
		if factor, of, ok := r.RelativeError(); ok {
			return math.NaN(), fmt.Sprintf("%.3g*%s, which the data choose; DP_STDERR tells it of an answer", factor, of)
		}
	}
	return math.NaN(), "depends on the data; DP_STDERR tells it of an answer"
}
