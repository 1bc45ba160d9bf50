package accounting

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// TestRoleBudget: a role's budget caps what all its members spend together, and nobody else.
func TestRoleBudget(t *testing.T) {
	l, _ := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Never)
	if err := l.SetBudget(t.Context(), budget.Budget{Account: "t", Principal: budget.RolePrefix + "analysts", Rho: privacy.RhoOf(0.1), Delta: 1e-6, Window: budget.Never}); err != nil {
		t.Fatal(err)
	}
	ask := func(who string, r float64, roles ...string) error {
		_, err := l.Reserve(t.Context(), Request{Principal: who, Roles: roles, Charges: rho("t", r)})
		return err
	}
	for _, who := range []string{"a@%", "b@%"} {
		if err := ask(who, 0.04, "analysts", "others"); err != nil {
			t.Fatal(err)
		}
	}
	var x *ExhaustedError
	err := ask("c@%", 0.04, "others", "analysts", "analysts")
	if !errors.As(err, &x) || x.Scope != "role:analysts" || x.LimitRho != privacy.RhoOf(0.1) || x.RequestedRho != privacy.RhoOf(0.04) || x.RemainingRho != privacy.RhoOf(0.1)-2*privacy.RhoOf(0.04) || x.NoSlack {
		t.Fatalf("third member: %v, %+v", err, x)
	}
	if err := ask("d@%", 0.04); err != nil {
		t.Errorf("who is no member: %v", err)
	}
	if !strings.Contains(err.Error(), "rho 0.04") {
		t.Errorf("the refusal says %v", err)
	}
	es, err := l.Entries(t.Context(), Filter{Principal: "b@%"})
	if err != nil || len(es) != 1 || len(es[0].Roles) != 2 || es[0].Roles[0] != "analysts" {
		t.Fatalf("entry %+v, %v", es, err)
	}
	left := es[0].Charges[0].Left
	if len(left) != 2 || left[0].Scope != budget.All || left[1].Scope != "role:analysts" || left[1].Rho != privacy.RhoOf(0.1)-2*privacy.RhoOf(0.04) || left[1].Epsilon == left[1].Epsilon {
		t.Errorf("left %+v", left)
	}
	// A reset refills the role, not the table, and not what was ever spent.
	ever := spentOn(l, "t", false, budget.RolePrefix+"analysts")
	if err := l.ResetBudget(t.Context(), "t", false, budget.RolePrefix+"analysts", "root@%", "new project"); err != nil {
		t.Fatal(err)
	}
	if err := ask("c@%", 0.09, "analysts"); err != nil {
		t.Errorf("after the reset: %v", err)
	}
	if got := spentOn(l, "t", false, budget.RolePrefix+"analysts"); got.Rho != ever.Rho+privacy.RhoOf(0.09) {
		t.Errorf("ever spent %v, want %v more than %v", got.Rho, privacy.RhoOf(0.09), ever.Rho)
	}
	for what, err := range map[string]error{
		"default": l.ResetBudget(t.Context(), "t", false, budget.Default, "root@%", ""),
		"nobody":  l.ResetBudget(t.Context(), "t", false, "a@%", "root@%", ""),
		"a role as principal": func() error {
			_, err := l.Reserve(t.Context(), Request{Principal: "role:x@%", Charges: rho("t", 1e-9)})
			return err
		}(),
		"an empty role": ask("a@%", 1e-9, ""),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestRhoBudgetBoundsSlack: in ρ, δ is for slack alone.
func TestRhoBudgetBoundsSlack(t *testing.T) {
	l, _ := create1(t, nil)
	if err := l.SetBudget(t.Context(), budget.Budget{Account: "t", Principal: budget.All, Rho: privacy.RhoOf(1), Window: budget.Never}); err != nil {
		t.Fatal(err)
	}
	var x *ExhaustedError
	_, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1, DeltaTV: 1e-30}}})
	if !errors.As(err, &x) || !x.NoSlack {
		t.Errorf("slack without delta: %v", err)
	}
	mustReserve(t, l, "a@%", rho("t", 1))
	if _, err := reserve(l, "a@%", []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1}}}); !errors.Is(err, ErrExhausted) {
		t.Errorf("one step beyond: %v", err)
	}
	for _, b := range []budget.Budget{{Rho: privacy.RhoOf(1), Epsilon: 1}, {Rho: privacy.MaxRho + 1}, {Rho: 1, Delta: -1}, {Principal: budget.RolePrefix, Epsilon: 1}} {
		b.Account, b.Window = "t", budget.Never
		if b.Principal == "" {
			b.Principal = budget.All
		}
		if err := l.SetBudget(t.Context(), b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// TestBurndown: days of all, of a role and of one principal, also after a reset, and after opening
// again.
func TestBurndown(t *testing.T) {
	k := newClock("2026-01-30 12:00:00")
	l, path := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 100, 1e-6, budget.Month)
	from := k.now()
	for i := range 4 {
		for _, who := range []string{"a@%", "b@%"} {
			_, err := l.Reserve(t.Context(), Request{Principal: who, Roles: []string{"r"}, Charges: rho("t", 0.01*float64(i+1))})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := l.ResetBudget(t.Context(), "t", false, budget.All, "root@%", ""); err != nil {
			t.Fatal(err)
		}
		k.mu.Lock()
		k.t = k.t.AddDate(0, 0, 1+i%2)
		k.mu.Unlock()
	}
	check := func(when string) {
		t.Helper()
		for who, members := range map[string]float64{budget.All: 2, "role:r": 2, "a@%": 1} {
			days := l.Burndown("t", false, who, from.AddDate(0, 0, 1), k.now())
			if len(days) != 3 {
				t.Fatalf("%s: %s: %v", when, who, days)
			}
			for i, d := range days {
				if want := 0.01 * float64(i+2) * members; d.Spent.Rho.Float() < want || d.Spent.Rho.Float() > want+1e-9 {
					t.Errorf("%s: %s day %v: %v, want %v", when, who, d.Day, d.Spent.Rho.Float(), want)
				}
			}
			if !days[0].Day.Equal(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: %s begins on %v", when, who, days[0].Day)
			}
		}
		if days := l.Burndown("t", true, budget.All, from, k.now()); len(days) != 0 {
			t.Errorf("an entity with a table's name: %v", days)
		}
	}
	check("live")
	l.Close()
	l = open(t, path, Options{Now: k.now})
	check("opened again")
}

// TestEntityBoundInRho: budgets in ρ enter the bound of an entity with the ε and the δ that they
// allow, never with none.
func TestEntityBoundInRho(t *testing.T) {
	l, _ := create1(t, nil)
	set := func(account string, entity bool, b budget.Budget) EntityStatus {
		t.Helper()
		b.Account, b.Entity, b.Principal, b.Window = account, entity, budget.All, budget.Never
		if err := l.SetBudget(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		st, err := l.Status(map[string][]string{"t": {"person"}, "u": {"person"}})
		if err != nil || len(st.Entities) != 1 {
			t.Fatal(st, err)
		}
		return st.Entities[0]
	}
	set("t", false, budget.Budget{Rho: privacy.RhoOf(0.1), Delta: 1e-9})
	e := set("u", false, budget.Budget{Rho: privacy.RhoOf(0.2)})
	one, two := privacy.EpsilonOf(privacy.Loss{Rho: privacy.RhoOf(0.1)}, budget.BoundDelta), privacy.EpsilonOf(privacy.Loss{Rho: privacy.RhoOf(0.2)}, budget.BoundDelta)
	if e.Rho != privacy.RhoOf(0.1)+privacy.RhoOf(0.2) || e.Epsilon < one+two || e.Epsilon > one+two+1e-9 || e.Delta <= 2e-6+2e-9 || e.Capped || e.Window != budget.Never {
		t.Errorf("two budgets in rho: %+v", e)
	}
	if loss := (privacy.Loss{Rho: privacy.RhoOf(0.1), DeltaTV: 1e-9}); float64(privacy.DeltaOf(loss, one)) > float64(budget.BoundDelta)+1e-9*(1+math.Exp(float64(one)))*(1+1e-9) {
		t.Error("the promise of a budget in rho is too strong")
	}
	if e = set("u", false, budget.Budget{Epsilon: 3, Delta: 1e-6}); e.Rho != 0 || e.Epsilon < one+3 || e.Epsilon > one+3+1e-9 {
		t.Errorf("one in rho, one in epsilon: %+v", e)
	}
	if e = set("person", true, budget.Budget{Rho: privacy.RhoOf(100)}); e.Capped {
		t.Errorf("capped by a larger budget: %+v", e)
	}
	if e = set("person", true, budget.Budget{Rho: privacy.RhoOf(0.01)}); !e.Capped || e.Rho != privacy.RhoOf(0.01) || e.Epsilon != privacy.EpsilonOf(privacy.Loss{Rho: privacy.RhoOf(0.01)}, budget.BoundDelta) {
		t.Errorf("capped in rho: %+v", e)
	}
}
