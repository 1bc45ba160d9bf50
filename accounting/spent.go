package accounting

import (
	"context"

	"scrim/accounting/budget"
	"scrim/accounting/record"
)

// CountAsSpent charges every account as much as its budget of all principals allows, whatever is
// spent already: then nothing fits any more, for nobody, before the window ends or the budget is
// reset. It is for a ledger that is taken although charges are missing from it.
func (l *Ledger) CountAsSpent(ctx context.Context, by, reason string) error {
	if err := budget.CheckName("principal", by); err != nil {
		return err
	}
	var charges []Charge
	for _, b := range l.Budgets() {
		if b.Principal == budget.All {
			charges = append(charges, Charge{Account: b.Account, Entity: b.Entity, Table: b.Account, Loss: b.Whole()})
		}
	}
	if len(charges) == 0 {
		return nil
	}
	r := &record.Record{Kind: record.Charge, Principal: by, Statement: budget.Clip(reason), Weighed: make(chan struct{}), Charges: merge(charges)}
	close(r.Weighed)
	return l.record(ctx, r)
}
