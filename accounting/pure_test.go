package accounting

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// pure is a charge of one table account that is ε-DP.
func pure(account string, eps float64) []Charge {
	return []Charge{{Account: account, Table: "db." + account, Loss: privacy.PureLoss(eps)}}
}

// TestPureChargesAddUpExactly: the sum reaches the cap to the last unit, and nothing fits beyond
// it, also after reopening.
func TestPureChargesAddUpExactly(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 4, 0, budget.Never)
	for range 3 {
		mustReserve(t, l, "a@%", pure("t", 1))
	}
	mustReserve(t, l, "b@%", pure("t", 1-privacy.PureUnit))
	l.Close()
	l = open(t, path, Options{})
	if got := spentOn(l, "t", false, budget.All).Pure; got != 4<<40-1 {
		t.Fatalf("spent %d units", got)
	}
	var x *ExhaustedError
	if _, err := reserve(l, "a@%", pure("t", 2*privacy.PureUnit)); !errors.As(err, &x) {
		t.Fatalf("one unit over the cap: %v", err)
	}
	if x.Requested != 2*privacy.PureUnit || x.Remaining != privacy.PureUnit || x.NotPure || x.SpentNotPure || x.Scope != budget.All {
		t.Errorf("the refusal says %+v", x)
	}
	mustReserve(t, l, "a@%", pure("t", privacy.PureUnit))
	if _, err := reserve(l, "a@%", pure("t", privacy.PureUnit)); !errors.Is(err, ErrExhausted) {
		t.Errorf("beyond the cap: %v", err)
	}
	mustReserve(t, l, "a@%", []Charge{{Account: "t"}}) // no loss always fits
	st, err := l.Status(nil)
	if b := st.Budgets[0]; err != nil || b.SpentEpsilon != 4 || b.Remaining != 0 || b.RemainingRho != 0 || b.Spent.Pure != 4<<40 {
		t.Errorf("%v: %+v", err, b)
	}
	es, err := l.Entries(context.Background(), Filter{Account: "t", Principal: "b@%"})
	if err != nil || len(es) != 1 || es[0].Charges[0].Loss != privacy.PureLoss(1-privacy.PureUnit) || es[0].Charges[0].RemainingAll() != privacy.PureUnit {
		t.Errorf("%v: %+v", err, es)
	}
}

// TestPureAccountRefusesOthers: a charge without a pure ε never fits, whatever its size, and one
// that the window holds closes the account until the window ends.
func TestPureAccountRefusesOthers(t *testing.T) {
	k := newClock("2026-01-01 00:00:00")
	l, _ := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 100, 0, budget.Month)
	for _, loss := range []privacy.Loss{{Rho: 1}, {DeltaEvent: 1e-30}, {DeltaTV: 1e-30}, privacy.PureLoss(1).Add(privacy.Loss{Rho: 1}), privacy.Loss{DeltaTV: 1e-30}.Add(privacy.PureLoss(1))} {
		var x *ExhaustedError
		if _, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: loss}}); !errors.As(err, &x) || !x.NotPure || x.SpentNotPure || !math.IsInf(float64(x.Requested), 1) {
			t.Errorf("%+v: %v", loss, err)
		}
	}
	// Two charges of one statement are one.
	both := append(pure("t", 1), Charge{Account: "t", Loss: privacy.Loss{Rho: 1}})
	if _, err := reserve(l, "a@%", both); !errors.Is(err, ErrExhausted) {
		t.Errorf("a pure and another part: %v", err)
	}
	mustReserve(t, l, "a@%", append(pure("t", 1), pure("t", 2)...))
	if got := spentOn(l, "t", false, "a@%"); got.Pure != 3<<40 {
		t.Errorf("spent %+v", got)
	}
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Month)
	mustReserve(t, l, "a@%", rho("t", 0.01))
	mustSet(t, l, "t", false, budget.All, 100, 0, budget.Month)
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
	mustSet(t, l, "t", false, budget.All, 1, 0, budget.Never)
	mustSet(t, l, "t", false, "a@%", 5, 1e-6, budget.Never)
	mustSet(t, l, "e", true, budget.Default, 0.5, 0, budget.Never)
	if _, err := reserve(l, "a@%", rho("t", 1e-6)); !errors.Is(err, ErrExhausted) {
		t.Errorf("not pure, under '*': %v", err)
	}
	mustReserve(t, l, "a@%", pure("t", 0.5))
	entity := []Charge{pure("t", 0.25)[0], {Account: "e", Entity: true, Loss: privacy.PureLoss(0.25)}}
	mustReserve(t, l, "a@%", entity)
	var x *ExhaustedError
	if _, err := reserve(l, "b@%", pure("t", 0.5)); !errors.As(err, &x) || x.Scope != budget.All {
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
	mustSet(t, l, "e", true, "a@%", 0.5, 1e-9, budget.Never)
	if l.Pure("e", true, "a@%") || !l.Pure("e", true, "b@%") {
		t.Error("an own budget takes the place of the default")
	}
}

// TestPureUnderADelta: where δ > 0 a sum of pure ε passes that would be too much as ρ, and one that
// holds another charge does not.
func TestPureUnderADelta(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 3, 1e-9, budget.Never)
	if privacy.DeltaOf(privacy.Loss{Rho: privacy.PureLoss(2).Rho}, 3) <= 1e-9 {
		t.Fatal("the loss fits as rho, too: the test says nothing")
	}
	mustReserve(t, l, "a@%", pure("t", 2))
	if _, err := reserve(l, "a@%", rho("t", 1e-6)); !errors.Is(err, ErrExhausted) {
		t.Errorf("a Gaussian mechanism after pure ones: %v", err)
	}
	mustReserve(t, l, "a@%", pure("t", 1))
	if _, err := reserve(l, "a@%", pure("t", privacy.PureUnit)); !errors.Is(err, ErrExhausted) {
		t.Errorf("over the sum: %v", err)
	}
}

// TestPureRace: many at once never pass the cap, and reach it.
func TestPureRace(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 10, 0, budget.Never)
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
	if got := spentOn(l, "t", false, budget.All).Pure; got != 10<<40 {
		t.Errorf("spent %v", got.Float())
	}
}
