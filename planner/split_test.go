package planner

import (
	"fmt"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/internal/params"
	"scrim/planner/plan"
)

// TestStatementStaysWithinItsTotal checks, for statements of many shapes, that the loss charged to
// each table is at most the ρ that (ε, δ) allows, that it implies (ε, δ), and that it wastes
// little.
func TestStatementStaysWithinItsTotal(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	shapes := []struct {
		query   string
		select1 bool // has a key selection
		least   float64
	}{
		{"COUNT(*) FROM orders", false, 0.999},
		{"COUNT(*), AVG(amount), SUM(qty) FROM orders", false, 0.999},
		{"region, COUNT(*), AVG(amount) FROM orders GROUP BY region", false, 0.999},
		{"qty, COUNT(*) FROM orders GROUP BY qty", false, 0.999},
		{"status, COUNT(*), DP_MEAN(amount) FROM orders GROUP BY status", true, 0.999},
		{"DP_MEAN(amount, 'rho=0.0000001'), COUNT(*) FROM orders", false, 0.99},
		{"COUNT(*) FROM orders UNION ALL SELECT COUNT(*) FROM archive", false, 0.999},
		{"AVG(c.age) FROM orders o JOIN customers c ON c.id = o.customer_id", false, 0.999},
		{"(SELECT COUNT(*) FROM orders), (SELECT AVG(c.age) FROM orders o JOIN customers c ON c.id = o.customer_id)", false, 0.49},
	}
	for _, eps := range []float64{0.01, 0.1, 1, 5} {
		for _, delta := range []float64{1e-12, 1e-8, 1e-5} {
			for _, s := range shapes {
				q := fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%v) SET_VAR(dp_delta=%v) */ %s", eps, delta, s.query)
				st, n, err := h.plan(q)
				if err != nil {
					t.Fatalf("%s: %v", q, err)
				}
				if err := plan.Verify(sql.NewEmptyContext(), st, n); err != nil {
					t.Errorf("%s: %v", q, err)
				}
				for _, c := range st.Tables {
					convert := delta
					if c.Loss.DeltaEvent > 0 {
						convert = delta / 2
					}
					if (c.Loss.DeltaEvent > 0) != s.select1 || c.Loss.DeltaEvent > delta/2*(1+1e-9) {
						t.Errorf("%s: %s has event delta %v", q, c.Table, c.Loss.DeltaEvent)
					}
					limit := privacy.RhoFor(privacy.Epsilon(eps), privacy.Delta(convert))
					if c.Loss.Rho > limit {
						t.Errorf("%s: %s is charged rho %v, allowed are %v", q, c.Table, c.Loss.Rho.Float(), limit.Float())
					}
					if c.Loss.Rho.Float() < s.least*limit.Float()-1e-9 {
						t.Errorf("%s: %s is charged rho %v of %v", q, c.Table, c.Loss.Rho.Float(), limit.Float())
					}
					if got := privacy.DeltaOf(privacy.Loss{Rho: c.Loss.Rho, DeltaEvent: c.Loss.DeltaEvent}, privacy.Epsilon(eps)); float64(got) > delta*(1+1e-6) {
						t.Errorf("%s: %s implies delta %v", q, c.Table, got)
					}
				}
			}
		}
	}
}

// TestPrecedence checks the order option, hint, session, table, built-in, one source at a time.
func TestPrecedence(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	charged := func(q string) privacy.Rho {
		t.Helper()
		st, _, err := h.plan(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return st.Tables[0].Loss.Rho
	}
	want := func(label, q string, eps float64) {
		t.Helper()
		limit := privacy.RhoFor(privacy.Epsilon(eps), params.DefaultDelta)
		if got := charged(q); got > limit || got+64 < limit {
			t.Errorf("%s: charged %v, want %v", label, got, limit)
		}
	}
	plain, hint, option := "SELECT DP_COUNT(*) FROM orders", "SELECT /*+ SET_VAR(dp_epsilon=0.4) */ DP_COUNT(*) FROM orders",
		"SELECT /*+ SET_VAR(dp_epsilon=0.4) */ DP_COUNT(*, 'epsilon=0.5') FROM orders"
	want("built-in", plain, params.DefaultEpsilon)
	h.declare(`defaults shop.orders {"dp_epsilon": 0.2}`)
	want("table", plain, 0.2)
	h.session[params.Epsilon] = params.Value{Number: 0.3}
	want("session", plain, 0.3)
	want("hint", hint, 0.4)
	want("option", option, 0.5)
	h.session[params.Rho] = params.Value{Number: 0.25}
	if got := charged(plain); got != privacy.Rho(privacy.CostWithin(privacy.RhoCost, 0.25).Units) {
		t.Errorf("dp_rho beside dp_epsilon: charged %v, want %v", got, 0.25)
	}
	want("a hint before the session's dp_rho", hint, 0.4)
}
