package contribute

import (
	"fmt"
	"math/big"
	"testing"

	"scrim/engine/collections/collect"
)

func TestParseEpsilon(t *testing.T) {
	for s, want := range map[string]string{"1": "1", "0.5": "0.5", "2.5000": "2.5", "007": "7", "0.0001": "0.0001", "0": "0"} {
		if e, err := ParseEpsilon(s); err != nil || e.String() != want {
			t.Errorf("%q: got %v, %v", s, e, err)
		}
	}
	for _, s := range []string{"", "-1", "+1", "1e1", "0.00001", ".5", "5.", "inf", "nan", "123456789", " 1"} {
		if e, err := ParseEpsilon(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, e)
		}
	}
}

func TestParseDelta(t *testing.T) {
	for s, want := range map[string]string{
		"0": "0", "1": "1", "0.1": "1e-1", "1e-9": "1e-9", "1e-09": "1e-9", "10e-7": "1e-6", "0.00000125": "1.25e-6",
		"1.2345678901234567e-15": "1.2345678901234567e-15",
	} {
		if d, err := ParseDelta(s); err != nil || d.String() != want {
			t.Errorf("%q: got %v, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "-1e-9", "1.1", "2", "1e9", "1e-33", "nan", "inf", "0x1p-9", "1/3", "1e-999", "1e999999999"} {
		if d, err := ParseDelta(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, d)
		}
	}
}

// TestSumsAreExact: ten times 0.1 is 1, and thousands of deltas add up to the last digit, where
// floats drift.
func TestSumsAreExact(t *testing.T) {
	var sum Loss
	var float float64
	want := new(big.Rat)
	for i := range 10_000 {
		x := 1e-9 + 1e-13*float64(i%7)
		d, err := deltaOf(x)
		if err != nil {
			t.Fatal(err)
		}
		sum = sum.Add(Loss{1_000, d})
		float += x
		r, _ := new(big.Rat).SetString(fmt.Sprint(x))
		want.Add(want, r)
	}
	if sum.Epsilon.String() != "1000" {
		t.Errorf("epsilon: got %v", sum.Epsilon)
	}
	if got := new(big.Rat).SetFrac(sum.Delta.units, oneDelta); got.Cmp(want) != 0 {
		t.Errorf("delta: got %v, want %v", got, want)
	}
	if asFloat, _ := deltaOf(float); asFloat.Cmp(sum.Delta) == 0 {
		t.Error("floats add up exactly here, so that this test says nothing")
	}
}

// TestCapIsReached: the sum may be the cap to the last digit, and not a digit more.
func TestCapIsReached(t *testing.T) {
	ten := Loss{}
	for range 10 {
		ten = ten.Add(caps(t, "0.1", "1e-10"))
	}
	if !ten.Within(caps(t, "1", "1e-9")) {
		t.Error("ten times 0.1 is beyond 1")
	}
	if ten.Within(caps(t, "0.9999", "1e-9")) || ten.Within(caps(t, "1", "0.99999999999999999e-9")) {
		t.Error("a cap just below is kept")
	}
}

func TestCosts(t *testing.T) {
	for _, x := range []struct {
		sample         string
		round          int
		epsilon, delta string
	}{
		{"bit", 1, "1", "0"}, {"kv1", 1, "0.5", "0"}, {"scm3 zcdp", 1, "1", "0"}, {"sum", 1, "1", "1e-9"},
		{"scm3 zcdp", 3, "4.8023", "1e-9"}, // 0.25 + 2·sqrt(0.25·ln 1e9) = 4.80228…, rounded up
	} {
		p, _ := roundOf(t, planned(t, x.sample, someUUID), x.round)
		got, err := CostOf(p)
		if err != nil || got.Epsilon.String() != x.epsilon || got.Delta.String() != x.delta {
			t.Errorf("%s, round %d: got %v, %v; want %s, %s", x.sample, x.round, got, err, x.epsilon, x.delta)
		}
	}
	if collect.WalletDelta != 1e-9 {
		t.Error("the last cost is for another delta")
	}
}
