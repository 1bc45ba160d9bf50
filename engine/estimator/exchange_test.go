package estimator_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// exchanged returns the largest loss of an estimator for add-remove between random small databases
// in which one person who is present on both sides is exchanged for another.
func exchanged(t *testing.T, v variant, e estimator.Estimator, tries int) *big.Rat {
	r := rand.New(stattest.Source(t, "exchange"+v.name))
	n := stattest.Noiser(t, "exchange noise"+v.name)
	present := func(p person) person {
		if p.rows < 1 {
			p.rows = 1
		}
		return p
	}
	worst := new(big.Rat)
	for range tries {
		db := database(r, v, e, true)
		full := &stattest.Recorder{Answer: answers(r, n, true, e.MinPersons())}
		e.Release(full, input(e, db, v.p.MaxRows))
		for k := range db {
			for _, other := range []person{mirror(db[k]), anyone(r), anyone(r)} {
				next := slices.Clone(db)
				next[k] = present(other)
				replay := full.Replay(t)
				e.Release(replay, input(e, next, v.p.MaxRows))
				if l := stattest.Loss(t, full, replay); l.Cmp(worst) > 0 {
					worst = l
				}
			}
		}
	}
	return worst
}

// TestExchangesCostWhatIsSaid: where an estimator for add-remove runs in several groups, an
// exchange costs no more than ExchangeCost. Of the estimators that say that it costs them less than
// group privacy does, the worst exchange is at least half of that, or nothing would be checked.
func TestExchangesCostWhatIsSaid(t *testing.T) {
	const rho = 0.05
	less := 0
	for _, v := range under(estimator.AddRemove, false) {
		e := v.at(t, rho)
		parts := estimator.ExchangeCost(e)
		if parts < 4*estimator.ExchangeParts {
			less++
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			if parts < 2*estimator.ExchangeParts || parts > 4*estimator.ExchangeParts {
				t.Fatalf("an exchange costs %d/%d", parts, estimator.ExchangeParts)
			}
			said := new(big.Rat).SetFrac64(int64(parts), estimator.ExchangeParts)
			said.Mul(said, new(big.Rat).SetFloat64(e.Loss().Rho.Float()))
			worst := exchanged(t, v, e, stattest.Runs(20, 40))
			if worst.Cmp(said) > 0 {
				t.Errorf("an exchange costs %v, and is said to cost %v", worst.FloatString(9), said.FloatString(9))
			}
			ratio, _ := new(big.Rat).Quo(worst, said).Float64()
			t.Logf("%.3g times the loss, of which the worst exchange uses %.3f", float64(parts)/estimator.ExchangeParts, ratio)
			if ratio < 0.2 && parts < 4*estimator.ExchangeParts && parts > 2*estimator.ExchangeParts {
				t.Errorf("the worst exchange uses %.3f of what is said", ratio)
			}
		})
	}
	if less < 20 {
		t.Errorf("%d estimators say that an exchange costs less than group privacy does", less)
	}
}

// TestAnExchangeOfCountsAndSumsOfOneSign: these cost no more than one person who leaves a group and
// enters another.
func TestAnExchangeOfCountsAndSumsOfOneSign(t *testing.T) {
	for _, v := range under(estimator.AddRemove, false) {
		parts := estimator.ExchangeCost(v.at(t, 0.05))
		switch {
		case !v.grid && parts != 2*estimator.ExchangeParts:
			t.Errorf("%s: %d/%d", v.name, parts, estimator.ExchangeParts)
		case v.grid && v.p.Bounded() && v.name[:3] == "sum" && v.p.MaxRows > 0 && parts >= 3*estimator.ExchangeParts: // −3 to 10
			t.Errorf("%s: %d/%d", v.name, parts, estimator.ExchangeParts)
		}
	}
}
