package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting"
	"scrim/accounting/budget"
)

// entityRow shows an entity's bound, and everything that was ever spent on its tables.
func entityRow(e accounting.EntityStatus) sql.Row {
	remark := "sum of the '*' budgets of " + strings.Join(e.Tables, ", ")
	if e.Capped {
		remark = "capped by the budget of the entity; tables: " + strings.Join(e.Tables, ", ")
	}
	if len(e.Closed) > 0 {
		remark += "; without a '*' budget, so closed: " + strings.Join(e.Closed, ", ")
	}
	if e.Window == "" && len(e.Closed) < len(e.Tables) {
		remark += "; the windows differ"
	}
	epsilon, conversion := best(e.Spent, e.SpentCurve, e.Delta)
	return sql.Row{
		"entity sum", e.Entity, nil, budget.All,
		float64(e.Epsilon), rhoLimit(e.Rho), float64(e.Delta), orNull(string(e.Window)),
		e.Spent.Rho.Float(), slack(e.Spent), pure(e.Spent), epsilon, conversion,
		nil, nil, nil, nil, nil, nil, nil, remark,
		nil, nil, nil, nil,
	}
}
