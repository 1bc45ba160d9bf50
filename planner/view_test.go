package planner

import (
	"testing"

	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// TestDefinitionsOfViews: counts and sums by public keys are planned as one release of all cells;
// what a view cannot hold is refused by its rule, before anything is charged.
func TestDefinitionsOfViews(t *testing.T) {
	for query, refused := range map[string]rule.Rule{
		"SELECT region, COUNT(*) AS n FROM orders GROUP BY region":                          "",
		"SELECT region, qty, COUNT(*) AS n, SUM(qty) AS s FROM orders GROUP BY region, qty": "",

		"SELECT COUNT(*) AS n FROM orders":                                            rule.View,
		"SELECT region, AVG(qty) AS a FROM orders GROUP BY region":                    rule.View,
		"SELECT region, COUNT(*) AS n, AVG(qty) AS a FROM orders GROUP BY region":     rule.View,
		"SELECT region, COUNT(DISTINCT customer_id) AS n FROM orders GROUP BY region": rule.View,
		"SELECT region, VAR_POP(qty) AS v, SUM(qty) AS s FROM orders GROUP BY 1":      rule.View,
		"SELECT amount, COUNT(*) AS n FROM orders GROUP BY amount":                    rule.GroupKey,
		"SELECT region, amount, COUNT(*) AS n FROM orders GROUP BY region, amount":    rule.GroupKey,
	} {
		h := newHarness(t)
		h.fixture("shop")
		n, err := h.engine.AnalyzeQuery(settings.WithView(h.context(query), settings.View{Ways: 2}), query)
		if got := rule.Of(err); got != refused || refused == "" && err != nil {
			t.Errorf("%s: refused by %q, want %q: %v", query, got, refused, err)
			continue
		}
		if b, ok := n.(*plan.Budget); refused == "" && (!ok || len(b.Statement.Releases) != 1 || len(b.Statement.Releases[0].Aggregates) != 1) {
			t.Errorf("%s: not planned as one release of all cells", query)
		}
	}
}
