package budget

import (
	"math"
	"testing"

	"scrim/accounting/privacy"
)

// gaussianAccount is a Gaussian account as the ledger makes it.
func gaussianAccount(e privacy.Epsilon, d privacy.Delta) Budget {
	b := Budget{Account: "t", Principal: All, Epsilon: e, Delta: d, Window: Never, Gaussian: true}
	b.Order = b.ChooseOrder()
	return b
}

// runOf is the charge of one run of an event.
func runOf(e privacy.Event) *privacy.Amount {
	return &privacy.Amount{Tally: privacy.TallyOf(e.Loss()), Curve: e.Curve()}
}

// holdsExactly returns how many runs of Gaussian noise of rho may be answered by the exact curve,
// at all of δ.
func holdsExactly(b *Budget, rho privacy.Rho) int {
	return int(privacy.GaussianFor(b.Epsilon, b.Delta) / rho)
}

// TestGaussianAccountAdmitsWhatTheExactCurveDoes: at least 97 % of the queries with Gaussian noise
// that the exact composition of all of them would admit, had they been fixed beforehand, with all
// of δ; a budget of the other kind admits about four fifths.
func TestGaussianAccountAdmitsWhatTheExactCurveDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		epsilon privacy.Epsilon
		delta   privacy.Delta
		rho     float64
		// by the exact curve, by a Gaussian account, by another
		exact, admitted, other int
	}{
		{1, 1e-6, 2.81e-4, 99, 97, 80},
		{1, 1e-6, 1e-5, 2801, 2745, 2270},
		{0.1, 1e-6, 1e-6, 379, 369, 294},
		{1, 1e-9, 1e-5, 1655, 1635, 1426},
		{4, 1e-6, 1e-3, 351, 345, 293},
		{8, 2e-6, 1e-2, 123, 121, 104},
	} {
		b, other := gaussianAccount(c.epsilon, c.delta), made(c.epsilon, c.delta)
		rho := privacy.RhoOf(c.rho)
		exact := holdsExactly(&b, rho)
		got := b.Holds(new(privacy.Amount), runOf(privacy.Event{Kind: privacy.Gaussian, Rho: rho, Count: 1}))
		was := other.Holds(new(privacy.Amount), runOf(privacy.Event{Kind: privacy.DiscreteGaussian, Rho: rho, Count: 1}))
		t.Logf("(%v, %v) at rho %v: exact %d, Gaussian account %d (%.1f %%), other %d", c.epsilon, c.delta, c.rho, exact, got, 100*float64(got)/float64(exact), was)
		if exact != c.exact || got != c.admitted || was != c.other || float64(got) < 0.97*float64(exact) {
			t.Errorf("(%v, %v) at rho %v: %d of %d, and %d; want %d of %d, and %d", c.epsilon, c.delta, c.rho, got, exact, was, c.admitted, c.exact, c.other)
		}
	}
}

// TestSessionsOfAGaussianAccount: what is mixed is admitted by the rule, at its share of δ, as far
// as the exact curve does not admit more.
func TestSessionsOfAGaussianAccount(t *testing.T) {
	t.Parallel()
	b := gaussianAccount(1, 1e-6)
	for i, want := range []int{105, 74, 8, 97} {
		s := sessionKinds[0].sessions[i]
		got := s.admitsOf(&b, privacy.Laplace, privacy.Gaussian)
		t.Logf("%s: %d of %d", s.name, got, s.exact)
		if got != want || got > s.exact {
			t.Errorf("%s: %d, want %d of %d", s.name, got, want, s.exact)
		}
	}
	// one choice beside noise, as sums have whose clip is learnt, a tenth of ρ: by the exact curve
	noise := privacy.Event{Kind: privacy.Gaussian, Rho: privacy.RhoOf(9e-5), Count: 1}
	choice := privacy.Event{Kind: privacy.Exponential, Epsilon: privacy.PureOf(math.Sqrt(8 * 1e-5)), Count: 1}
	one := runOf(noise)
	one.Plus(runOf(choice))
	if got := b.Holds(new(privacy.Amount), one); got < 255 || got > 280 {
		t.Errorf("noise with a choice: %d", got)
	}
}

// TestDiscreteNoiseIsNotGaussian: on a Gaussian account as well, what was not drawn as rounded
// normal numbers passes by the rule alone.
func TestDiscreteNoiseIsNotGaussian(t *testing.T) {
	t.Parallel()
	b := gaussianAccount(1, 1e-6)
	discrete := runOf(privacy.Event{Kind: privacy.DiscreteGaussian, Rho: privacy.RhoOf(1e-4), Count: 1})
	rounded := runOf(privacy.Event{Kind: privacy.Gaussian, Rho: privacy.RhoOf(1e-4), Count: 1})
	n, m := b.Holds(new(privacy.Amount), discrete), b.Holds(new(privacy.Amount), rounded)
	if limit := b.rule().limit / b.Order / 1e-4; float64(n) > limit || m < n*5/4 {
		t.Errorf("discrete noise %d times, of %v by the rule; rounded noise %d times", n, limit, m)
	}
	// one of them among the others, and the exact curve says nothing of the window any more
	if got := b.Holds(discrete, rounded); got >= n {
		t.Errorf("beside discrete noise: %d, of %d", got, n)
	}
	other := made(1, 1e-6)
	if other.Holds(new(privacy.Amount), rounded) != other.Holds(new(privacy.Amount), discrete) {
		t.Error("an account of the other kind tells them apart")
	}
}

// TestRemainingOfAGaussianAccountIsGranted: just what is said to remain fits, and no more.
func TestRemainingOfAGaussianAccountIsGranted(t *testing.T) {
	t.Parallel()
	b := gaussianAccount(1, 1e-6)
	spent := new(privacy.Amount)
	events := []privacy.Event{
		{Kind: privacy.Gaussian, Rho: privacy.RhoOf(0.01), DeltaTV: 1e-12, Count: 1},
		{Kind: privacy.Threshold, DeltaEvent: 3e-8, Count: 1},
		{Kind: privacy.Exponential, Epsilon: privacy.PureOf(0.02), Count: 3},
		{Kind: privacy.DiscreteGaussian, Rho: privacy.RhoOf(1e-4), Count: 1},
		{Kind: privacy.Laplace, Epsilon: privacy.PureOf(0.2), Count: 1},
	}
	for i := range len(events) + 1 {
		most := b.RemainingRho(spent, privacy.Tally{})
		fits := func(rho privacy.Rho) bool {
			after := *spent
			after.Plus(runOf(privacy.Event{Kind: privacy.Gaussian, Rho: rho, Count: 1}))
			return b.Fits(&after)
		}
		if most == 0 || !fits(most) || fits(most+privacy.RhoOf(1e-10)) {
			t.Errorf("after %d: ρ = %v is said to remain: fits %v, a little more %v", i, most.Float(), fits(most), fits(most+privacy.RhoOf(1e-10)))
		}
		if eps := b.Remaining(spent); privacy.RhoFor(eps, b.Delta) > most || privacy.RhoFor(eps*(1+1e-9), b.Delta) <= most {
			t.Errorf("after %d: ε = %v is said to remain of ρ = %v", i, eps, most.Float())
		}
		p := b.RemainingPure(spent)
		if p == 0 || !b.Fits(spent.With(privacy.PureLoss(p.Float()))) || b.Fits(spent.With(privacy.PureLoss(p.Float()+1e-9))) {
			t.Errorf("after %d: a pure ε of %v is said to remain", i, p.Float())
		}
		if i < len(events) {
			spent.Plus(runOf(events[i]))
		}
	}
	// slack beyond its share: nothing fits, whatever noise is left
	full := runOf(privacy.Event{Kind: privacy.Threshold, DeltaEvent: 1e-7, Count: 1})
	if b.Fits(full) || b.RemainingRho(full, privacy.Tally{}) != 0 {
		t.Error("a tenth of δ for events fits")
	}
}

// TestGaussianBudgetsAreChecked: one has an ε and a δ.
func TestGaussianBudgetsAreChecked(t *testing.T) {
	t.Parallel()
	good := gaussianAccount(1, 1e-6)
	if err := good.Check(); err != nil || good.Order == 0 || good.Kind() != GaussianAccount {
		t.Errorf("%v, order %v, kind %s", err, good.Order, good.Kind())
	}
	for name, change := range map[string]func(*Budget){
		"delta 0": func(b *Budget) { b.Delta = 0 },
		"rho":     func(b *Budget) { b.Epsilon, b.Rho = 0, 1 },
	} {
		b := good
		if change(&b); b.Check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	// the parts of δ add up to at most all of it, exactly
	for _, d := range []privacy.Delta{1e-6, 1e-12, 0.3, 0x1p-1000, 7e-5} {
		b := gaussianAccount(1, d)
		x := b.shares()
		if sum := float64(x.conversion) + float64(x.event) + float64(x.tv) + float64(b.part(gaussianShare)); sum > float64(d) {
			t.Errorf("δ = %v: parts of %v", d, sum)
		}
	}
}
