package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/planner/plan"
	"scrim/planner/rule"
)

// TestPureSplitAddsUp: whatever the aggregates, the groups and the relation, the pure ε of a
// statement is at most dp_epsilon, and only units are left.
func TestPureSplitAddsUp(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for _, relation := range []string{"", "neighbours shop.orders private\nneighbours shop.customers private"} {
		if relation != "" {
			h.declare(relation)
		}
		h.declare("pure account:shop.orders on")
		for _, eps := range []float64{3e-6, 0.1, 0.3, 1, 100} {
			for _, q := range []string{
				"SELECT %s COUNT(*) FROM orders",
				"SELECT %s COUNT(*), SUM(amount), AVG(qty) FROM orders",
				"SELECT %s region, COUNT(*), SUM(qty), DP_MEDIAN(qty) FROM orders GROUP BY region",
				"SELECT %s store_id, region, COUNT(DISTINCT customer_id) FROM orders GROUP BY store_id, region",
				"SELECT %s DP_COUNT(*, 'epsilon=0.000001'), SUM(qty), DP_QUANTILES(amount, '[0.2, 0.4, 0.6]') FROM orders",
				"SELECT %s (SELECT COUNT(*) FROM orders), (SELECT SUM(amount) FROM orders), (SELECT COUNT(*) FROM orders WHERE qty > 1)",
				"SELECT %s COUNT(*) FROM orders o JOIN customers c ON c.id = o.customer_id",
			} {
				q = fmt.Sprintf(q, fmt.Sprintf("/*+ SET_VAR(dp_epsilon=%v) */", eps))
				s, n, err := h.plan(q)
				if err != nil {
					if eps < 1e-5 && rule.Of(err) == rule.Parameter {
						continue // too little to be divided so often
					}
					t.Fatalf("%s: %v", q, err)
				}
				if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
					t.Errorf("%s: %v", q, err)
				}
				for _, c := range append(s.Tables, s.Entities...) {
					if limit := privacy.PureWithin(privacy.Epsilon(eps)); c.Table == "shop.orders" && (c.Loss.Pure > limit || c.Loss.Pure+2000 < limit) || !c.Loss.IsPure() {
						t.Errorf("%s: %s is charged %+v, of %d units", q, c.Account, c.Loss, limit)
					}
				}
			}
		}
	}
}

// TestVerifyNoticesWhatIsNotPure breaks the invariant of pure losses in a sound plan.
func TestVerifyNoticesWhatIsNotPure(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	plain, _, err := h.plan("SELECT COUNT(*) FROM orders")
	if err != nil {
		t.Fatal(err)
	}
	h.declare("pure account:shop.orders on")
	for name, spoil := range map[string]func(*plan.Statement){
		"a unit less": func(s *plan.Statement) { s.Releases[0].Loss.Pure-- },
		"a unit more": func(s *plan.Statement) { s.Releases[0].Loss.Pure++ },
		"none":        func(s *plan.Statement) { s.Releases[0].Loss.Pure = 0 },
		"a mechanism else": func(s *plan.Statement) {
			s.Releases[0].Aggregates[0].Estimator = plain.Releases[0].Aggregates[0].Estimator
		},
		"a charge less":   func(s *plan.Statement) { s.Tables[0].Loss.Pure-- },
		"groups per unit": func(s *plan.Statement) { s.Releases[0].PerUnit++ },
	} {
		s, n, err := h.plan("SELECT COUNT(*) FROM orders")
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Fatalf("sound plan: %v", err)
		}
		if s.Releases[0].Key == plain.Releases[0].Key {
			t.Error("the pure release has the key of the other: one would replay the other's answer")
		}
		if spoil(s); plan.Verify(sql.NewEmptyContext(), s, n) == nil || !strings.HasPrefix(plan.Verify(sql.NewEmptyContext(), s, n).Error(), "invariant ") {
			t.Errorf("%s: not noticed", name)
		}
	}
}
