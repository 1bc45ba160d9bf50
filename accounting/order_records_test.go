package accounting

import (
	"encoding/hex"
	"errors"
	"math"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/codec"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// setWithout writes a record of a budget as it was before orders were chosen.
func setWithout(t *testing.T, l *Ledger, eps privacy.Epsilon, delta privacy.Delta) {
	t.Helper()
	b := budget.Budget{Account: "t", Principal: budget.All, Epsilon: eps, Delta: delta, Window: budget.Never}
	if err := l.record(t.Context(), &record.Record{Kind: record.SetBudget, Principal: "root@%", Budget: b}); err != nil {
		t.Fatal(err)
	}
}

// TestBudgetsWithoutAnOrder: a ledger with budgets that were made before orders were chosen opens
// with all that was spent. They go on by the test that they were made under, whatever that has
// granted; set again they have an order, and everything counts.
func TestBudgetsWithoutAnOrder(t *testing.T) {
	l, path := create1(t, nil)
	setWithout(t, l, 1, 1e-6)
	half := privacy.RhoFor(1, 0.5e-6)
	mustReserve(t, l, "a@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: half, DeltaEvent: 0.3e-6}}})
	spent := spentOn(l, "t", false, budget.All)
	again := func(want float64) {
		t.Helper()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = open(t, path, Options{})
		b := l.Budgets()[0]
		if b.Order != want || b.Epsilon != 1 || b.Delta != 1e-6 || spentOn(l, "t", false, budget.All) != spent {
			t.Errorf("reopened: %+v, order %v, spent %+v", b, b.Order, spentOn(l, "t", false, budget.All))
		}
	}
	again(0)
	// More than an order would have let pass, of ρ and of event δ, is exhausted and no error.
	order := budgetOf(1, 1e-6).Order
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Never)
	again(order)
	st, err := l.Status(nil)
	if b := st.Budgets[0]; err != nil || b.Remaining != 0 || b.RemainingRho != 0 || b.RemainingPure != 0 || b.Spent.Rho != half {
		t.Errorf("%v: %+v", err, b)
	}
	for _, c := range [][]Charge{rho("t", 1e-9), pure("t", 1e-9)} {
		if _, err := reserve(l, "b@%", c); !errors.Is(err, ErrExhausted) {
			t.Errorf("an exhausted budget: %v", err)
		}
	}
	// Pure charges and Gaussian ones go by the order from here on.
	if err := l.ResetBudget(t.Context(), "t", false, budget.All, "root@%", "again"); err != nil {
		t.Fatal(err)
	}
	setWithout(t, l, 1, 1e-6)
	mustReserve(t, l, "a@%", pure("t", 0.5))
	if _, err := reserve(l, "a@%", rho("t", 1e-6)); !errors.Is(err, ErrExhausted) {
		t.Errorf("without an order, after pure charges: %v", err)
	}
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Never)
	mustReserve(t, l, "a@%", rho("t", 1e-3))
}

// TestBudgetRecords: the record of a budget without an order is, byte for byte, what the first
// program of this format wrote, and reads back; so does one with an order. An order that is none is
// refused.
func TestBudgetRecords(t *testing.T) {
	const old = "0400000000000000050000000706726f6f74402501740001" + "2a" + "0162" + "3ff0000000000000" + "0000000000000000" + "3eb0c6f7a0b5ed8d" + "056e65766572"
	r := &record.Record{Kind: record.SetBudget, At: time.Unix(0, 5).UTC(), Day: 7, Principal: "root@%",
		Budget: budget.Budget{Account: "t", Principal: budget.All, Epsilon: 1, Delta: 1e-6, Window: budget.Never, Reason: "b", SetBy: "root@%", SetAt: time.Unix(0, 5).UTC()}}
	if got := hex.EncodeToString(r.Encode(nil)); got != old {
		t.Errorf("%s, want %s", got, old)
	}
	for _, order := range []float64{0, 28.1875, 1 + budget.MinBeta, 1 + budget.MaxBeta} {
		r.Budget.Order = order
		got, err := record.Decode(r.Encode(nil))
		if err != nil || got.Budget != r.Budget {
			t.Errorf("order %v: %+v, %v", order, got, err)
		}
	}
	payload, err := hex.DecodeString(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []float64{0, 1, 0.5, -3, math.NaN(), math.Inf(1), 1 + 2*budget.MaxBeta} {
		if _, err := record.Decode(codec.AppendFloat(payload, order)); err == nil {
			t.Errorf("order %v is taken", order)
		}
	}
	r.Budget.Order, r.Budget.Gaussian = 28, true
	encoded := r.Encode(nil)
	if got, err := record.Decode(encoded); err != nil || got.Budget != r.Budget {
		t.Errorf("a Gaussian account: %+v, %v", got, err)
	}
	for name, bad := range map[string][]byte{
		"a mark of 0": append(encoded[:len(encoded)-1:len(encoded)-1], 0), "a mark of 2": append(encoded[:len(encoded)-1:len(encoded)-1], 2), "two marks": append(encoded[:len(encoded):len(encoded)], 1),
	} {
		if _, err := record.Decode(bad); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	r.Budget.Gaussian, r.Budget.Delta = false, 0
	if _, err := record.Decode(r.Encode(nil)); err == nil {
		t.Error("a pure budget has an order")
	}
}
