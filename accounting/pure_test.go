package accounting

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// pure is a charge of one table account that is ε-DP.
func pure(account string, eps float64) []Charge {
	return []Charge{{Account: account, Table: "db." + account, Loss: PureLoss(eps)}}
}

// TestPureChargesAddUpExactly: the sum reaches the cap to the last unit, and nothing fits beyond it, also after reopening.
func TestPureChargesAddUpExactly(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, All, 4, 0, Never)
	for range 3 {
		mustReserve(t, l, "a@%", pure("t", 1))
	}
	mustReserve(t, l, "b@%", pure("t", 1-PureUnit))
	l.Close()
	l = open(t, path, Options{})
	if got := spentOn(l, "t", false, All).pure; got != 4<<40-1 {
		t.Fatalf("spent %d units", got)
	}
	var x *ExhaustedError
	if _, err := reserve(l, "a@%", pure("t", 2*PureUnit)); !errors.As(err, &x) {
		t.Fatalf("one unit over the cap: %v", err)
	}
	if x.Requested != 2*PureUnit || x.Remaining != PureUnit || x.NotPure || x.SpentNotPure || x.Scope != All {
		t.Errorf("the refusal says %+v", x)
	}
	mustReserve(t, l, "a@%", pure("t", PureUnit))
	if _, err := reserve(l, "a@%", pure("t", PureUnit)); !errors.Is(err, ErrExhausted) {
		t.Errorf("beyond the cap: %v", err)
	}
	mustReserve(t, l, "a@%", []Charge{{Account: "t"}}) // no loss always fits
	st, err := l.Status(nil)
	if b := st.Budgets[0]; err != nil || b.SpentEpsilon != 4 || b.Remaining != 0 || b.RemainingRho != 0 || b.Spent.Pure != 4<<40 {
		t.Errorf("%v: %+v", err, b)
	}
	es, err := l.Entries(context.Background(), Filter{Account: "t", Principal: "b@%"})
	if err != nil || len(es) != 1 || es[0].Charges[0].Loss != PureLoss(1-PureUnit) || es[0].Charges[0].RemainingAll() != PureUnit {
		t.Errorf("%v: %+v", err, es)
	}
}

// TestPureAccountRefusesOthers: a charge without a pure ε never fits, whatever its size, and one that the window holds closes the account
// until the window ends.
func TestPureAccountRefusesOthers(t *testing.T) {
	k := newClock("2026-01-01 00:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, All, 100, 0, Month)
	for _, loss := range []Loss{{Rho: 1}, {DeltaEvent: 1e-30}, {DeltaTV: 1e-30}, PureLoss(1).Add(Loss{Rho: 1}), Loss{DeltaTV: 1e-30}.Add(PureLoss(1))} {
		var x *ExhaustedError
		if _, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: loss}}); !errors.As(err, &x) || !x.NotPure || x.SpentNotPure || !math.IsInf(float64(x.Requested), 1) {
			t.Errorf("%+v: %v", loss, err)
		}
	}
	// Two charges of one statement are one.
	both := append(pure("t", 1), Charge{Account: "t", Loss: Loss{Rho: 1}})
	if _, err := reserve(l, "a@%", both); !errors.Is(err, ErrExhausted) {
		t.Errorf("a pure and another part: %v", err)
	}
	mustReserve(t, l, "a@%", append(pure("t", 1), pure("t", 2)...))
	if got := spentOn(l, "t", false, "a@%"); got.pure != 3<<40 {
		t.Errorf("spent %+v", got)
	}
	mustSet(t, l, "t", false, All, 100, 1e-6, Month)
	mustReserve(t, l, "a@%", rho("t", 0.01))
	mustSet(t, l, "t", false, All, 100, 0, Month)
	var x *ExhaustedError
	if _, err := reserve(l, "a@%", pure("t", 0.1)); !errors.As(err, &x) || !x.SpentNotPure || x.NotPure || x.Remaining != 0 {
		t.Errorf("after a Gaussian mechanism: %v", err)
	}
	k.set("2026-02-01 00:00:00")
	mustReserve(t, l, "a@%", pure("t", 100))
}

// TestPureAndOtherBudgets: each budget is tested by its own rule.
func TestPureAndOtherBudgets(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, All, 1, 0, Never)
	mustSet(t, l, "t", false, "a@%", 5, 1e-6, Never)
	mustSet(t, l, "e", true, Default, 0.5, 0, Never)
	if _, err := reserve(l, "a@%", rho("t", 1e-6)); !errors.Is(err, ErrExhausted) {
		t.Errorf("not pure, under '*': %v", err)
	}
	mustReserve(t, l, "a@%", pure("t", 0.5))
	entity := []Charge{pure("t", 0.25)[0], {Account: "e", Entity: true, Loss: PureLoss(0.25)}}
	mustReserve(t, l, "a@%", entity)
	var x *ExhaustedError
	if _, err := reserve(l, "b@%", pure("t", 0.5)); !errors.As(err, &x) || x.Scope != All {
		t.Errorf("over '*': %v", err)
	}
	mustReserve(t, l, "b@%", entity)
	for _, c := range []struct {
		account string
		entity  bool
		who     string
		want    bool
	}{{"t", false, "a@%", true}, {"t", false, "b@%", true}, {"e", true, "a@%", true}, {"u", false, "a@%", false}, {"t", true, "a@%", false}} {
		if got := l.Pure(c.account, c.entity, c.who); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	mustSet(t, l, "e", true, "a@%", 0.5, 1e-9, Never)
	if l.Pure("e", true, "a@%") || !l.Pure("e", true, "b@%") {
		t.Error("an own budget takes the place of the default")
	}
}

// TestPureUnderADelta: where δ > 0 a sum of pure ε passes that would be too much as ρ, and one that holds another charge does not.
func TestPureUnderADelta(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, All, 3, 1e-9, Never)
	if DeltaOf(Loss{Rho: PureLoss(2).Rho}, 3) <= 1e-9 {
		t.Fatal("the loss fits as rho, too: the test says nothing")
	}
	mustReserve(t, l, "a@%", pure("t", 2))
	if _, err := reserve(l, "a@%", rho("t", 1e-6)); !errors.Is(err, ErrExhausted) {
		t.Errorf("a Gaussian mechanism after pure ones: %v", err)
	}
	mustReserve(t, l, "a@%", pure("t", 1))
	if _, err := reserve(l, "a@%", pure("t", PureUnit)); !errors.Is(err, ErrExhausted) {
		t.Errorf("over the sum: %v", err)
	}
}

// TestPureComposition: composing losses is associative and commutative, with the zero loss as identity and a loss without a pure ε
// as an end of all.
func TestPureComposition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	pool := []Loss{{}, PureLoss(0.5), PureLoss(1e-3), BoundedRangeLoss(2), {Rho: 1}, {DeltaEvent: 1e-9}, {DeltaTV: 1e-30}, {Rho: MaxRho, Pure: MaxPure}}
	for range 2000 {
		var parts []Loss
		for range r.IntN(6) {
			parts = append(parts, pool[r.IntN(len(pool))])
		}
		want := Pure(0)
		for _, l := range parts {
			want = want.Add(l.Pure)
		}
		if slices.ContainsFunc(parts, func(l Loss) bool { return !l.IsPure() }) {
			want = 0
		}
		var all Loss
		left, split := tally{}, r.IntN(len(parts)+1)
		for _, l := range parts {
			all = all.Add(l)
		}
		for _, l := range parts[:split] {
			left = left.add(tallyOf(l))
		}
		right := tally{}
		for _, l := range parts[split:] {
			right = tallyOf(l).add(right)
		}
		if got := left.add(right); all.Pure != want || got.pure != want || right.add(left) != got {
			t.Fatalf("%+v: %d and %d, want %d", parts, all.Pure, got.pure, want)
		}
	}
	if l := PureLoss(0.1); l.Times(0) != (Loss{}) || l.Times(3).Pure != 3*l.Pure || (Loss{Rho: 1}).Times(3).Pure != 0 {
		t.Error("times")
	}
	if l := (Loss{Rho: MaxRho, Pure: MaxPure}).Times(1 << 20); l.Pure != math.MaxUint64 || DeltaOf(l, MaxEpsilon) != 1 || l.Pure <= PureWithin(Epsilon(math.MaxFloat64)) {
		t.Error("a saturated sum counts as a number")
	}
}

// TestPureConversion: the pure ε is an upper bound at every δ, compared in fixed point.
func TestPureConversion(t *testing.T) {
	l := PureLoss(0.75)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"rho of a pure loss", l.Rho.Float(), 0.28125 + RhoUnit}, // rounded up twice
		{"rho of a bounded-range loss", BoundedRangeLoss(0.75).Rho.Float(), 0.0703125 + RhoUnit},
		{"rho of a large epsilon", PureLoss(100).Rho.Float(), 100},
		{"rho of the largest epsilon", PureLoss(1e6).Rho.Float(), 1e6},
		{"delta at its epsilon", float64(DeltaOf(l, 0.75)), 0},
		{"epsilon at delta 0", float64(EpsilonOf(l, 0)), 0.75},
		{"epsilon at a small delta", float64(EpsilonOf(l, 1e-30)), 0.75},
		{"epsilon at a large delta", float64(EpsilonOf(l, 0.3)), float64(EpsilonOf(Loss{Rho: l.Rho}, 0.3))},
		{"delta under its epsilon", float64(DeltaOf(l, 0.75-1e-9)), float64(DeltaOf(Loss{Rho: l.Rho}, 0.75-1e-9))},
		{"rounded up", float64(PureOf(0.1)), math.Ceil(0.1 * (1 << 40))},
		{"rounded down", float64(PureWithin(0.1)), math.Floor(0.1 * (1 << 40))},
		{"within nothing", float64(PureWithin(Epsilon(math.NaN()))), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("PureOf(%v) gave a number", eps)
				}
			}()
			PureOf(eps)
		}()
	}
}

// TestPureRace: many at once never pass the cap, and reach it.
func TestPureRace(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, All, 10, 0, Never)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				_, err := l.Reserve(context.Background(), Request{Principal: "a@%", Charges: pure("t", 0.125)})
				if err != nil && !errors.Is(err, ErrExhausted) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := spentOn(l, "t", false, All).pure; got != 10<<40 {
		t.Errorf("spent %v", got.Float())
	}
}
