package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestGaussianAccount: an account is made a Gaussian one by an option, which dp.budgets shows; what
// is charged to it was drawn as rounded normal noise, of every kind of statement; what is shown as
// remaining is granted; and dp_alter_budget turns it back.
func TestGaussianAccount(t *testing.T) {
	i, root := company(t, "")
	const shown = "SELECT %s FROM dp.budgets WHERE account = 'd.p' AND budget = '*'"
	value := func(what string) string { return root.value(fmt.Sprintf(shown, what)) }
	if got := value("accounting"); got != "zcdp" {
		t.Errorf("an account is %s if nobody says otherwise", got)
	}
	root.exec(`CALL dp_set_budget('d.p', '*', 20, 1e-5, 'never', 'for noise', '{"account": "gaussian"}')`)
	if got := value("accounting"); got != "gaussian" {
		t.Errorf("accounting %s", got)
	}
	for _, bad := range []string{
		`'d.p', '*', 1, 1e-6, 'never', '', '{"account": "renyi"}'`, `'d.p', '*', 1, 1e-6, 'never', '', '{"epsilon": 1}'`,
		`'d.p', '*', 1, 1e-6, 'never', '', '[]'`, `'d.p', '*', 1, 0, 'never', '', '{"account": "gaussian"}'`,
		`'d.p', '*', 'rho=1', 1e-6, 'never', 'x', '{"account": "gaussian"}'`, `'d.p', '*', 90, 1e-6, 'never', 'x', '{"account": "gaussian"}'`,
	} {
		root.refused(1644, "45011", "CALL dp_set_budget("+bad+")")
	}
	ann := i.as("ann")
	for _, q := range []string{
		"COUNT(*) FROM d.p", "COUNT(DISTINCT id) FROM d.p", "SUM(x) FROM d.p", "AVG(x) FROM d.p", "DP_MEDIAN(x) FROM d.p", "VAR_POP(x) FROM d.p",
		"x, COUNT(*) FROM d.p GROUP BY x", "x, COUNT(*), SUM(x) FROM d.p WHERE x IN (10, 20) GROUP BY x", "DP_MEAN(x) FROM d.p",
	} {
		if _, err := ann.try("SELECT /*+ SET_VAR(dp_epsilon=0.3) SET_VAR(dp_delta=1e-9) */ " + q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	rows := root.query("SELECT statement, events FROM dp.ledger WHERE entry = 'charge' AND account = 'd.p'")
	if len(rows) != 9 {
		t.Errorf("%d charges", len(rows))
	}
	for _, r := range rows {
		if strings.Contains(r[1], "discrete-gaussian") || strings.Contains(r[1], "zcdp") || !strings.Contains(r[1], "gaussian") && !strings.Contains(r[1], "exponential") && !strings.Contains(r[1], "noise-and-choices") {
			t.Errorf("%s was charged as %s", r[0], r[1])
		}
		if alone := (strings.Contains(r[0], "COUNT(") || strings.Contains(r[0], "SUM(")) && !strings.Contains(r[0], "GROUP BY"); alone && strings.Contains(r[1], "choices") {
			t.Errorf("%s was charged as %s", r[0], r[1])
		}
	}
	ask := func(epsilon float64, n int) error {
		_, err := ann.try(fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%v) SET_VAR(dp_delta=1e-5) */ COUNT(DISTINCT id) FROM d.p WHERE x > %d", epsilon, n))
		return err
	}
	const noise = "noise  rounded normal in the place of discrete-gaussian, for a gaussian account"
	if got := fmt.Sprint(ann.query("EXPLAIN SELECT COUNT(*) FROM d.p")); !strings.Contains(got, noise) {
		t.Errorf("EXPLAIN says nothing of the noise: %s", got)
	}
	left := float(t, value("remaining_epsilon"))
	if ask(left*1.01, 1) == nil {
		t.Errorf("a hundredth more than %v was granted", left)
	}
	if err := ask(left*0.999, 2); err != nil {
		t.Errorf("of ε = %v that remains: %v", left, err)
	}
	if got := root.query(`CALL dp_alter_budget('d.p', '*', '{"account": "zcdp"}')`); len(got) != 1 || strings.Join(got[0], " ") != "account gaussian zcdp" {
		t.Errorf("told %v", got)
	}
	if got := value("accounting"); got != "zcdp" {
		t.Errorf("accounting %s", got)
	}
	if got := fmt.Sprint(ann.query("EXPLAIN SELECT COUNT(*) FROM d.p")); strings.Contains(got, noise) {
		t.Errorf("EXPLAIN still has it: %s", got)
	}
}
