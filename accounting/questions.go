package accounting

import (
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// Questions are how budgets are told to people: as numbers of statements at the loss that one has
// where nobody says what it may cost. They follow from the ledger alone, which is public to whoever
// sees the budget, so they cost nothing.

// DefaultLoss tells what a statement costs on an account where nobody says; pure on the pure
// account. It returns false where there is no such statement.
type DefaultLoss func(account string, entity, pure bool) (privacy.Loss, bool)

// Questions returns how many statements of the default loss the filter of a budget in the status
// admits, one after another, on top of what its holder has spent in the window; at most
// budget.MaxForecast. It returns false where there is no such statement.
func (s *Status) Questions(b *BudgetStatus, of DefaultLoss) (int, bool) {
	pure := b.IsPure()
	for i := range s.Budgets {
		total := &s.Budgets[i]
		pure = pure || total.Principal == budget.All && total.Account == b.Account && total.Entity == b.Entity && total.IsPure()
	}
	loss, ok := of(b.Account, b.Entity, pure)
	if !ok {
		return 0, false
	}
	return b.Holds(&b.spent, b.Typical(loss)), true
}

// Questions returns how many statements of the default loss fit before the charge that is forecast,
// as Status.Questions does. It returns false also where the budget is another's.
func (f *Forecast) Questions(of DefaultLoss) (int, bool) {
	if f.Missing || f.Budget.Window == "" {
		return 0, f.Missing
	}
	loss, ok := of(f.Account, f.Entity, f.pure || f.Budget.IsPure())
	if !ok {
		return 0, false
	}
	return f.Budget.Holds(&f.before, f.Budget.Typical(loss)), true
}
