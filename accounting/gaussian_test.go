package accounting

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
)

// setGaussian makes a Gaussian account.
func setGaussian(t *testing.T, l *Ledger, account string, entity bool, principal string, e privacy.Epsilon, d privacy.Delta) {
	t.Helper()
	b := budget.Budget{Account: account, Entity: entity, Principal: principal, Epsilon: e, Delta: d, Window: budget.Never, Gaussian: true, SetBy: "root@%"}
	if err := l.SetBudget(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// gdpOn returns μ²/2 of everything that a holder has spent, in the fixed point of ρ.
func gdpOn(l *Ledger, account string, entity bool, who string) (privacy.Rho, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Of(state.Holder{Account: account, Entity: entity, Principal: who}).Ever.Curve.GDP()
}

// noise is a charge of Gaussian noise that can be drawn by either law.
func noise(account string, rho float64) Charge {
	r := privacy.RhoOf(rho)
	return Charge{
		Account: account, Loss: privacy.Loss{Rho: r},
		Events:  []privacy.Event{{Kind: privacy.DiscreteGaussian, Rho: r, Count: 1}},
		Rounded: []privacy.Event{{Kind: privacy.Gaussian, Rho: r, Count: 1}},
	}
}

// TestNoiseIsDrawnAsTheBudgetsWant: the receipt says that noise is to be rounded if and only if one
// of the budgets is a Gaussian account and the caller can draw it so for the whole statement; what
// is recorded is what the receipt says.
func TestNoiseIsDrawnAsTheBudgetsWant(t *testing.T) {
	for _, c := range []struct {
		name     string
		gaussian string // whose budget is a Gaussian account
		who      string
		able     bool
		want     bool
	}{
		{"no Gaussian account", "", "a@%", true, false},
		{"of all principals", budget.All, "a@%", true, true},
		{"one's own", "a@%", "a@%", true, true},
		{"another's", "a@%", "b@%", true, false},
		{"the default", budget.Default, "b@%", true, true},
		{"a role's", "role:r", "b@%", true, true},
		{"a caller that cannot", budget.All, "a@%", false, false},
	} {
		l, _ := create1(t, nil)
		mustSet(t, l, "t", false, budget.All, 1, 1e-6, budget.Never)
		mustSet(t, l, "u", false, budget.All, 1, 1e-6, budget.Never)
		if c.gaussian != "" {
			setGaussian(t, l, "t", false, c.gaussian, 1, 1e-6)
		}
		charges := []Charge{noise("u", 1e-4), noise("t", 1e-4)}
		if !c.able {
			charges[0].Rounded = nil
		}
		receipt, err := l.Reserve(t.Context(), Request{Principal: c.who, Roles: []string{"r"}, Charges: charges})
		if err != nil || receipt.Rounded != c.want {
			t.Errorf("%s: rounded %v, %v", c.name, receipt.Rounded, err)
		}
		for _, account := range []string{"t", "u"} {
			if half, ok := gdpOn(l, account, false, budget.All); ok != c.want || ok && half != privacy.RhoOf(1e-4) {
				t.Errorf("%s: μ²/2 = %v on %s, %v", c.name, half.Float(), account, ok)
			}
		}
		forecast, err := l.Forecast(c.who, []string{"r"}, charges)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range forecast {
			if f.Rounded != c.want {
				t.Errorf("%s: the forecast says rounded %v", c.name, f.Rounded)
			}
			after := f.before
			after.Plus(&privacy.Amount{Tally: privacy.TallyOf(charges[0].Loss), Curve: privacy.CurveOf(charges[0].Rounded)})
			if c.want && f.Budget.Gaussian && f.AfterRho != f.Budget.RemainingRho(&after, privacy.Tally{}) {
				t.Errorf("%s: the forecast leaves %v", c.name, f.AfterRho.Float())
			}
		}
	}
}

// TestGaussianAccountIsFilled: it grants as many charges as the filter says, also after reopening,
// and what it says to remain at any time; the next charge is refused and changes nothing.
func TestGaussianAccountIsFilled(t *testing.T) {
	l, path := create1(t, nil)
	setGaussian(t, l, "t", false, budget.All, 1, 1e-6)
	b := l.Budgets()[0]
	one := noise("t", 2.81e-4)
	want := b.Holds(new(privacy.Amount), &privacy.Amount{Tally: privacy.TallyOf(one.Loss), Curve: privacy.CurveOf(one.Rounded)})
	n := 0
	for ; ; n++ {
		if n == 40 {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = open(t, path, Options{})
			if !l.Budgets()[0].Gaussian || l.Budgets()[0] != b {
				t.Errorf("reopened: %+v", l.Budgets()[0])
			}
		}
		if _, err := reserve(l, "a@%", []Charge{one}); errors.Is(err, ErrExhausted) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n != want || n < 95 {
		t.Errorf("%d charges, want %d", n, want)
	}
	st, err := l.Status(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &st.Budgets[0]
	if s.RemainingRho == 0 || s.RemainingRho >= one.Loss.Rho || s.SpentEpsilon > 1 || s.SpentEpsilon < 0.97 {
		t.Errorf("remaining ρ %v, spent ε %v", s.RemainingRho.Float(), s.SpentEpsilon)
	}
	if _, by := privacy.BestEpsilon(s.Spent, s.SpentCurve, 1e-6); by != privacy.ByGaussian {
		t.Errorf("what is spent is shown by %s", by)
	}
	last := noise("t", s.RemainingRho.Float())
	if _, err := reserve(l, "a@%", []Charge{noise("t", last.Loss.Rho.Float()+1e-9)}); !errors.Is(err, ErrExhausted) {
		t.Errorf("more than remains: %v", err)
	}
	mustReserve(t, l, "a@%", []Charge{last})
	if err := l.SetBudget(t.Context(), budget.Budget{Account: "t", Principal: budget.All, Epsilon: 60, Delta: 1e-6, Window: budget.Never, Gaussian: true}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a Gaussian account without an order: %v", err)
	}
}

// TestKillsOnAGaussianAccount: children that charge one are killed at random moments. Each ledger
// opens with what was acknowledged, in μ² as in ρ.
func TestKillsOnAGaussianAccount(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	l := open(t, path, Options{Create: true})
	setGaussian(t, l, "t", false, budget.All, 30, 1e-3)
	setGaussian(t, l, "e", true, budget.All, 30, 1e-3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(*seed, 21))
	before := privacy.Rho(0)
	for i := range often(6, 100) {
		c := runKilled(t, fmt.Sprintf("run|%s||%d", path, 1+r.IntN(8)), manyLines(r, i == 0), r)
		got := spentInFile(t, path)
		c.within(t, fmt.Sprintf("seed %d, run %d", *seed, i), got-before)
		before = got
		l := open(t, path, Options{})
		if half, ok := gdpOn(l, "e", true, budget.All); !ok || half != got {
			t.Fatalf("run %d: μ²/2 is %d, of ρ %d", i, half, got)
		}
		if _, ok := gdpOn(l, "t", false, budget.All); !ok {
			t.Fatalf("run %d: the pure charges have no μ", i)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if before == 0 {
		t.Error("the children charged nothing")
	}
}
