package price

import (
	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/planner/settings"
)

// DefaultLoss tells what a statement costs on an account where nobody says: of an entity, on the
// dearest of its tables, so that as many fit whichever is asked.
func DefaultLoss(policies func() *catalog.Snapshot) accounting.DefaultLoss {
	return func(account string, entity, pure bool) (loss privacy.Loss, ok bool) {
		for _, t := range policies().All() {
			if t.State != catalog.Protected || entity && !t.Of(account) || !entity && t.Account != account {
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
