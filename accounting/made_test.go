package accounting

import (
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// budgetOf returns a budget of all principals as the ledger makes it, with its Rényi order.
func budgetOf(eps privacy.Epsilon, delta privacy.Delta) budget.Budget {
	b := budget.Budget{Account: "t", Principal: budget.All, Window: budget.Never, Epsilon: eps, Delta: delta}
	b.Order = b.ChooseOrder()
	return b
}

// capFor returns an ε for a budget of δ that takes Gaussian noise of rho, and hardly more.
func capFor(rho privacy.Rho, delta privacy.Delta) privacy.Epsilon {
	lo, hi := privacy.Epsilon(0), privacy.Epsilon(30)
	for hi-lo > 1e-9 {
		mid := (lo + hi) / 2
		if b := budgetOf(mid, delta); b.RemainingRho(&privacy.Amount{}, privacy.Tally{}) < rho {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// amountOnly is a loss of which nothing else is known.
func amountOnly(l privacy.Loss) *privacy.Amount { return (&privacy.Amount{}).With(l) }
