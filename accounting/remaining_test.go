package accounting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
)

// anyCharge is a charge of some kind, of about a size.
func anyCharge(r *rand.Rand, b *budget.Budget, size float64) Charge {
	eps := float64(b.Epsilon) * size * r.Float64()
	rho := privacy.RhoFor(privacy.Epsilon(eps), b.Delta)
	c := Charge{Account: "t", Table: "db.t"}
	switch kind := r.IntN(6); {
	case b.Delta == 0 || kind < 2:
		e := privacy.Event{Kind: []privacy.EventKind{privacy.Laplace, privacy.RandomizedResponse, privacy.Exponential}[r.IntN(3)], Epsilon: privacy.PureOf(eps + 1e-9), Count: 1}
		c.Loss, c.Events = e.Loss(), []privacy.Event{e}
	case kind == 2:
		c.Loss = privacy.Loss{Rho: rho, DeltaEvent: float64(b.Delta) * r.Float64() / 100, DeltaTV: 0x1p-100}
	case kind == 3:
		c.Loss = privacy.Loss{Rho: rho, Pure: privacy.PureOf(eps + 1e-9)}
	default:
		c.Loss = privacy.Loss{Rho: rho}
	}
	return c
}

// TestRemainingIsGranted plays random histories: at any time a statement that asks for what is
// shown as remaining is granted, of Gaussian noise or of a pure ε, and one that asks for a
// hundredth more is not, nor one of the smallest step more.
func TestRemainingIsGranted(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		epsilon privacy.Epsilon
		delta   privacy.Delta
	}{{1, 1e-6}, {8, 1e-6}, {0.2, 1e-9}, {4, 1e-3}, {50, 1e-6}, {2, 0}, {1, 1e-12}, {0.01, 1e-5}} {
		t.Run(fmt.Sprint(c.epsilon, c.delta), func(t *testing.T) {
			for seed := range uint64(6) {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				k := newClock("2026-01-28 00:00:00")
				l, _ := create1(t, k)
				mustSet(t, l, "t", false, budget.All, c.epsilon, c.delta, budget.Never)
				size := math.Exp2(-5 * r.Float64())
				for range 25 {
					st, err := l.Status(nil)
					if err != nil {
						t.Fatal(err)
					}
					b := &st.Budgets[0]
					spent := l.state.Of(state.Holder{Account: "t", Principal: budget.All}).Over(nil, b.Window, budget.DateOf(k.now()))[0].Spent
					grants := func(what string, loss privacy.Loss, want bool) {
						t.Helper()
						if got := b.Budget.Fits(spent.With(loss)); got != want {
							t.Fatalf("seed %d: with remaining ε %v, pure ε %v and ρ %v, %s is granted: %v", seed, b.Remaining, b.RemainingPure.Float(), b.RemainingRho, what, got)
						}
						charges := []Charge{{Account: "t", Table: "db.t", Loss: loss}}
						if f, err := l.Forecast("a@%", nil, charges); err != nil || f[0].Fits != want {
							t.Fatalf("seed %d: %s: %+v, %v", seed, what, f, err)
						}
						if want {
							return
						}
						var x *ExhaustedError
						if _, err := reserve(l, "a@%", charges); !errors.As(err, &x) {
							t.Fatalf("seed %d: %s: %v", seed, what, err)
						}
						if p := loss.Pure > 0; p && x.Remaining != b.RemainingPure.EpsilonDown() || !p && (x.Remaining != b.Remaining || x.RemainingRho != b.RemainingRho) {
							t.Fatalf("seed %d: %s: the refusal shows %+v, the budget %+v", seed, what, x, b)
						}
					}
					if p := b.RemainingPure; p > 0 {
						grants("all of the pure ε", privacy.PureLoss(p.Float()), true)
					}
					grants("a unit more than the pure ε", privacy.PureLoss((b.RemainingPure + 1 + b.RemainingPure/1e10).Float()), false)
					if c.delta > 0 {
						if rho := privacy.RhoFor(b.Remaining, c.delta); rho > 0 {
							grants("all of the ε", privacy.Loss{Rho: rho}, true)
						}
						if b.Remaining > 0 {
							grants("a hundredth more than the ε", privacy.Loss{Rho: privacy.RhoFor(b.Remaining*1.01, c.delta) + 1}, false)
						}
						grants("a unit more than the ρ", privacy.Loss{Rho: b.RemainingRho + 1 + b.RemainingRho/1e10}, false)
					} else if b.Remaining != b.RemainingPure.EpsilonDown() {
						t.Fatalf("remaining %v, and pure %v", b.Remaining, b.RemainingPure)
					}
					if _, err := l.Reserve(context.Background(), Request{Principal: "a@%", Charges: []Charge{anyCharge(r, &b.Budget, size)}}); err != nil && !errors.Is(err, ErrExhausted) {
						t.Fatal(err)
					}
				}
				l.Close()
			}
		})
	}
}

// TestStrandedBudget: the dialogue that a budget of (1, 1e-6) used to get stuck in. After five pure
// queries of .1 by one analyst another's Gaussian one is answered, and what is shown as remaining
// is what is granted.
func TestStrandedBudget(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Never)
	for range 5 {
		mustReserve(t, l, "a@%", pure("t", 0.1))
	}
	mustReserve(t, l, "b@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: privacy.RhoFor(0.0075, 1e-6)}}})
	st, err := l.Status(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := st.Budgets[0]
	if b.Remaining < 0.5 || b.Remaining > 0.7 || b.RemainingPure.Float() < 0.1 || b.RemainingPure.Float() > 0.4 {
		t.Errorf("remaining ε %v, pure ε %v", b.Remaining, b.RemainingPure.Float())
	}
	if _, err := reserve(l, "b@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: privacy.RhoFor(b.Remaining*1.01, 1e-6)}}}); !errors.Is(err, ErrExhausted) {
		t.Errorf("more than remains: %v", err)
	}
	mustReserve(t, l, "b@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: privacy.RhoFor(b.Remaining, 1e-6)}}})
}
