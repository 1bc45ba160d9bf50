package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/engine/observe/watch"
)

// sources are those of a server with two budgets and an entity.
func sources() Sources {
	b := func(account string, entity bool, principal, holder string) accounting.BudgetStatus {
		return accounting.BudgetStatus{
			Budget: budget.Budget{Account: account, Entity: entity, Principal: principal, Epsilon: 4, Delta: 1e-6, Window: budget.Never},
			Holder: holder, Spent: privacy.Loss{Rho: privacy.RhoOf(0.01)}, SpentEpsilon: 0.5, Remaining: 3.5, RemainingRho: privacy.RhoOf(0.2),
		}
	}
	st := accounting.Status{
		Budgets: []accounting.BudgetStatus{
			b("shop.orders", false, budget.All, budget.All), b("shop.orders", false, budget.Default, "ann@%"),
			b("shop.orders", false, "ben@%", "ben@%"), b("shop.orders", false, "role:x", "role:x"), b("customer", true, budget.All, budget.All),
		},
		Entities: []accounting.EntityStatus{{Entity: "customer", Epsilon: 4, Spent: privacy.Loss{Rho: privacy.RhoOf(0.01)}}},
	}
	return Sources{
		Version: "8.0", Status: func() (accounting.Status, error) { return st, nil },
		Names:       func() map[string][]string { return map[string][]string{"shop.orders": {"shop.sales", "shop.old"}} },
		Ledger:      func() Ledger { return Ledger{Up: true, Records: 7, Bytes: 4096, Unverified: 3, Checkpoint: 5} },
		Audit:       func() (bool, uint64) { return true, 2 },
		Connections: func() int { return 3 }, MaxConnections: func() int { return 256 },
		Ready: func() error { return nil }, Now: time.Now,
	}
}

// scrape returns what Prometheus gets.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("got %d, %v: %s", w.Code, err, b)
	}
	return string(b)
}

func wants(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains(text, "\n"+l+"\n") {
			t.Errorf("no line %q", l)
		}
	}
}

func TestStatements(t *testing.T) {
	m := New(sources())
	for _, e := range []watch.Event{
		{Outcome: watch.Answered, Private: true, Duration: 30 * time.Millisecond, Charged: 2, Replayed: 1, Principal: "ann@%", Statement: "SELECT secret", Digest: "d1"},
		{Outcome: watch.Refused, Private: true, Duration: time.Millisecond, Cause: "BUDGET_EXHAUSTED"},
		{Outcome: watch.Refused, Duration: time.Millisecond, Cause: "PRIVILEGE"},
		{Outcome: watch.Failed, Duration: 100 * time.Second, Cause: "SYNTAX"},
	} {
		m.Statement(e)
	}
	m.Login("refused")
	m.Committed(3 * time.Millisecond)
	text := scrape(t, m)
	wants(t, text,
		`scrim_statements_total{kind="private",outcome="answered"} 1`,
		`scrim_statements_total{kind="private",outcome="refused"} 1`,
		`scrim_statements_total{kind="other",outcome="failed"} 1`,
		`scrim_refusals_total{cause="BUDGET_EXHAUSTED"} 1`,
		`scrim_refusals_total{cause="PRIVILEGE"} 1`,
		`scrim_releases_total{how="charged"} 2`,
		`scrim_releases_total{how="replayed"} 1`,
		`scrim_statement_seconds_sum{kind="private"} 0.11`, // 0.1 + 0.01: ends of buckets
		`scrim_statement_seconds_sum{kind="other"} 120.01`,
		`scrim_dashboard_logins_total{result="refused"} 1`,
		`scrim_ledger_commit_seconds_count 1`,
	)
	if strings.Contains(text, "SYNTAX") {
		t.Error("a failure is counted as a refusal")
	}
	for _, private := range []string{"ann", "ben", "secret", "d1\"", "role:"} {
		if strings.Contains(text, private) {
			t.Errorf("the metrics tell %q", private)
		}
	}
}

func TestState(t *testing.T) {
	s := sources()
	wants(t, scrape(t, New(s)),
		`scrim_info{version="8.0"} 1`, `scrim_ready 1`, `scrim_connections 3`, `scrim_connections_max 256`,
		`scrim_ledger_up 1`, `scrim_ledger_records 7`, `scrim_ledger_bytes 4096`, `scrim_audit_up 1`, `scrim_audit_missing_total 2`,
		`scrim_budget_limit_epsilon{name="shop.old, shop.sales",scope="table"} 4`,
		`scrim_budget_spent_epsilon{name="customer",scope="entity"} 0.5`,
		`scrim_budget_remaining_epsilon{name="customer",scope="entity"} 3.5`,
		`scrim_budget_window_end_seconds{name="customer",scope="entity"} +Inf`,
		`scrim_entity_bound_epsilon{entity="customer"} 4`,
	)
	s.Status = func() (accounting.Status, error) { return accounting.Status{}, errors.New("closed") }
	s.Ready = func() error { return errors.New("no") }
	s.Ledger = func() Ledger { return Ledger{} }
	text := scrape(t, New(s))
	wants(t, text, `scrim_ready 0`, `scrim_ledger_up 0`)
	if strings.Contains(text, "scrim_budget_") {
		t.Error("budgets are told although the ledger cannot be read")
	}
}

func TestBudgetsInRhoHaveNoEpsilon(t *testing.T) {
	s := sources()
	s.Status = func() (accounting.Status, error) {
		return accounting.Status{Budgets: []accounting.BudgetStatus{{
			Budget: budget.Budget{Account: "a.b", Principal: budget.All, Rho: privacy.RhoOf(2), Delta: 1e-6, Window: budget.Never},
			Holder: budget.All, Spent: privacy.Loss{Rho: privacy.RhoOf(0.5)}, SpentEpsilon: 1, Remaining: privacy.Epsilon(math.NaN()), RemainingRho: privacy.RhoOf(1.5),
		}}}, nil
	}
	text := scrape(t, New(s))
	wants(t, text, `scrim_budget_used_ratio{name="a.b",scope="table"} 0.25`, `scrim_budget_remaining_rho{name="a.b",scope="table"} 1.5`)
	if strings.Contains(text, "scrim_budget_limit_epsilon{") || strings.Contains(text, "NaN") {
		t.Error("a budget in rho has a limit in epsilon")
	}
}

// TestSeriesAreBounded sends more causes and tables than there may be.
func TestSeriesAreBounded(t *testing.T) {
	s := sources()
	var st accounting.Status
	for i := range 3 * maxBudgets {
		name := fmt.Sprintf("t%d", i)
		st.Budgets = append(st.Budgets, accounting.BudgetStatus{Budget: budget.Budget{Account: name, Principal: budget.All, Epsilon: 1, Delta: 1e-6}, Holder: budget.All})
		st.Entities = append(st.Entities, accounting.EntityStatus{Entity: name})
	}
	reads := 0
	s.Status = func() (accounting.Status, error) { reads++; return st, nil }
	m := New(s)
	for i := range 10_000 {
		m.Statement(watch.Event{Outcome: watch.Refused, Cause: fmt.Sprint("C", i)})
	}
	text := scrape(t, m)
	if n := strings.Count(text, "scrim_refusals_total{"); n > 130 {
		t.Errorf("%d causes", n)
	}
	if n := strings.Count(text, "scrim_budget_used_ratio{"); n != maxBudgets {
		t.Errorf("%d budgets", n)
	}
	if n := strings.Count(text, "scrim_entity_bound_epsilon{"); n != maxBudgets {
		t.Errorf("%d entities", n)
	}
	for range 10 {
		scrape(t, m)
	}
	if reads > 2 {
		t.Errorf("the budgets were read %d times in a moment", reads)
	}
}

func TestCoarse(t *testing.T) {
	for seconds, want := range map[float64]float64{0: 0.01, 0.01: 0.01, 0.011: 0.1, 0.5: 1, 59: 60, 60: 60, 61: 120, 120: 120, 121: 180} {
		if got := coarse(time.Duration(seconds * float64(time.Second))); got != want {
			t.Errorf("%v: got %v, want %v", seconds, got, want)
		}
	}
}

// TestGrafana checks that the dashboard in docs asks for metrics that there are, and shows all of
// ours.
func TestGrafana(t *testing.T) {
	text, err := os.ReadFile("../../../docs/grafana/scrim.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title  string
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	m := New(sources())
	m.Statement(watch.Event{Outcome: watch.Refused, Cause: "X"})
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, f := range families {
		exported[f.GetName()] = false
	}
	name := regexp.MustCompile(`\b(?:scrim|go|process)_[a-z_]+\b`)
	ids, charts := []int{}, 0
	for _, p := range d.Panels {
		if slices.Contains(ids, p.ID) {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids = append(ids, p.ID)
		if p.Type != "row" {
			charts++
			if len(p.Targets) == 0 || p.Title == "" {
				t.Errorf("the panel %d %q shows nothing", p.ID, p.Title)
			}
		}
		for _, target := range p.Targets {
			found := name.FindAllString(target.Expr, -1)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %s", p.Title, target.Expr)
			}
			if strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") || strings.Count(target.Expr, "{") != strings.Count(target.Expr, "}") {
				t.Errorf("%s: brackets in %s", p.Title, target.Expr)
			}
			for _, n := range found {
				base := n
				if _, ok := exported[n]; !ok {
					base = strings.TrimSuffix(n, "_bucket")
				}
				if _, ok := exported[base]; !ok {
					t.Errorf("%s: the server does not export %s", p.Title, n)
				}
				exported[base] = true
			}
		}
	}
	if charts < 15 || d.Title != "Scrim" {
		t.Errorf("%q has %d panels", d.Title, charts)
	}
	for n, shown := range exported {
		if strings.HasPrefix(n, "scrim_") && !shown {
			t.Errorf("the dashboard does not show %s", n)
		}
	}
}
