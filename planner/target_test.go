package planner

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/settings"
)

// TestTargetOfKnownError: where the error is known beforehand, the plan's is just below what is
// wanted, and half the error costs four times as much, or twice on the pure account.
func TestTargetOfKnownError(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	for _, q := range []string{
		"SELECT COUNT(DISTINCT customer_id, 'error=') FROM orders",
		"SELECT DP_COUNT(*, 'error=') FROM people",
		"SELECT DP_SUM(age, 'lower=0, upper=100, error=') FROM people",
		"SELECT sex, DP_COUNT(*, 'error=') FROM people GROUP BY sex",
		"SELECT DP_COUNT(*, 'error='), DP_SUM(age, 'lower=0, upper=100, error=') FROM people",
	} {
		if strings.HasPrefix(q, "SELECT COUNT(DISTINCT") {
			q = "SELECT /*+ SET_VAR(dp_target_error=) */ COUNT(DISTINCT customer_id) FROM orders"
		}
		for _, pure := range []string{"off", "on"} {
			h.declare("pure account:shop.people " + pure + "\npure account:shop.orders " + pure)
			var before privacy.Loss
			for _, wanted := range []string{"64", "32", "16"} {
				text := strings.ReplaceAll(strings.ReplaceAll(q, "error=)", "error="+wanted+")"), "error='", "error="+wanted+"'")
				s, n, err := h.plan(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				aim := map[string]float64{"64": 64, "32": 32, "16": 16}[wanted]
				for _, a := range s.Releases[0].Aggregates {
					if e, ok := a.Estimator.ExpectedError(); !ok || e > aim || e < aim*0.9 {
						t.Errorf("%s: %s has an expected error of %v", text, a.Text, e)
					}
				}
				loss := s.Tables[0].Loss
				ratio, want := float64(loss.Rho)/float64(before.Rho), 4.0
				if pure == "on" {
					ratio, want = float64(loss.Pure)/float64(before.Pure), 2
				}
				if before != (privacy.Loss{}) && math.Abs(ratio/want-1) > 0.1 {
					t.Errorf("%s: half the error costs %v times as much", text, ratio)
				}
				before = loss
			}
		}
	}
}

// TestTargetFromEarlier: what an earlier answer cost is scaled; without one a pilot is asked for
// where it is allowed.
func TestTargetFromEarlier(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	known := map[string]plan.Earlier{}
	h.planner.config.Earlier = func(_ *sql.Context, shape string) (plan.Earlier, bool) {
		e, ok := known[shape]
		return e, ok
	}
	planned := func(q string) *plan.Statement {
		t.Helper()
		s, n, err := h.plan(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Errorf("%s: %v", q, err)
		}
		return s
	}
	const targeted = "SELECT DP_MEAN(age, 'error=0.5') FROM people WHERE sex = 'F'"
	if _, _, err := h.plan(targeted); rule.Of(err) != rule.Target {
		t.Errorf("nothing is known: %v", err)
	}
	var needed *settings.PilotNeeded
	const piloted = "SELECT DP_MEAN(age, 'error=0.5, pilot=0.25'), DP_MEDIAN(income) FROM people"
	if _, _, err := h.plan(piloted); !errors.As(err, &needed) || needed.Share != 0.25 {
		t.Fatalf("a pilot is allowed: %v", err)
	}
	if _, _, err := h.plan("EXPLAIN " + piloted); rule.Of(err) != rule.Target {
		t.Errorf("EXPLAIN of what needs a pilot: %v", err)
	}
	full := planned("SELECT DP_MEAN(age), DP_MEDIAN(income) FROM people")
	n, err := h.engine.AnalyzeQuery(settings.WithPilot(h.context(piloted), needed), piloted)
	if err != nil {
		t.Fatal(err)
	}
	pilot := n.(*plan.Budget).Statement
	if got, want := pilot.Tables[0].Loss.Rho.Float(), full.Tables[0].Loss.Rho.Float()/16; math.Abs(got/want-1) > 0.2 {
		t.Errorf("a pilot of a quarter of epsilon costs %v, not about %v", got, want)
	}
	if _, err := h.engine.AnalyzeQuery(settings.AfterPilot(h.context(piloted)), piloted); rule.Of(err) != rule.Target {
		t.Errorf("after a pilot that told nothing: %v", err)
	}
	first := planned("SELECT DP_MEAN(age, 'epsilon=0.1') FROM people WHERE sex = 'F'").Releases[0].Aggregates[0]
	rho := first.Estimator.Loss().Rho.Float()
	known[first.Shape] = plan.Earlier{Loss: rho, StdErr: 1.5}
	got := planned(targeted).Tables[0].Loss.Rho.Float()
	if math.Abs(got/(9*rho)-1) > 0.01 {
		t.Errorf("a third of the error costs %v, not nine times %v", got, rho)
	}
	if _, _, err := h.plan("SELECT DP_MEAN(age, 'error=0.00001') FROM people WHERE sex = 'F'"); rule.Of(err) != rule.Target {
		t.Errorf("an error that nothing reaches: %v", err)
	}
	if _, _, err := h.plan("SELECT DP_MEAN(age, 'error=0.5') FROM people WHERE sex = 'M'"); rule.Of(err) != rule.Target {
		t.Errorf("another question has this one's earlier answer: %v", err)
	}
	h.declare(`defaults shop.people {"max_epsilon": 0.2}`)
	if _, _, err := h.plan(targeted); rule.Of(err) != rule.EpsilonCap {
		t.Errorf("beyond the table's cap: %v", err)
	}
}

// TestTargetComesOnTop: the others of a statement keep their cost.
func TestTargetComesOnTop(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	alone, _, err := h.plan("SELECT DP_MEDIAN(age) FROM people")
	if err != nil {
		t.Fatal(err)
	}
	both, _, err := h.plan("SELECT DP_MEDIAN(age), DP_COUNT(*, 'error=2') FROM people")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := alone.Releases[0].Aggregates[0].Estimator.Loss(), both.Releases[0].Aggregates[1].Estimator.Loss(); a != b {
		t.Errorf("the median costs %+v alone, %+v beside a target", a, b)
	}
}
