package planner

import (
	"testing"
	"time"

	"scrim/engine/estimator/continual"
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

// TestDefinitionsOfSeries: counts and sums by day are planned as one release of running totals;
// what has other keys, takes something away, or has persons whom nothing names, is refused by the
// rule of views.
func TestDefinitionsOfSeries(t *testing.T) {
	const days = " FROM orders GROUP BY "
	month := make([]any, 31)
	for i := range month {
		month[i] = time.Date(2025, 1, 1+i, 0, 0, 0, 0, time.UTC)
	}
	clip, no := settings.Series{PerPerson: 30, Clip: 100, Days: month}, settings.Series{PerPerson: 30, Days: month}
	long := settings.Series{PerPerson: 30, Days: make([]any, 3661)}
	for _, c := range []struct {
		query   string
		series  settings.Series
		refused rule.Rule
	}{
		{"SELECT DATE(shipped) AS day, COUNT(*) AS n" + days + "DATE(shipped)", no, ""},
		{"SELECT DATE(shipped) AS day, COUNT(qty) AS n, SUM(qty) AS s" + days + "DATE(shipped)", no, ""},
		{"SELECT DATE(shipped) AS day, SUM(qty) AS s" + days + "DATE(shipped)", clip, ""},

		{"SELECT DATE(shipped) AS day, region, COUNT(*) AS n" + days + "DATE(shipped), region", no, rule.View},
		{"SELECT DATE(shipped) AS day, SUM(score) AS s" + days + "DATE(shipped)", clip, rule.View},
		{"SELECT DATE(shipped) AS day, SUM(ubig) AS s" + days + "DATE(shipped)", no, rule.View},
		{"SELECT DATE(edu) AS day, COUNT(*) AS n FROM people GROUP BY DATE(edu)", no, rule.View},
		{"SELECT day, COUNT(*) AS n FROM (SELECT DATE(edu) AS day FROM people) AS t GROUP BY day", no, rule.View},
		{"SELECT day, COUNT(*) AS n FROM (SELECT DATE(edu) AS day FROM people UNION ALL SELECT DATE(edu) FROM people) AS t GROUP BY day", no, rule.View},
		{"SELECT DATE(shipped) AS day, AVG(qty) AS a" + days + "DATE(shipped)", clip, rule.View},
		{"SELECT DATE(shipped) AS day, COUNT(*) AS n" + days + "DATE(shipped)", long, rule.View},
		{"SELECT placed AS day, COUNT(*) AS n" + days + "placed", no, ""}, // days beside its domain, too
		{"SELECT shipped AS day, COUNT(*) AS n" + days + "shipped", no, rule.View},
		{"SELECT MONTH(shipped) AS day, COUNT(*) AS n" + days + "MONTH(shipped)", no, rule.View},
	} {
		h := newHarness(t)
		h.fixture("shop")
		n, err := h.engine.AnalyzeQuery(settings.WithView(h.context(c.query), settings.View{Series: &c.series}), c.query)
		if got := rule.Of(err); got != c.refused || c.refused == "" && err != nil {
			t.Errorf("%s: refused by %q, want %q: %v", c.query, got, c.refused, err)
			continue
		}
		if b, ok := n.(*plan.Budget); c.refused == "" {
			if !ok || len(b.Statement.Releases) != 1 {
				t.Errorf("%s: not planned as one release", c.query)
			} else if s, ok := continual.Of(b.Statement.Releases[0].Aggregates[0].Estimator); !ok || s.Params().Days != 31 {
				t.Errorf("%s: not planned as running totals of 31 days", c.query)
			}
		}
	}
}
