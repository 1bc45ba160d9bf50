package accounting

import (
	"errors"
	"math"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// TestForecastTells: a forecast changes nothing, and what it says comes true.
func TestForecastTells(t *testing.T) {
	for name, c := range map[string]struct {
		budget budget.Budget
		loss   privacy.Loss
	}{
		"rho loss":          {budget.Budget{Epsilon: 1, Delta: 1e-6}, privacy.Loss{Rho: privacy.RhoOf(1e-4)}},
		"with slack":        {budget.Budget{Epsilon: 2, Delta: 1e-6}, privacy.Loss{Rho: privacy.RhoOf(1e-3), DeltaEvent: 1e-8, DeltaTV: 1e-30}},
		"slack ends it":     {budget.Budget{Epsilon: 2, Delta: 1e-6}, privacy.Loss{Rho: privacy.RhoOf(1e-5), DeltaEvent: 1e-7}},
		"pure":              {budget.Budget{Epsilon: 1, Delta: 0}, privacy.PureLoss(0.3)},
		"pure under delta":  {budget.Budget{Epsilon: 1, Delta: 1e-9}, privacy.PureLoss(0.07)},
		"not pure":          {budget.Budget{Epsilon: 1, Delta: 0}, privacy.Loss{Rho: privacy.RhoOf(1e-5)}},
		"budget in rho":     {budget.Budget{Rho: privacy.RhoOf(0.01), Delta: 1e-6}, privacy.Loss{Rho: privacy.RhoOf(0.0007)}},
		"larger than limit": {budget.Budget{Epsilon: 0.1, Delta: 1e-6}, privacy.Loss{Rho: privacy.RhoOf(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := create1(t, nil)
			b := c.budget
			b.Account, b.Principal, b.Window, b.SetBy = "t", budget.All, budget.Never, "root@%"
			if err := l.SetBudget(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			charges := []Charge{{Account: "t", Table: "db.t", Loss: c.loss}}
			for granted := 0; ; granted++ {
				f, err := l.Forecast("a@%", nil, charges)
				if err != nil || len(f) != 1 {
					t.Fatal(f, err)
				}
				_, err = reserve(l, "a@%", charges)
				if fits := err == nil; f[0].Fits != fits || f[0].Fits != (f[0].Queries > 0) {
					t.Fatalf("after %d: forecast %+v, then %v", granted, f[0], err)
				}
				if err != nil {
					return
				}
				after, _ := l.Forecast("a@%", nil, charges)
				if after[0].Queries != f[0].Queries-1 {
					t.Fatalf("%d repetitions became %d", f[0].Queries, after[0].Queries)
				}
				if got, want := after[0].Remaining, f[0].After; got != want && !(math.IsNaN(float64(got)) && math.IsNaN(float64(want))) {
					t.Errorf("remaining %v, forecast %v", got, want)
				}
			}
		})
	}
}

func TestForecastOfAllBudgets(t *testing.T) {
	l, _ := create1(t, nil)
	charges := rho("t", 0.001)
	f, err := l.Forecast("a@%", nil, charges)
	if err != nil || len(f) != 1 || !f[0].Missing || f[0].Fits {
		t.Errorf("without a budget: %+v, %v", f, err)
	}
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Never)
	mustSet(t, l, "t", false, budget.Default, 0.5, 1e-6, budget.Day)
	mustSet(t, l, "t", false, budget.RolePrefix+"r", 0.2, 1e-6, budget.Never)
	mustSet(t, l, "e", true, budget.All, 3, 1e-6, budget.Never)
	charges = append(charges, Charge{Account: "e", Entity: true, Loss: charges[0].Loss})
	if f, err = l.Forecast("a@%", []string{"r", "other"}, charges); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range f {
		got = append(got, x.Holder)
	}
	if want := []string{budget.All, budget.RolePrefix + "r", "a@%", budget.All}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || !f[3].Entity {
		t.Errorf("holders %v", got)
	}
	if spent := spentOn(l, "t", false, budget.All); spent != (privacy.Tally{}) {
		t.Errorf("a forecast spent %v", spent)
	}
	if _, err := l.Forecast("", nil, charges); !errors.Is(err, ErrInvalid) {
		t.Errorf("no principal: %v", err)
	}
}
