package engine

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/engine/exec"
	"scrim/engine/session"
	"scrim/planner/plan"
)

// forecast tells what the budgets would say to a statement that no stored answer serves. A DBA and an auditor see every budget that it touches. Others see their
// own, and of those that they share with others whether the statement fits: what is left of these tells what the others spent.
func (s *Server) forecast(ctx *sql.Context, st *plan.Statement) ([]accounting.Forecast, error) {
	who := session.Principal(ctx)
	list, err := s.ledger.Forecast(who, session.Roles(ctx), exec.Charges(st, st.Releases))
	if err != nil || session.IsDBA(ctx) || session.IsAuditor(ctx) {
		return list, err
	}
	for i, f := range list {
		if f.Holder != who && !f.Missing {
			list[i] = accounting.Forecast{Account: f.Account, Entity: f.Entity, Table: f.Table, Holder: f.Holder, Fits: f.Fits}
		}
	}
	return list, nil
}
