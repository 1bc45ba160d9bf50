package accounting

import (
	"context"

	"scrim/accounting/privacy"
)

// CountAsSpent charges every account as much as its budget of all principals allows, whatever is spent already: then nothing fits any
// more, for nobody, before the window ends or the budget is reset. It is for a ledger that is taken although charges are missing from it.
func (l *Ledger) CountAsSpent(ctx context.Context, by, reason string) error {
	if err := checkName("principal", by); err != nil {
		return err
	}
	var charges []Charge
	for _, b := range l.Budgets() {
		if b.Principal == All {
			charges = append(charges, Charge{Account: b.Account, Entity: b.Entity, Table: b.Account, Loss: b.whole()})
		}
	}
	if len(charges) == 0 {
		return nil
	}
	r := &record{kind: chargeRecord, principal: by, statement: clip(reason), weighed: make(chan struct{}), charges: merge(charges)}
	close(r.weighed)
	return l.record(ctx, r)
}

// whole is a loss beside which nothing fits the budget. It is not pure, so that a pure budget takes nothing beside it either.
func (b *Budget) whole() privacy.Loss {
	if b.Rho > 0 {
		return privacy.Loss{Rho: b.Rho, DeltaEvent: float64(b.Delta)}
	}
	return privacy.Loss{Rho: max(1, privacy.RhoFor(b.Epsilon, b.Delta)), DeltaEvent: float64(b.Delta)}
}
