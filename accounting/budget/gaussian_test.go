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
}

// TestGaussianAccountOfOtherStatements: what is not noise alone counts little more than its ρ, the
// less the more such statements a budget holds. As many as given here are admitted, of what the
// exact curve would of Gaussian noise, and by a budget of the other kind.
func TestGaussianAccountOfOtherStatements(t *testing.T) {
	t.Parallel()
	choice := func(rho float64) privacy.Event {
		return privacy.Event{Kind: privacy.Exponential, Epsilon: privacy.PureOf(math.Sqrt(8 * rho)), Count: 1}
	}
	shared := func(rho float64) privacy.Event {
		return privacy.Event{Kind: privacy.NoiseAndChoices, Rho: privacy.RhoOf(rho), Count: 1}
	}
	noise := func(rho float64) privacy.Event {
		return privacy.Event{Kind: privacy.Gaussian, Rho: privacy.RhoOf(rho), Count: 1}
	}
	coin := func(rho float64) privacy.Event {
		return privacy.Event{Kind: privacy.RandomizedResponse, Epsilon: privacy.PureOf(math.Sqrt(2 * rho)), Count: 1}
	}
	b, other := gaussianAccount(1, 1e-6), made(1, 1e-6)
	for _, c := range []struct {
		name                   string
		rho                    float64
		of                     []privacy.Event
		exact, admitted, other int
	}{
		{"noise and choices", 2.81e-3, []privacy.Event{shared(2.81e-3)}, 9, 8, 8},
		{"noise and choices", 2.81e-4, []privacy.Event{shared(2.81e-4)}, 99, 96, 80},
		{"noise and choices", 1e-5, []privacy.Event{shared(1e-5)}, 2801, 2743, 2270},
		{"noise with a choice", 1e-4, []privacy.Event{noise(9e-5), choice(1e-5)}, 280, 274, 227},
		{"choices", 1e-4, []privacy.Event{choice(1e-4)}, 280, 272, 227},
		{"pure ones of .0141", 1e-4, []privacy.Event{coin(1e-4)}, 280, 272, 228},
	} {
		one := new(privacy.Amount)
		for _, e := range c.of {
			one.Plus(runOf(e))
		}
		exact := holdsExactly(&b, privacy.RhoOf(c.rho))
		got, was := b.Holds(new(privacy.Amount), one), other.Holds(new(privacy.Amount), one)
		t.Logf("%s at ρ %v: exact %d, Gaussian account %d (%.1f %%), other %d", c.name, c.rho, exact, got, 100*float64(got)/float64(exact), was)
		if exact != c.exact || got != c.admitted || was != c.other {
			t.Errorf("%s at ρ %v: %d of %d, and %d; want %d of %d, and %d", c.name, c.rho, got, exact, was, c.admitted, c.exact, c.other)
		}
	}
	// pure ones of a small ε, and then noise
	for _, c := range []struct {
		s               session
		admitted, other int
	}{
		{session{pure: 0.03, rho: 1e-4, before: 5}, 251, 211},
		{session{pure: 0.05, rho: 1e-4, before: 10}, 143, 139},
	} {
		got, was := c.s.admitsOf(&b, privacy.Laplace, privacy.Gaussian), c.s.admits(&other, privacy.Laplace)
		if got != c.admitted || was != c.other {
			t.Errorf("%d of %v first: %d, and %d; want %d, and %d", c.s.before, c.s.pure, got, was, c.admitted, c.other)
		}
	}
}

// play returns the mean, over what Gaussian noise of rho has told, of the most that one of the
// others can reach from there, at a threshold of ε.
func play(eps, rho float64, then ...func(eps float64) float64) float64 {
	const step = 1. / 32
	mu, sum := math.Sqrt(2*rho), 0.0
	for z := -10.0; z < 10; z += step {
		most := 0.0
		for _, f := range then {
			most = max(most, f(eps-mu*(z+mu/2)))
		}
		sum += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * most
	}
	return sum
}

// TestNoFilterAdmitsBoth: a filter that admits what a Gaussian account does of noise, and as much
// of mixed sessions as an account of the other kind, lets an analyst who waits for what noise tells
// before they choose reach more of δ than the account has for anything but slack. So no division of
// δ among tests gives both.
func TestNoFilterAdmitsBoth(t *testing.T) {
	t.Parallel()
	const delta, noise = 1e-6, 97 * 2.81e-4
	one, five := responseLaw(0.3), responseLaw(0.1).times(5)
	more := func(rho float64) func(float64) float64 {
		return func(eps float64) float64 { return lossLaw{0, []float64{1}}.delta(eps, rho) }
	}
	alone := func(l lossLaw) func(float64) float64 {
		return func(eps float64) float64 { return l.delta(eps, 0) }
	}
	// noise to where five pure ones may follow, then to where one may, and then the rest of it
	first, second := (97-5)*1e-4, (129-1)*1e-4
	got := play(1, first, alone(five), func(eps float64) float64 { return play(eps, second-first, more(noise-second), alone(one)) })
	t.Logf("of δ: noise alone %.3g, the mixed sessions %.3g and %.3g, the best of the three as it goes %.3g",
		more(noise)(1)/delta, one.delta(1, second)/delta, five.delta(1, first)/delta, got/delta)
	b := gaussianAccount(1, delta)
	if room := float64(b.part(gaussianShare) + b.part(2./32)); got <= room || got > delta {
		t.Errorf("%v of δ, of which %v is not for slack: both could be had", got/delta, room/delta)
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
