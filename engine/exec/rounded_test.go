package exec

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// undiscrete is a source of bits that draws no discrete Gaussian noise.
type undiscrete struct{ noise.Noiser }

func (undiscrete) Gaussian(_, _ *big.Int) *big.Int { panic("discrete Gaussian noise was drawn") }

func (undiscrete) GaussianInt(int64, noise.Variance) int64 {
	panic("discrete Gaussian noise was drawn")
}

// TestAGaussianAccountDrawsRoundedNoise: where a budget is a Gaussian account all noise, that of
// the selection of keys as well, is drawn as rounded normal numbers, and the ledger says so;
// otherwise none is.
func TestAGaussianAccountDrawsRoundedNoise(t *testing.T) {
	s, l := fixture(t)
	x := executor(s, l)
	x.Noise = func() noise.Noiser { return undiscrete{stattest.Noiser(t, "bits")} }
	for _, private := range []bool{false, true} {
		st, r := counts(t, 1, private)
		if _, err := ask(t, x, st, r); err == nil {
			t.Errorf("private keys %v: an account of ρ drew no discrete noise", private)
		}
	}
	b := budget.Budget{Account: "visits", Principal: "ann@%", Epsilon: 20, Delta: 1e-5, Window: budget.Never, Gaussian: true}
	if err := l.SetBudget(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if err := l.ResetBudget(context.Background(), "visits", false, "ann@%", "root", "a test"); err != nil {
		t.Fatal(err)
	}
	for _, private := range []bool{false, true} {
		st, r := counts(t, 2, private)
		r.Key = fmt.Sprint("rounded", private)
		rows, err := ask(t, x, st, r)
		if err != nil || len(rows) == 0 {
			t.Fatalf("private keys %v: %v, %v", private, rows, err)
		}
	}
	entries, err := l.Entries(context.Background(), accounting.Filter{Principal: "ann@%", Kinds: []accounting.EntryKind{accounting.ChargeEntry}})
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	kinds := map[privacy.EventKind]int{}
	for _, e := range entries {
		for _, event := range e.Charges[0].Events {
			kinds[event.Kind] += int(event.Count)
		}
	}
	if kinds[privacy.Gaussian] != 5 || kinds[privacy.DiscreteGaussian] != 3 || kinds[privacy.Threshold] != 2 {
		t.Errorf("charged as %v", kinds)
	}
	status, err := l.Status(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range status.Budgets {
		if half, ok := b.SpentCurve.GDP(); b.Holder == "ann@%" && (!ok || half != privacy.RhoOf(5)) {
			t.Errorf("spent μ²/2 = %v, %v", half.Float(), ok)
		}
	}
}
