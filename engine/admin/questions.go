package admin

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// questionColumns are the columns of what dp_set_budget returns.
var questionColumns = []column{count("questions"), text("answer")}

// periods words how often the windows start anew.
var periods = map[budget.Window]string{budget.Day: "a day", budget.Week: "a week", budget.Month: "a month", budget.Never: "in all"}

// questions tells what a budget that was just set means: how many statements at the default loss a
// window of it holds, whatever they ask, by the account's own composition. It returns no row where
// no default statement is known.
func (a *Admin) questions(h budget.Budget) []sql.Row {
	all := a.o.Ledger.Budgets()
	b, total := find(all, h.Account, h.Entity, h.Principal), find(all, h.Account, h.Entity, budget.All)
	if b == nil || a.o.DefaultLoss == nil {
		return nil
	}
	loss, ok := a.o.DefaultLoss(b.Account, b.Entity, b.IsPure() || total.IsPure())
	if !ok {
		return nil
	}
	n := capacity(b, loss)
	answer := fmt.Sprintf("about %d questions %s at the default loss", n, periods[b.Window])
	if loss.Pure > 0 {
		answer += fmt.Sprintf(" (pure epsilon %s)", shortest(loss.Pure.Float()))
	} else {
		answer += fmt.Sprintf(" (rho %.3g)", loss.Rho.Float())
	}
	if b.Principal == budget.Default {
		answer += ", for each account without a budget of its own"
	}
	if plain := capacity(b, privacy.Loss{Rho: loss.Rho, Pure: loss.Pure}); plain > n {
		answer += fmt.Sprintf("; %d of them where no group keys are private: a larger delta admits more of the others", plain)
	}
	return []sql.Row{{int64(n), answer}}
}

// capacity is how many charges of a loss a window of a budget holds.
func capacity(b *budget.Budget, loss privacy.Loss) int {
	return b.Holds(new(privacy.Amount), b.Typical(loss))
}
