package planner

import (
	"slices"
	"strings"
	"testing"

	"scrim/engine/store"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// synthesized plans a statement as the release of a synthetic table of two columns.
func synthesized(t *testing.T, h *harness, query string, columns ...settings.Coded) (*plan.Release, error) {
	t.Helper()
	n, err := h.engine.AnalyzeQuery(settings.WithSynthetic(h.context(query), settings.Synthetic{Columns: columns, Ways: 2}), query)
	if err != nil {
		return nil, err
	}
	b, ok := n.(*plan.Budget)
	if !ok || len(b.Statement.Releases) != 1 || len(b.Statement.Releases[0].Aggregates) != 1 {
		t.Fatalf("%s: not planned as one release", query)
	}
	return b.Statement.Releases[0], nil
}

// TestSyntheticTablesScanOneRowAPerson: the scan has a number of rows and a code a column; where a
// person may have several rows it keeps one, by a secret, of those with a code in every column. Its
// loss is the statement's, without slack, and has a tenth or so for choices.
func TestSyntheticTablesScanOneRowAPerson(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	r, err := synthesized(t, h, "SELECT /*+ SET_VAR(dp_rho=0.5) */ DP_MEAN(DP_VECTOR(CASE WHEN region = 'a' THEN 0 WHEN region = 'b' THEN 1 END, CASE WHEN qty < 5 THEN 0 ELSE 1 END), 'method=clipped') FROM orders",
		settings.Coded{Name: "region", Size: 2}, settings.Coded{Name: "qty", Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	sc := r.Scans[0]
	if len(r.Scans) != 1 || sc.Rows || !slices.Equal(sc.Types, []store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanInt64}) {
		t.Errorf("scans %v", r.Scans)
	}
	if !strings.Contains(sc.SQL, "QUALIFY row_number() OVER (PARTITION BY u ORDER BY hash(u,") || !strings.HasSuffix(sc.SQL, "= 1") || !strings.Contains(sc.SQL, "IS NOT NULL") ||
		!slices.ContainsFunc(sc.Args, func(x any) bool { _, ok := x.(plan.SecretArg); return ok }) {
		t.Errorf("not one row a person: %s", sc.SQL)
	}
	if rho := r.Loss.Rho.Float(); rho > 0.5 || rho < 0.4999 || r.Loss.DeltaEvent != 0 || r.Loss.DeltaTV != 0 {
		t.Errorf("a loss of %v", r.Loss)
	}
	if steps := r.Aggregates[0].Estimator.Steps(); len(steps) != 3 || steps[1].Rho < 0.04 || steps[1].Rho > 0.05 {
		t.Errorf("steps %v", steps)
	}
}

// TestSyntheticTablesOfNothing: a budget of pure losses and too many cells are refused by rules,
// whatever the rows are.
func TestSyntheticTablesOfNothing(t *testing.T) {
	code := "CASE WHEN qty < 5 THEN 0 ELSE 1 END"
	query := "SELECT /*+ SET_VAR(dp_rho=0.1) */ DP_MEAN(DP_VECTOR(" + code + ", " + code + ", " + code + "), 'method=clipped') FROM orders"
	for _, c := range []struct {
		size int
		pure bool
		by   rule.Rule
	}{{3, false, ""}, {3, true, rule.View}, {4096, false, rule.Option}} {
		h := newHarness(t)
		h.fixture("shop")
		asked := query
		if c.pure {
			h.pure = map[string]bool{h.policies.Table("shop.orders").Account: true}
			asked = strings.Replace(query, "dp_rho=0.1", "dp_epsilon=1", 1)
		}
		_, err := synthesized(t, h, asked, settings.Coded{Name: "a", Size: c.size}, settings.Coded{Name: "b", Size: c.size}, settings.Coded{Name: "c", Size: c.size})
		if got := rule.Of(err); got != c.by || c.by == "" && err != nil {
			t.Errorf("%d values: refused by %q, want %q: %v", c.size, got, c.by, err)
		}
	}
}
