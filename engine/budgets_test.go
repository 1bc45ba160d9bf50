package engine

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// counts runs n counts that no stored answer can give.
func counts(c *client, from, n int) (answered int) {
	for k := range n {
		if _, err := c.try(fmt.Sprintf("SELECT /*+ SET_VAR(dp_rho=0.01) */ COUNT(*) FROM d.p WHERE x > %d", from+k)); err != nil {
			return k
		}
	}
	return n
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestARoleSharesABudget: its members together spend no more, what they spent stays when they
// leave, and others are not held by it.
func TestARoleSharesABudget(t *testing.T) {
	i, root := company(t, "")
	root.exec("CREATE ROLE team", "GRANT team TO ann", "GRANT analyst, team TO bob",
		"CALL dp_set_budget('d.p', 'role:team', 'rho=0.05', 1e-6, 'never')")
	ann, bob, boss := i.as("ann"), i.as("bob"), i.as("boss")
	if got := counts(ann, 0, 3) + counts(bob, 100, 10); got != 5 {
		t.Errorf("the members got %d answers, want 5 of ρ = 0.01", got)
	}
	e := ann.refused(1644, "45013", "SELECT COUNT(*) FROM d.p WHERE x > 1000")
	if !strings.Contains(e.Message, "of the budget of the role team on d.p, and less remains") {
		t.Errorf("ann is told %s", e.Message)
	}
	if got := counts(boss, 200, 2); got != 2 {
		t.Errorf("somebody else got %d answers, want 2", got)
	}
	root.exec("REVOKE team FROM bob")
	if got := counts(bob, 300, 2); got != 2 {
		t.Errorf("bob without the role got %d answers, want 2", got)
	}
	root.exec("GRANT team TO bob")
	if got := counts(bob, 400, 1); got != 0 {
		t.Error("bob with the role again got an answer")
	}
	if got := root.value("SELECT spent_rho FROM dp.budgets WHERE budget = 'role:team'"); float(t, got) < 0.0499 {
		t.Errorf("the role spent %s, want 0.05", got)
	}
	root.refused(1644, "45011", "CALL dp_set_budget('d.p', 'role:nobody', 1, 1e-6, 'never')")
}

// TestBudgetsOverTheWire: every form of the procedures, with and without a current database.
func TestBudgetsOverTheWire(t *testing.T) {
	i, root := company(t, "")
	ann := i.as("ann")
	counts(ann, 0, 2)
	const budget = "SELECT epsilon, rho, delta, budget_window, set_by, reason FROM dp.budgets WHERE account = 'd.p' AND budget = '*'"
	for _, current := range []string{"", "d"} {
		table := "'d.p'"
		if current != "" {
			root.exec("USE " + current)
			table = "'p'"
		}
		root.refused(1644, "45011", "CALL dp_set_budget("+table+", '*', 101, 1e-6, 'never')")
		root.exec("CALL dp_set_budget("+table+", '*', 101, 1e-6, 'never', 'the yearly report')", "CALL dp_set_budget("+table+", '*', 90, 1e-6, 'never')")
		if got := fmt.Sprint(root.query("CALL dp_alter_budget("+table+", '*', '{\"epsilon\": 95}', ?)", "it was too little")); got != "[[epsilon 90 95]]" {
			t.Errorf("dp_alter_budget told %s", got)
		}
		if got := fmt.Sprint(root.query("CALL dp_alter_budget(" + table + ", '*', '{\"epsilon\": 80, \"delta\": 1e-7}')")); got != "[[epsilon 95 80] [delta 1e-06 1e-07]]" {
			t.Errorf("dp_alter_budget told %s", got)
		}
		if got := fmt.Sprint(root.query(budget)); got != "[[80 NULL 1e-07 never root@% NULL]]" {
			t.Errorf("got %s", got)
		}
		spent := root.value("SELECT spent_rho FROM dp.budgets WHERE account = 'd.p' AND budget = '*'")
		if float(t, spent) < 0.0199 {
			t.Errorf("spent %s, want 0.02", spent)
		}
		root.exec("CALL dp_set_budget("+table+", '*', 'rho=0.03', 1e-6, 'never', 'in rho')", "CALL dp_set_budget('entity:person', '*', 5, 1e-6, 'never', 'x')")
		root.exec("CALL dp_drop_budget('entity:person', '*', 'x')", "CALL dp_set_budget("+table+", '*', 100, 1e-6, 'never', 'back')")
	}
	root.exec("CALL dp_set_budget('d.p', '*', 'rho=0.03', 1e-6, 'never', 'in rho')")
	if got := counts(ann, 100, 5); got != 1 {
		t.Errorf("%d answers fitted into rho 0.03 after 0.02, want 1", got)
	}
	root.exec("CALL dp_reset_budget('d.p', '*', 'answers destroyed')")
	if got := counts(ann, 200, 5); got != 3 {
		t.Errorf("%d answers fitted into rho 0.03 after a reset, want 3", got)
	}
	if got := root.value("SELECT spent_rho FROM dp.budgets WHERE account_type = 'entity sum'"); float(t, got) < 0.0599 {
		t.Errorf("the entity remembers %s, want 0.06", got)
	}
	for _, q := range []string{"CALL dp_reset_budget('d.p', '*', 'x')", "CALL dp_alter_budget('d.p', '*', '{\"epsilon\": 1}')", "CALL dp_drop_budget('d.p', '*')",
		"CALL dp_set_budget('d.p', '*', 1, 1e-6, 'never', 'x')"} {
		ann.refused(1644, "45014", q)
		i.as("aud").refused(1644, "45014", q)
		i.as("imp").refused(1644, "45014", q)
	}
}

// TestTheLedgerIsAsked: filters, order and limits over the wire, on the ledger itself, before and
// after it was opened again.
func TestTheLedgerIsAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	i, root := company(t, dir)
	root.exec("GRANT analyst TO bob")
	counts(i.as("ann"), 0, 6)
	counts(i.as("bob"), 100, 4)
	root.exec("CALL dp_set_budget('d.p', '*', 101, 1e-6, 'never', 'more')")
	for range 2 {
		root = i.root()
		digest := root.value("SELECT MAX(digest) FROM dp.ledger WHERE principal = 'ann@%'")
		for query, want := range map[string]string{
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE principal = 'ann@%'":                                                       "6",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE digest = '" + digest + "'":                                                 "10",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE digest = '" + digest + "' AND principal = 'bob@%'":                         "4",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE table_name = 'd.p'":                                                        "10",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE account = 'd.p' AND entry = 'set-budget'":                                  "2",
			"SELECT reason FROM dp.ledger WHERE entry = 'set-budget' ORDER BY id DESC LIMIT 1":                                         "more",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry IN ('charge', 'note') AND outcome = 'answered'":                      "10",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE charged_at > NOW() - INTERVAL 1 HOUR AND principal = 'ann@%'":              "6",
			"SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE charged_at < NOW() - INTERVAL 1 HOUR":                                      "0",
			"SELECT COUNT(*) FROM (SELECT id FROM dp.ledger WHERE principal = 'ann@%' ORDER BY id DESC LIMIT 3) x":                     "3",
			"SELECT MAX(id) - MIN(id) >= 0 FROM (SELECT id FROM dp.ledger ORDER BY charged_at DESC LIMIT 5) x":                         "1",
			"SELECT (SELECT id FROM dp.ledger ORDER BY id DESC LIMIT 1) = (SELECT MAX(id) FROM dp.ledger)":                             "1",
			"SELECT (SELECT id FROM dp.ledger ORDER BY charged_at DESC LIMIT 1) = (SELECT MAX(id) FROM dp.ledger)":                     "1",
			"SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND (statement LIKE '%100%' OR statement LIKE '%d.p WHERE x > 0%')": "0",
		} {
			if got := root.value(query); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		events := root.value("SELECT events FROM dp.ledger WHERE principal = 'ann@%' ORDER BY id LIMIT 1")
		if !strings.Contains(events, "rho=0.01") {
			t.Errorf("the events are shown as %q", events)
		}
		for _, q := range []string{"SELECT principal FROM dp.ledger", "SELECT principal FROM dp.ledger WHERE principal = 'bob@%' OR 1 = 1",
			"SELECT principal FROM dp.ledger WHERE digest = '" + digest + "' ORDER BY id DESC LIMIT 1000"} {
			rows := i.as("ann").query(q)
			for _, r := range rows {
				if r[0] != "ann@%" {
					t.Errorf("%s shows ann %v", q, r)
				}
			}
			if len(rows) == 0 {
				t.Errorf("%s shows ann nothing", q)
			}
		}
		i.end()
		i = start(t, dir)
	}
}

// TestSpentIsShownAtItsBest: the ε that is shown is one that holds and not more than that of zCDP.
func TestSpentIsShownAtItsBest(t *testing.T) {
	i, root := company(t, "")
	counts(i.as("ann"), 0, 5)
	r := root.query("SELECT spent_epsilon, conversion, epsilon - remaining_epsilon, spent_rho FROM dp.budgets WHERE account = 'd.p' AND budget = '*'")[0]
	if best, filter := float(t, r[0]), float(t, r[2]); best <= 0 || best > filter*(1+1e-9) {
		t.Errorf("shown as spent: %v by %s; the filter counts %v", best, r[1], filter)
	}
	if r[1] != "renyi" && r[1] != "zcdp" && r[1] != "pure" && r[1] != "sum" {
		t.Errorf("conversion %q", r[1])
	}
	if got := float(t, r[3]); got < 0.0499 || got > 0.0501 {
		t.Errorf("spent rho %v, want 0.05", got)
	}
}

// TestRemainingIsGranted: five pure queries by one account do not close the budget for another's
// Gaussian ones. What dp.budgets and dp_price show as remaining is what a statement of the kind is
// granted, and a hundredth more is refused.
func TestRemainingIsGranted(t *testing.T) {
	i, root := company(t, "")
	root.exec("CALL dp_set_budget('d.p', '*', 1, 1e-6, 'never')", "CALL dp_set_budget('d.p', 'ann@%', 10, 0, 'never')")
	ann, boss, n := i.as("ann"), i.as("boss"), 0
	ask := func(c *client, epsilon float64) error {
		n++
		_, err := c.try(fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%v) SET_VAR(dp_delta=1e-6) */ COUNT(DISTINCT id) FROM d.p WHERE x > %d", epsilon, n))
		return err
	}
	for range 5 {
		if err := ask(ann, 0.1); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(boss, 0.0075); err != nil {
		t.Errorf("after five pure queries: %v", err)
	}
	const shown = "SELECT %s FROM dp.budgets WHERE account = 'd.p' AND budget = '*'"
	remaining := func(what string) float64 { return float(t, root.value(fmt.Sprintf(shown, what))) }
	for _, part := range []float64{0.3, 0.9, 1} {
		if left := remaining("remaining_pure_epsilon"); left > 0.01 {
			ann.refused(1644, "45013", fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%v) */ COUNT(DISTINCT id) FROM d.p WHERE x > %d", left*1.01, 1000+n))
			if err := ask(ann, left*part/10); err != nil {
				t.Errorf("a tenth of the pure epsilon %v: %v", left, err)
			}
		}
		left := remaining("remaining_epsilon")
		if ask(boss, left*1.01) == nil {
			t.Errorf("a hundredth more than %v was granted", left)
		}
		if err := ask(boss, left*part); err != nil {
			t.Errorf("%v of the epsilon %v: %v", part, left, err)
		}
	}
	if left := remaining("remaining_epsilon"); left > 0.01 {
		t.Errorf("remaining after all was asked for: %v", left)
	}
	if got := root.value(fmt.Sprintf(shown, "spent_epsilon <= epsilon AND renyi_order > 28")); got != "1" {
		t.Errorf("spent at most the limit, at an order: %s", got)
	}
}

// TestUndeclaredTablesAreListed: dp.policies has the tables that nobody has declared, for those who
// may see them.
func TestUndeclaredTablesAreListed(t *testing.T) {
	i, root := company(t, "")
	root.exec("GRANT SELECT ON d.* TO 'bob'@'%'", "CREATE DATABASE e", "CREATE TABLE e.t (a INT)")
	const q = "SELECT table_name, state FROM dp.policies ORDER BY table_name"
	for _, c := range []struct {
		who  *client
		want string
	}{
		{root, "[[d.p protected] [d.pub public] [d.un undeclared] [e.t undeclared]]"},
		{i.as("aud"), "[[d.p protected] [d.pub public] [d.un undeclared] [e.t undeclared]]"},
		{i.as("bob"), "[[d.p protected] [d.pub public] [d.un undeclared]]"},
	} {
		if got := fmt.Sprint(c.who.query(q)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	root.exec("CALL dp_public('e.t')", "DROP TABLE d.un")
	if got := fmt.Sprint(root.query(q)); got != "[[d.p protected] [d.pub public] [e.t public]]" {
		t.Errorf("got %s", got)
	}
}
