package accounting

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestOrdersKeepGaussianNoise: whatever the budget, its order leaves Gaussian noise alone at least
// 98 % of the ρ that half of δ converts to, and a pure charge that would fit as ρ fits.
func TestOrdersKeepGaussianNoise(t *testing.T) {
	with := 0
	eachBudget(func(b Budget) {
		b.Order = b.orderFor()
		if b.Order == 0 {
			if x := b.shares(); x.slack(Loss{DeltaTV: samplers}) {
				t.Errorf("%v %v: no order", b.Epsilon, b.Delta)
			}
			return
		}
		with++
		if !b.hasOrder() || 1+(b.Order-1) != b.Order {
			t.Errorf("%v %v: order %v", b.Epsilon, b.Delta, b.Order)
		}
		most := RhoFor(b.Epsilon, b.Delta/2)
		if got := b.remainingRho(&amount{}, tally{}); float64(got) < 0.98*float64(most)-8 {
			t.Errorf("%v %v: order %v takes rho %v of %v", b.Epsilon, b.Delta, b.Order, got, most)
		}
		if r := Rho(0.98 * float64(most)); r > 1<<20 && !b.fits(amountOf(Loss{Rho: r, Pure: PureOf(1e6)})) {
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
			beta := bf(r.beta)
			x := bmul(beta, bsub(bf(d), bf(float64(b.Epsilon))))
			x = bsub(x, bmul(badd(beta, bf(1)), bln(badd(bf(1), bquo(bf(1), beta)))))
			x = bsub(bsub(x, bln(beta)), bln(bf(float64(r.conversion))))
			f, _ := x.Float64()
			return f
		}
		if over, under := log(r.limit), log(r.limit*(1+1e-6)); over > 0 || under <= 0 {
			t.Errorf("%v %v, order %v: limit %v is off by %v, %v", b.Epsilon, b.Delta, b.Order, r.limit, over, under)
		}
	})
}

// TestCurvesBetweenOrders: at any order what a curve says is no less than the divergence of its
// events, and where ε is not small or the order is one of the grid, not much more.
func TestCurvesBetweenOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 12))
	for range 5000 {
		e := Event{Epsilon: PureOf(math.Exp2(8*r.Float64() - 7)), Count: 1 + uint32(r.IntN(5))}
		e.Kind = []EventKind{Laplace, Exponential, RandomizedResponse}[r.IntN(3)]
		gaussian := Event{Kind: Gaussian, Rho: RhoOf(r.Float64() / 100), Count: 1}
		beta := math.Exp2(14*r.Float64() - 4)
		if r.IntN(4) == 0 {
			beta = curveOrders[r.IntN(len(curveOrders)-1)]
		}
		c := CurveOf([]Event{e, gaussian})
		want := e.divergence(beta)*float64(e.Count) + gaussian.Rho.Float()*(1+beta)
		got := c.at(beta) // the slop of want is 2^-38 of it
		if got < want*(1-1e-11) || beta < 256 && got > want*1.13 || got > float64(e.Count)*e.Epsilon.Float()*1.0001+gaussian.Rho.Float()*(1+beta)*1.0001 {
			t.Fatalf("%+v at %v: %v, want %v", e, beta, got, want)
		}
	}
	for i, beta := range curveOrders[:len(curveOrders)-1] {
		c := Event{Kind: Laplace, Epsilon: PureOf(0.7), Count: 3}.Curve()
		if got, want := c.at(beta), c.other[i].floatUp(); got < want || got > want*(1+1e-14) {
			t.Errorf("at order %v of the grid: %v, want %v", beta, got, want)
		}
	}
	worst := CurveOf([]Event{{Kind: Exponential, Epsilon: MaxPure, Count: math.MaxUint32}})
	if d := worst.at(27); !math.IsInf(d, 1) {
		t.Errorf("a saturated sum is %v", d)
	}
}

// TestEventsThatAreLessThanTheLossDoNotCount: a charge whose events leave out some of its loss is
// counted by its loss.
func TestEventsThatAreLessThanTheLossDoNotCount(t *testing.T) {
	half := Event{Kind: DiscreteGaussian, Rho: RhoOf(0.005), Count: 1}
	coin := Event{Kind: RandomizedResponse, Epsilon: PureOf(0.5), Count: 1}
	for _, c := range []struct {
		name   string
		loss   Loss
		events []Event
		taken  bool
	}{
		{"all", Loss{Rho: RhoOf(0.01)}, []Event{half, half}, true},
		{"all but rounding", Loss{Rho: RhoOf(0.01) + 30}, []Event{half, half}, true},
		{"half", Loss{Rho: RhoOf(0.01)}, []Event{half}, false},
		{"slack alone", Loss{Rho: RhoOf(0.01), DeltaEvent: 1e-9}, []Event{{Kind: Threshold, DeltaEvent: 1e-9, Count: 1}}, false},
		{"all of a pure loss", PureLoss(1), []Event{coin, coin}, true},
		{"half of a pure loss", PureLoss(1), []Event{coin}, false},
		{"another kind than that of a pure loss", PureLoss(0.01), []Event{{Kind: DiscreteGaussian, Rho: RhoOf(1), Count: 1}}, false},
	} {
		got := eventsOf(&Charge{Account: "t", Loss: c.loss, Events: c.events})
		if taken := got[0].Kind != ZCDP; taken != c.taken {
			t.Errorf("%s: charged as %+v", c.name, got)
		}
	}
}

// BenchmarkBudget times what a charge waits for, the test of one budget; what is found out after
// it, what remains; and what only those wait for who look at budgets: all that remains.
func BenchmarkBudget(b *testing.B) {
	budget := made(1, 1e-6)
	spent := amountOf(PureLoss(0.2))
	spent = spent.with(Loss{Rho: RhoOf(1e-3), DeltaTV: 0x1p-100})
	charge := &amount{tallyOf(Loss{Rho: RhoOf(1e-4)}), CurveOf(EventsOf(Loss{Rho: RhoOf(1e-4)}))}
	pure := Event{Kind: DiscreteLaplace, Epsilon: PureOf(0.1), Steps: 1, Count: 1}
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"fits", func() {
			after := *spent
			after.plus(charge)
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
