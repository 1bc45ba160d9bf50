package accounting

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/accounting/privacy"
)

// promised returns the δ that the boxes of a budget add up to, exactly, and checks that each is at an ε of at most the budget's.
func promised(t *testing.T, b Budget) *big.Rat {
	t.Helper()
	sum := new(big.Rat)
	for _, x := range b.boxes() {
		if !(x.epsilon >= 0) || x.epsilon > b.Epsilon {
			t.Errorf("%+v: a box at ε = %v", b, x.epsilon)
		}
		for _, d := range []privacy.Delta{x.conversion, x.event, x.tv} {
			sum.Add(sum, new(big.Rat).SetFloat64(float64(d)))
		}
	}
	return sum
}

// amountOf is a loss of which nothing else is known.
func amountOf(l privacy.Loss) *privacy.Amount { return (&privacy.Amount{}).With(l) }

// made returns a budget as the ledger makes it, with its Rényi order.
func made(eps privacy.Epsilon, delta privacy.Delta) Budget {
	b := Budget{Account: "t", Principal: All, Window: Never, Epsilon: eps, Delta: delta}
	b.Order = b.orderFor()
	return b
}

// limitFor returns an ε for a budget of δ that takes Gaussian noise of rho, and hardly more.
func limitFor(rho privacy.Rho, delta privacy.Delta) privacy.Epsilon {
	lo, hi := privacy.Epsilon(0), privacy.Epsilon(30)
	for hi-lo > 1e-9 {
		mid := (lo + hi) / 2
		if b := made(mid, delta); b.remainingRho(&privacy.Amount{}, privacy.Tally{}) < rho {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func eachBudget(f func(b Budget)) {
	r := rand.New(rand.NewPCG(1, 12))
	for range 2000 {
		f(Budget{Account: "t", Principal: All, Window: Never,
			Epsilon: privacy.Epsilon(math.Exp2(r.Float64()*30 - 10)), Delta: privacy.Delta(math.Exp2(-60 * r.Float64()))})
	}
}

// TestBoxesAreWithinTheBudget: whatever the budget, its promises add up to at most its δ, at ε of at most its own, and there is room for the
// slack of samplers in one.
func TestBoxesAreWithinTheBudget(t *testing.T) {
	eachBudget(func(b Budget) {
		if promised(t, b).Cmp(new(big.Rat).SetFloat64(float64(b.Delta))) > 0 {
			t.Errorf("%v %v: promises %+v", b.Epsilon, b.Delta, b.boxes())
		}
		if !b.fits(amountOf(privacy.Loss{Rho: 1, DeltaTV: samplers / 2})) {
			t.Errorf("%v %v: no room for samplers in %+v", b.Epsilon, b.Delta, b.boxes())
		}
	})
}

// TestBoxesGrantNoMoreThanTheCurve: what fits now is within what one conversion of everything at the budget's ε, or a smaller one, allows,
// which was the rule for budgets that were made before. So no such budget grants more than it did.
func TestBoxesGrantNoMoreThanTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 12))
	fit := 0
	eachBudget(func(b Budget) {
		top := privacy.RhoFor(b.Epsilon, b.Delta)
		for range 5 {
			l := privacy.Loss{Rho: privacy.Rho(float64(top) * r.Float64() * 1.2), DeltaEvent: float64(b.Delta) * r.Float64() / 2,
				DeltaTV: float64(b.Delta) / (1 + math.Exp(float64(b.Epsilon))) * r.Float64() / 2}
			if !b.fits(amountOf(l)) {
				continue
			}
			fit++
			l = privacy.TallyOf(l).Loss()
			if privacy.DeltaOf(l, b.Epsilon) > b.Delta && privacy.EpsilonOf(l, b.Delta) > b.Epsilon {
				t.Errorf("ε %v, δ %v: %+v fits, and has δ %v", b.Epsilon, b.Delta, l, privacy.DeltaOf(l, b.Epsilon))
			}
		}
	})
	if fit < 1000 {
		t.Errorf("%d losses that fit say little", fit)
	}
}

// TestSplitIsFixedBeforehand plays the dialogues that the caps are about: whatever is spent first of ρ and of slack, each goes up to its own
// cap and no further, so that no course of the dialogue ends outside of the one box.
func TestSplitIsFixedBeforehand(t *testing.T) {
	const eps, delta = 2, 1e-6
	b := made(eps, delta)
	kinds := []privacy.Loss{
		{Rho: b.remainingRho(&privacy.Amount{}, privacy.Tally{}) / 10},
		{DeltaEvent: delta * 3 / 160 * (1 - 1e-9)},
		{DeltaTV: delta / 320 / (1 + math.E*math.E) * (1 - 1e-9)},
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		l, _ := create1(t, nil)
		mustSet(t, l, "t", false, All, eps, delta, Never)
		for _, k := range order {
			n := 0
			for ; n < 100; n++ {
				if _, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: kinds[k]}}); errors.Is(err, ErrExhausted) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if n != 10 {
				t.Errorf("order %v: %d charges of kind %d fitted, want the 10 of its own cap", order, n, k)
			}
		}
	}
}

// TestSlackIsNamed: a refusal for the δ says so, and shows that the ρ would fit.
func TestSlackIsNamed(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, All, 2, 1e-6, Never)
	_, err := l.Reserve(context.Background(), Request{Principal: "a@%", Charges: []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1, DeltaEvent: 0.4e-6}}}})
	var x *ExhaustedError
	if !errors.As(err, &x) || !x.NoSlack {
		t.Errorf("the event's δ above its share: %v", err)
	}
	b := made(2, 1e-6)
	most := b.remainingRho(&privacy.Amount{}, privacy.Tally{})
	_, err = reserve(l, "a@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: privacy.RhoOf(3)}}})
	if !errors.As(err, &x) || x.NoSlack || x.RemainingRho != most {
		t.Errorf("too much ρ: %+v", x)
	}
}
