package accounting

import (
	"context"
	"errors"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// TestCountAsSpent: whatever a budget is stated in and whoever asks, nothing fits any more, also
// after reopening; the next window is whole.
func TestCountAsSpent(t *testing.T) {
	k := newClock("2026-03-10 12:00:00")
	l, path := create1(t, k)
	if err := l.CountAsSpent(context.Background(), "operator", "no budgets"); err != nil {
		t.Fatal(err)
	}
	mustSet(t, l, "t", false, budget.All, 4, 1e-6, budget.Month)
	mustSet(t, l, "pure", false, budget.All, 4, 0, budget.Month)
	mustSet(t, l, "other", false, budget.All, 4, 0, budget.Month)
	mustSet(t, l, "t", false, "b@%", 100, 1e-6, budget.Month)
	if err := l.SetBudget(context.Background(), budget.Budget{Account: "r", Principal: budget.All, Rho: privacy.RhoOf(0.5), Window: budget.Month}); err != nil {
		t.Fatal(err)
	}
	small := map[string]privacy.Loss{
		"t": {Rho: 1}, "r": {Rho: 1}, "pure": privacy.PureLoss(1e-9), "other": privacy.PureLoss(1e-9),
	}
	each := func(fits bool, when string) {
		t.Helper()
		for account, loss := range small {
			for _, who := range []string{"a@%", "b@%"} {
				_, err := reserve(l, who, []Charge{{Account: account, Loss: loss}})
				if fits && err != nil || !fits && !errors.Is(err, ErrExhausted) {
					t.Errorf("%s, %s on %s: %v", when, who, account, err)
				}
			}
		}
	}
	each(true, "before")
	if err := l.CountAsSpent(context.Background(), "operator", "an older ledger"); err != nil {
		t.Fatal(err)
	}
	each(false, "after")
	l.Close()
	l = open(t, path, Options{Now: k.now})
	each(false, "reopened")
	k.set("2026-04-01 00:00:00")
	each(true, "in the next window")
}
