package price

import (
	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/planner/settings"
)

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
