package engine

import (
	"strings"
	"testing"
)

// TestVariablesShowWhatIsInForce: a session reads the built-in default where it has set nothing,
// and of dp_epsilon and dp_rho what the one that is set means for the other.
func TestVariablesShowWhatIsInForce(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 30)
	ann := i.analyst(root, "ann", "d")
	want := func(query, want string) {
		t.Helper()
		if got := strings.Join(flatten(ann.query(query)), " "); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	all := "SELECT @@dp_epsilon, @@dp_delta, @@dp_max_groups_contributed, @@dp_group_by, @@dp_method, @@dp_preview, @@dp_rewrite, @@session.dp_raw"
	want(all, "1 1e-08 8 auto auto refuse 1 0")
	near(t, "dp_rho of the default", ann.value("SELECT @@dp_rho"), 0.0172, 0.0001)
	want("SHOW VARIABLES LIKE 'dp_epsilon'", "dp_epsilon 1")
	want("SELECT variable_value FROM performance_schema.session_variables WHERE variable_name = 'dp_method'", "auto")
	want("SELECT default_value FROM dp.variables WHERE name IN ('dp_epsilon', 'dp_group_by') ORDER BY name", "1 auto")
	ann.exec("SET dp_epsilon = 0.25, dp_method = 'clipped', dp_max_groups_contributed = 3")
	want(all, "0.25 1e-08 3 auto clipped refuse 1 0")
	ann.exec("SET dp_rho = 0.5, dp_delta = 1e-6")
	near(t, "dp_epsilon of a rho", ann.value("SELECT @@dp_epsilon"), 5.2, 0.5)
	want("SELECT @@dp_rho", "0.5")
	ann.exec("SET dp_rho = DEFAULT", "SET dp_delta = DEFAULT", "SET dp_method = DEFAULT", "SET dp_max_groups_contributed = DEFAULT")
	want(all, "1 1e-08 8 auto auto refuse 1 0")

	// What is shown is not taken for set: the table's default still goes before it.
	root.exec(`CALL dp_set_defaults('d.people', '{"dp_epsilon": 0.5}')`)
	want(all, "1 1e-08 8 auto auto refuse 1 0")
	ann.query("SELECT COUNT(*) FROM d.people")
	if got := ann.value("SELECT ROUND(MAX(rho), 4) FROM dp.ledger"); float(t, got) > 0.005 {
		t.Errorf("a statement is charged rho %s, want the table's default of epsilon 0.5", got)
	}
	root.exec("SET @was = @@dp_epsilon, dp_epsilon = 2", "SET dp_epsilon = @was")
	if got := root.value("SELECT @@dp_epsilon"); got != "1" {
		t.Errorf("a setting that was kept and set again is %s", got)
	}
}

// TestAUserWithoutAHost: a user's name alone is the account at '%', in every procedure, as in
// MySQL.
func TestAUserWithoutAHost(t *testing.T) {
	_, root := company(t, "")
	for _, name := range []string{"ann", "'ann'", "ann@%", "''ann''@''%''"} {
		q := "'" + strings.ReplaceAll(strings.ReplaceAll(name, "''", "'"), "'", "''") + "'"
		root.exec("CALL dp_set_budget('d.p', " + q + ", 2, 1e-7, 'month', 'x')")
		if got := root.value("SELECT epsilon FROM dp.budgets WHERE budget = 'ann@%'"); got != "2" {
			t.Errorf("%s: dp_set_budget set epsilon %s", name, got)
		}
		root.exec("CALL dp_alter_budget('d.p', "+q+`, '{"epsilon": 1}')`, "CALL dp_reset_budget('d.p', "+q+", 'x')")
		if got := root.value("SELECT epsilon FROM dp.budgets WHERE budget = 'ann@%'"); got != "1" {
			t.Errorf("%s: dp_alter_budget left epsilon %s", name, got)
		}
		root.exec("CALL dp_drop_budget('d.p', " + q + ", 'x')")
		if got := root.value("SELECT COUNT(*) FROM dp.budgets WHERE budget = 'ann@%'"); got != "0" {
			t.Errorf("%s: dp_drop_budget left %s", name, got)
		}
	}
	if e := root.refused(1644, "45011", "CALL dp_set_budget('d.p', 'nobody', 1, 1e-6, 'never')"); !strings.Contains(e.Message, `no account "nobody@%"`) {
		t.Errorf("got %s", e.Message)
	}
}
