package accounting

import (
	"testing"

	"scrim/accounting/internal/bigref"
	"scrim/accounting/privacy"
)

// TestOrdersKeepGaussianNoise: whatever the budget, its order leaves Gaussian noise alone at least
// 98 % of the ρ that half of δ converts to, and a pure charge that would fit as ρ fits.
func TestOrdersKeepGaussianNoise(t *testing.T) {
	with := 0
	eachBudget(func(b Budget) {
		b.Order = b.orderFor()
		if b.Order == 0 {
			if x := b.shares(); x.slack(privacy.Loss{DeltaTV: samplers}) {
				t.Errorf("%v %v: no order", b.Epsilon, b.Delta)
			}
			return
		}
		with++
		if !b.hasOrder() || 1+(b.Order-1) != b.Order {
			t.Errorf("%v %v: order %v", b.Epsilon, b.Delta, b.Order)
		}
		most := privacy.RhoFor(b.Epsilon, b.Delta/2)
		if got := b.remainingRho(&privacy.Amount{}, privacy.Tally{}); float64(got) < 0.98*float64(most)-8 {
			t.Errorf("%v %v: order %v takes rho %v of %v", b.Epsilon, b.Delta, b.Order, got, most)
		}
		if r := privacy.Rho(0.98 * float64(most)); r > 1<<20 && !b.fits(amountOf(privacy.Loss{Rho: r, Pure: privacy.PureOf(1e6)})) {
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
		if b.Order = b.orderFor(); b.Order == 0 || n > 300 {
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

// TestEventsThatAreLessThanTheLossDoNotCount: a charge whose events leave out some of its loss is
// counted by its loss.
func TestEventsThatAreLessThanTheLossDoNotCount(t *testing.T) {
	half := privacy.Event{Kind: privacy.DiscreteGaussian, Rho: privacy.RhoOf(0.005), Count: 1}
	coin := privacy.Event{Kind: privacy.RandomizedResponse, Epsilon: privacy.PureOf(0.5), Count: 1}
	for _, c := range []struct {
		name   string
		loss   privacy.Loss
		events []privacy.Event
		taken  bool
	}{
		{"all", privacy.Loss{Rho: privacy.RhoOf(0.01)}, []privacy.Event{half, half}, true},
		{"all but rounding", privacy.Loss{Rho: privacy.RhoOf(0.01) + 30}, []privacy.Event{half, half}, true},
		{"half", privacy.Loss{Rho: privacy.RhoOf(0.01)}, []privacy.Event{half}, false},
		{"slack alone", privacy.Loss{Rho: privacy.RhoOf(0.01), DeltaEvent: 1e-9}, []privacy.Event{{Kind: privacy.Threshold, DeltaEvent: 1e-9, Count: 1}}, false},
		{"all of a pure loss", privacy.PureLoss(1), []privacy.Event{coin, coin}, true},
		{"half of a pure loss", privacy.PureLoss(1), []privacy.Event{coin}, false},
		{"another kind than that of a pure loss", privacy.PureLoss(0.01), []privacy.Event{{Kind: privacy.DiscreteGaussian, Rho: privacy.RhoOf(1), Count: 1}}, false},
	} {
		got := eventsOf(&Charge{Account: "t", Loss: c.loss, Events: c.events})
		if taken := got[0].Kind != privacy.ZCDP; taken != c.taken {
			t.Errorf("%s: charged as %+v", c.name, got)
		}
	}
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
			budget.fits(&after)
		}},
		{"remaining", func() { budget.remaining(spent) }},
		{"remaining pure", func() { budget.remainingPure(spent) }},
		{"curve of a pure event", func() { pure.Curve() }},
		{"order of a new budget", func() { budget.orderFor() }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run()
			}
		})
	}
}
