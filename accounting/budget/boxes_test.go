package budget

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/accounting/privacy"
)

// promised returns the δ that the boxes of a budget add up to, exactly, and checks that each is at
// an ε of at most the budget's.
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
	b.Order = b.ChooseOrder()
	return b
}

func eachBudget(f func(b Budget)) {
	r := rand.New(rand.NewPCG(1, 12))
	for range 2000 {
		f(Budget{Account: "t", Principal: All, Window: Never,
			Epsilon: privacy.Epsilon(math.Exp2(r.Float64()*30 - 10)), Delta: privacy.Delta(math.Exp2(-60 * r.Float64()))})
	}
}

// TestBoxesAreWithinTheBudget: whatever the budget, its promises add up to at most its δ, at ε of
// at most its own, and there is room for the slack of samplers in one.
func TestBoxesAreWithinTheBudget(t *testing.T) {
	eachBudget(func(b Budget) {
		if promised(t, b).Cmp(new(big.Rat).SetFloat64(float64(b.Delta))) > 0 {
			t.Errorf("%v %v: promises %+v", b.Epsilon, b.Delta, b.boxes())
		}
		if !b.Fits(amountOf(privacy.Loss{Rho: 1, DeltaTV: privacy.SamplerSlack / 2})) {
			t.Errorf("%v %v: no room for samplers in %+v", b.Epsilon, b.Delta, b.boxes())
		}
	})
}

// TestBoxesGrantNoMoreThanTheCurve: what fits now is within what one conversion of everything at
// the budget's ε, or a smaller one, allows, which was the rule for budgets that were made before.
// So no such budget grants more than it did.
func TestBoxesGrantNoMoreThanTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 12))
	fit := 0
	eachBudget(func(b Budget) {
		top := privacy.RhoFor(b.Epsilon, b.Delta)
		for range 5 {
			l := privacy.Loss{Rho: privacy.Rho(float64(top) * r.Float64() * 1.2), DeltaEvent: float64(b.Delta) * r.Float64() / 2,
				DeltaTV: float64(b.Delta) / (1 + math.Exp(float64(b.Epsilon))) * r.Float64() / 2}
			if !b.Fits(amountOf(l)) {
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
