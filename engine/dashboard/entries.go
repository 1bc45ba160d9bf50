package dashboard

import (
	"fmt"
	"strings"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/engine/watch"
	"scrim/internal/digest"
)

// charged makes the line of an entry. Statements are without their literals in the ledger; what an
// older one holds in full is shown without them, too.
func (f *facts) charged(e accounting.Entry) Charged {
	c := Charged{
		ID: e.ID, At: e.At, Principal: e.Principal, Link: "/analysts/" + segment(e.Principal), Kind: string(e.Kind),
		Mechanisms: e.Mechanisms, ReplayOf: e.ReplayOf,
	}
	switch e.Kind {
	case accounting.ChargeEntry:
		c.Statement, c.Outcome = clip(digest.Redact(e.Statement), keptStatement), e.Outcome.String()
		c.Remark = e.Remark
		for _, part := range e.Charges {
			// Every charge counts for its entity, too; that is of interest where the entity has a
			// budget.
			if !part.Entity || f.total(part.Account, true) != nil {
				c.Costs = append(c.Costs, f.cost(part))
			}
		}
	case accounting.ReplayEntry:
		c.Statement, c.Outcome = clip(digest.Redact(e.Statement), keptStatement), "replayed"
		for _, account := range e.Tables {
			c.Costs = append(c.Costs, Cost{On: f.name(account), Link: "/tables/" + segment(account)})
		}
	case accounting.NoteEntry:
		c.Statement, c.Outcome = clip(e.Text, keptStatement), e.NoteKind
	default:
		c.Statement = budgetChange(e)
		link, name := "/tables/"+segment(e.Budget.Account), f.name(e.Budget.Account)
		if e.Budget.Entity {
			link, name = "/entities/"+segment(e.Budget.Account), "entity "+e.Budget.Account
		}
		c.Costs = []Cost{{On: name, Link: link}}
	}
	return c
}

// budgetChange words a change of a budget.
func budgetChange(e accounting.Entry) string {
	b := e.Budget
	var s string
	switch e.Kind {
	case accounting.SetBudgetEntry:
		m := watch.MeasureOf(b)
		s = fmt.Sprintf("budget of %s: %s %s, δ %s, window %s", b.Principal, m.Unit, number(m.Limit), number(float64(b.Delta)), b.Window)
	case accounting.RemoveBudgetEntry:
		s = "budget of " + b.Principal + " removed"
	case accounting.ResetBudgetEntry:
		s = "budget of " + b.Principal + " reset: its spending begins anew"
	default:
		s = strings.ReplaceAll(string(e.Kind), "-", " ")
	}
	if b.Reason != "" {
		s += " (" + b.Reason + ")"
	}
	return s
}

// cost shows a charge in the unit of the account's total budget, in ρ where there is none.
func (f *facts) cost(part accounting.EntryCharge) Cost {
	c := Cost{On: f.name(part.Account), Link: "/tables/" + segment(part.Account), Unit: watch.Rho, Amount: part.Loss.Rho.Float()}
	if part.Entity {
		c.On, c.Link = "entity "+part.Account, "/entities/"+segment(part.Account)
	}
	if b := f.total(part.Account, part.Entity); b != nil {
		m := watch.MeasureOf(b.Budget)
		c.Unit, c.Amount = m.Unit, m.Of(part.Loss)
	}
	c.Left = float64(part.RemainingAll())
	for _, l := range part.Left {
		if l.Scope == budget.All && c.Unit == watch.Rho {
			c.Left = l.Rho.Float()
		}
	}
	return c
}
