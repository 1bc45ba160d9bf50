package budget

import (
	"testing"

	"scrim/accounting/privacy"
	"scrim/test/bigref"
)

// TestOrdersKeepGaussianNoise: whatever the budget, its order leaves Gaussian noise alone at least
// 98 % of the ρ that half of δ converts to, and a pure charge that would fit as ρ fits.
func TestOrdersKeepGaussianNoise(t *testing.T) {
	with := 0
	eachBudget(func(b Budget) {
		b.Order = b.ChooseOrder()
		if b.Order == 0 {
			if x := b.shares(); x.slack(privacy.Loss{DeltaTV: privacy.SamplerSlack}) {
				t.Errorf("%v %v: no order", b.Epsilon, b.Delta)
			}
			return
		}
		with++
		if !b.HasOrder() || 1+(b.Order-1) != b.Order {
			t.Errorf("%v %v: order %v", b.Epsilon, b.Delta, b.Order)
		}
		most := privacy.RhoFor(b.Epsilon, b.Delta/2)
		if got := b.RemainingRho(&privacy.Amount{}, privacy.Tally{}); float64(got) < 0.98*float64(most)-8 {
			t.Errorf("%v %v: order %v takes rho %v of %v", b.Epsilon, b.Delta, b.Order, got, most)
		}
		if r := privacy.Rho(0.98 * float64(most)); r > 1<<20 && !b.Fits(amountOf(privacy.Loss{Rho: r, Pure: privacy.PureOf(1e6)})) {
			t.Errorf("%v %v: what is pure counts more than its rho", b.Epsilon, b.Delta)
		}
	})
	if with < 900 {
		t.Errorf("%d budgets with an order say little", with)
	}
}

// TestLimitIsAConversion: a divergence of the limit at the order of a budget is (ε, c)-DP, by the
// formula with 256 bits, and a little more is not shown to be.
func TestLimitIsAConversion(t *testing.T) {
	t.Parallel()
	n := 0
	eachBudget(func(b Budget) {
		if b.Order = b.ChooseOrder(); b.Order == 0 || n > 300 {
			return
		}
		n++
		r := b.rule()
		log := func(d float64) float64 { // ln δ − ln c
			beta := bigref.Of(r.beta)
			x := bigref.Mul(beta, bigref.Sub(bigref.Of(d), bigref.Of(float64(b.Epsilon))))
			x = bigref.Sub(x, bigref.Mul(bigref.Add(beta, bigref.Of(1)), bigref.Log(bigref.Add(bigref.Of(1), bigref.Quo(bigref.Of(1), beta)))))
			x = bigref.Sub(bigref.Sub(x, bigref.Log(beta)), bigref.Log(bigref.Of(float64(r.conversion))))
			f, _ := x.Float64()
			return f
		}
		if over, under := log(r.limit), log(r.limit*(1+1e-6)); over > 0 || under <= 0 {
			t.Errorf("%v %v, order %v: limit %v is off by %v, %v", b.Epsilon, b.Delta, b.Order, r.limit, over, under)
		}
	})
}

// BenchmarkBudget times what a charge waits for, the test of one budget; what is found out after
// it, what remains; and what only those wait for who look at budgets: all that remains.
func BenchmarkBudget(b *testing.B) {
	budget := made(1, 1e-6)
	spent := amountOf(privacy.PureLoss(0.2))
	spent = spent.With(privacy.Loss{Rho: privacy.RhoOf(1e-3), DeltaTV: 0x1p-100})
	charge := amountOf(privacy.Loss{Rho: privacy.RhoOf(1e-4)})
	pure := privacy.Event{Kind: privacy.DiscreteLaplace, Epsilon: privacy.PureOf(0.1), Steps: 1, Count: 1}
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"fits", func() {
			after := *spent
			after.Plus(charge)
			budget.Fits(&after)
		}},
		{"remaining", func() { budget.Remaining(spent) }},
		{"remaining pure", func() { budget.RemainingPure(spent) }},
		{"curve of a pure event", func() { pure.Curve() }},
		{"order of a new budget", func() { budget.ChooseOrder() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run()
			}
		})
	}
}
