// Package price tells what a statement would cost and how exact its answer would be, without
// running it and without charging anything.
package price

import (
	"errors"
	"fmt"
	"math"
	"strings"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/estimator"
	"scrim/engine/exec"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
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
	// View plans what makes a DP view of a query and options as JSON.
	View func(ctx *sql.Context, query, options string) (*plan.Statement, error)
}

// Price plans a query, or the making of a DP view, and tells what it would cost and how exact its
// answers would be, without running it or charging anything.
func (t *Teller) Price(ctx *sql.Context, text string) ([]admin.PriceLine, error) {
	parsed, _, _, err := t.Engine.Parser.Parse(ctx, text, false)
	if err != nil {
		return nil, mysqlerr.OfParser(err)
	}
	if c, ok := parsed.(*sqlparser.Call); ok && strings.EqualFold(c.ProcName.Name.String(), "dp_create_view") && len(c.Params) == 3 {
		query, ok := c.Params[1].(*sqlparser.SQLVal)
		options, both := c.Params[2].(*sqlparser.SQLVal)
		if ok && both {
			st, err := t.View(ctx, string(query.Val), string(options.Val))
			if err != nil {
				return nil, err
			}
			return t.lines(ctx, st, "")
		}
	}
	if _, ok := parsed.(sqlparser.SelectStatement); !ok {
		return nil, refuse.New(refuse.Parameter, "dp_price wants a SELECT, or CALL dp_create_view('…', '…', '…').").With("For example CALL dp_price('SELECT COUNT(*) FROM orders').")
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
	return t.lines(ctx, b.Statement, remark)
}

// lines are those of what budgets say to a statement, and of its answers.
func (t *Teller) lines(ctx *sql.Context, st *plan.Statement, remark string) ([]admin.PriceLine, error) {
	forecasts, err := t.Forecast(ctx, st)
	if err != nil {
		return nil, err
	}
	return append(t.budgetLines(forecasts, remark), t.answerLines(ctx, st)...), nil
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
			if line.Error, line.Remark = t.expectedError(ctx, a); r.OneOwner != "" {
				line.Remark = strings.TrimPrefix(line.Remark+"; each row belongs to two persons. "+r.OneOwner, "; ")
			}
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

// Forecast tells what the budgets would say to a statement that no stored answer serves. A DBA and
// an auditor see every budget that it touches. Others see their own, and of those that they share
// with others whether the statement fits: what is left of these tells what the others spent.
func (t *Teller) Forecast(ctx *sql.Context, st *plan.Statement) ([]accounting.Forecast, error) {
	who := session.Principal(ctx)
	list, err := t.Ledger.Forecast(who, session.Roles(ctx), t.Runner.Charges(st, st.Releases))
	if err != nil || session.IsDBA(ctx) || session.IsAuditor(ctx) {
		return list, err
	}
	for i, f := range list {
		if f.Holder != who && !f.Missing {
			list[i] = accounting.Forecast{Account: f.Account, Entity: f.Entity, Table: f.Table, Holder: f.Holder, Fits: f.Fits, Rounded: f.Rounded}
		}
	}
	return list, nil
}

// Earlier finds what an earlier answer of the session's account tells about an aggregate's error.
func (t *Teller) Earlier(ctx *sql.Context, shape string) (plan.Earlier, bool) {
	return t.Runner.Earlier(session.Owner(ctx), shape)
}

// DefaultLoss tells what a statement costs on an account where nobody says: of an entity, on the
// dearest of its tables, so that as many fit whichever is asked; over all periods, on one period.
func DefaultLoss(policies func() *catalog.Snapshot) accounting.DefaultLoss {
	return func(account string, entity, pure bool) (loss privacy.Loss, ok bool) {
		of := account
		if whole, ok := budget.OfPersons(account); entity && ok {
			of = whole
		}
		for _, t := range policies().All() {
			if t.State != catalog.Protected || entity && !t.Of(of) || !entity && t.Account != account {
				continue
			}
			l, planned := settings.DefaultLoss(t, pure)
			if !planned {
				continue
			}
			loss.Rho, loss.DeltaEvent, loss.Pure = max(loss.Rho, l.Rho), max(loss.DeltaEvent, l.DeltaEvent), max(loss.Pure, l.Pure)
			ok = true
		}
		return loss, ok
	}
}
