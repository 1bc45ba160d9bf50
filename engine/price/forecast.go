package price

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/session"
	"scrim/planner/plan"
)

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
