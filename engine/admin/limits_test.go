package admin

import (
	"context"
	"strings"
	"testing"

	"scrim/accounting"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
	"scrim/internal/refuse"
)

// budgeted is a fixture with a table and its budget.
func budgeted(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.must(dba, "", "CALL dp_protect('shop.orders', 'customer_id', 'customer')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 8, 1e-6, 'month')")
	return f
}

// spend charges a statement to shop.orders.
func (f *fixture) spend(who string, rho float64, roles ...string) error {
	r, err := f.ledger.Reserve(context.Background(), accounting.Request{
		Principal: who, Roles: roles, Statement: "SELECT ?", Digest: "d-" + who, Mechanisms: "count",
		Charges: []accounting.Charge{{Account: "shop.orders", Table: "shop.orders", Loss: privacy.Loss{Rho: privacy.RhoOf(rho)}}},
	})
	if err == nil {
		f.ledger.Finish(r, record.Answered)
	}
	return err
}

// TestLooseningWantsAReason: what lets somebody spend more than before is done with a reason only,
// and the reason is kept. Nothing else wants one.
func TestLooseningWantsAReason(t *testing.T) {
	f := budgeted(t)
	const orders = "'shop.orders', "
	for _, c := range []struct {
		call  string
		wants bool
	}{
		{"dp_set_budget(" + orders + "'*', 8, 1e-6, 'month'", false},
		{"dp_set_budget(" + orders + "'*', 9, 1e-6, 'month'", true},
		{"dp_set_budget(" + orders + "'*', 8, 1e-5, 'month'", true},
		{"dp_set_budget(" + orders + "'*', 8, 1e-6, 'week'", true},
		{"dp_set_budget(" + orders + "'*', 'rho=0.1', 1e-6, 'month'", true},
		{"dp_set_budget(" + orders + "'*', 'rho=0.05', 1e-6, 'month'", false},
		{"dp_set_budget(" + orders + "'*', 8, 1e-7, 'never'", true},
		{"dp_set_budget(" + orders + "'*', 7, 1e-7, 'never'", false},
		{"dp_alter_budget(" + orders + "'*', '{\"epsilon\": 7.5}'", true},
		{"dp_alter_budget(" + orders + "'*', '{\"window\": \"day\", \"epsilon\": 1}'", true},
		{"dp_alter_budget(" + orders + "'*', '{\"epsilon\": 0.5}'", false},
		{"dp_set_budget(" + orders + "'default', 2, 1e-7, 'month'", false},
		{"dp_set_budget(" + orders + "'ann@%', 2.5, 1e-7, 'month'", false},
		{"dp_set_budget(" + orders + "'ann@%', 3, 1e-7, 'month'", true},
		{"dp_set_budget(" + orders + "'ann@%', 1, 1e-7, 'month'", false},
		{"dp_set_budget(" + orders + "'role:analyst', 100, 1e-7, 'month'", false},
		{"dp_set_budget(" + orders + "'role:analyst', 101, 1e-7, 'month'", true},
		{"dp_set_budget('entity:customer', '*', 50, 1e-5, 'month'", false},
		{"dp_drop_budget(" + orders + "'role:analyst'", true},
		{"dp_drop_budget(" + orders + "'ann@%'", true},
		{"dp_drop_budget(" + orders + "'default'", true},
		{"dp_drop_budget('entity:customer', '*'", true},
		{"dp_drop_budget(" + orders + "'*'", false},
	} {
		if !c.wants {
			f.must(dba, "", "CALL "+c.call+")")
			continue
		}
		f.refused(dba, "", "CALL "+c.call+")", refuse.Policy, "for the record")
		f.refused(dba, "", "CALL "+c.call+", '  ')", refuse.Policy, "for the record")
		f.must(dba, "shop", "CALL "+c.call+", 'because')")
		if c.call[:6] != "dp_dro" && show(f.must(dba, "", "SELECT COUNT(*) FROM dp.budgets WHERE reason = 'because'")) == "0\n" {
			t.Errorf("%s: the reason is not shown", c.call)
		}
	}
	f.want(dba, "SELECT entry, reason FROM dp.ledger WHERE entry = 'set-budget' AND statement LIKE 'budget of ann@%% epsilon 3%'", "set-budget|because")
}

func TestAlterChangesOnlyWhatItNames(t *testing.T) {
	f := budgeted(t)
	if err := f.spend(ann, 0.01); err != nil {
		t.Fatal(err)
	}
	const parts = "SELECT epsilon, rho, delta, budget_window, spent_rho > 0 FROM dp.budgets WHERE account_type = 'table' AND principal = '*'"
	for _, c := range []struct{ json, changed, budget string }{
		{`{"epsilon": 4}`, "epsilon|8|4", "4|<nil>|1e-06|month|true"},
		{`{"delta": 1e-7}`, "delta|1e-06|1e-07", "4|<nil>|1e-07|month|true"},
		{`{"window": "Never"}`, "window|month|never", "4|<nil>|1e-07|never|true"},
		{`{"epsilon": 4}`, "", "4|<nil>|1e-07|never|true"},
		{`{"rho": 0.5}`, "epsilon|4|<nil>\nrho|<nil>|0.5", "<nil>|0.5|1e-07|never|true"},
		{`{"rho": 0.25, "delta": 0}`, "rho|0.5|0.25\ndelta|1e-07|0", "<nil>|0.25|0|never|true"},
		{`{"epsilon": 3, "delta": 1e-6, "window": "week"}`, "epsilon|<nil>|3\nrho|0.25|<nil>\ndelta|0|1e-06\nwindow|never|week", "3|<nil>|1e-06|week|true"},
	} {
		if got := show(f.must(dba, "", "CALL dp_alter_budget('shop.orders', '*', '"+c.json+"', 'a test')")); strings.TrimSuffix(got, "\n") != c.changed {
			t.Errorf("%s: told\n%s\nwant\n%s", c.json, got, c.changed)
		}
		f.want(dba, parts, c.budget)
	}
	for _, c := range []struct{ args, want string }{
		{`'shop.orders', 'ann@%', '{"epsilon": 1}'`, "no budget of"},
		{`'shop.orders', '*', '{"epsilon": 1, "rho": 1}'`, "in epsilon or in rho"},
		{`'shop.orders', '*', '{"limit": 1}'`, "no part"},
		{`'shop.orders', '*', '{"epsilon": "1"}'`, "no part"},
		{`'shop.orders', '*', '{"window": 1}'`, "no part"},
		{`'shop.orders', '*', '{"window": "year"}'`, "never, day, week or month"},
		{`'shop.orders', '*', '{}'`, "no JSON object"},
		{`'shop.orders', '*', '[1]'`, "no JSON object"},
		{`'shop.orders', '*', '{"epsilon": 1} {"epsilon": 99}'`, "no JSON object"},
		{`'shop.orders', '*', NULL`, "no JSON object"},
		{`'shop.orders', '*', '{"epsilon": -1}'`, "above 0"},
		{`'shop.orders', '*', '{"epsilon": 1e400}'`, "finite"},
		{`'shop.orders', '*', '{"rho": 0}'`, "no limit"},
		{`'shop.orders', '*', '{"rho": null}'`, "no part"},
	} {
		f.refused(dba, "", "CALL dp_alter_budget("+c.args+")", refuse.Policy, c.want)
	}
	f.want(dba, parts, "3|<nil>|1e-06|week|true")
}

// TestOnlyResetRefills: neither another limit, nor dropping and setting again, nor another window
// gives back what was spent; dp_reset_budget does, and the entity remembers.
func TestOnlyResetRefills(t *testing.T) {
	f := budgeted(t)
	if err := f.spend(ann, 0.25); err != nil {
		t.Fatal(err)
	}
	const left = "SELECT spent_rho, remaining_epsilon < 8 FROM dp.budgets WHERE account_type = 'table' AND principal = '*'"
	for _, call := range []string{
		"dp_set_budget('shop.orders', '*', 8, 1e-6, 'month')", "dp_alter_budget('shop.orders', '*', '{\"window\": \"never\"}')",
		"dp_drop_budget('shop.orders', '*')", "dp_set_budget('shop.orders', '*', 8, 1e-6, 'day')", "dp_set_budget('shop.orders', 'default', 8, 1e-6, 'day')",
		"dp_alter_budget('shop.orders', '*', '{\"delta\": 1e-5}', 'a test')",
		"dp_unprotect('shop.orders')", "dp_protect('shop.orders', 'customer_id', 'customer')",
	} {
		f.must(dba, "", "CALL "+call)
		if call != "dp_drop_budget('shop.orders', '*')" {
			f.want(dba, left, "0.25|true")
		}
	}
	for _, args := range []string{"'shop.orders', '*', ''", "'shop.orders', '*', NULL", "'shop.orders', '*', '  '"} {
		f.refused(dba, "", "CALL dp_reset_budget("+args+")", refuse.Policy, "for the record")
	}
	f.refused(dba, "", "CALL dp_reset_budget('shop.orders', 'default', 'x')", refuse.Policy, "name the account")
	f.refused(ann, "", "CALL dp_reset_budget('shop.orders', '*', 'x')", refuse.NotDBA, "DBA")
	f.must(dba, "shop", "CALL dp_reset_budget('orders', '*', 'the answers were destroyed')")
	f.want(dba, "SELECT spent_rho, ROUND(remaining_epsilon, 3), remaining_pure_epsilon FROM dp.budgets WHERE account_type = 'table' AND principal = '*'", "0|7.722|8")
	f.want(dba, "SELECT spent_rho FROM dp.budgets WHERE account_type = 'table' AND principal = 'ann@%'", "0.25")
	f.want(dba, "SELECT spent_rho FROM dp.budgets WHERE account_type = 'entity sum'", "0.25")
	f.want(dba, "SELECT principal, statement, account, reason FROM dp.ledger WHERE entry = 'reset-budget'", "root@%|budget of * reset|shop.orders|the answers were destroyed")
	f.must(dba, "", "CALL dp_reset_budget('shop.orders', 'ann@%', 'hers as well')")
	f.want(dba, "SELECT spent_rho FROM dp.budgets WHERE account_type = 'table' AND principal = 'ann@%'", "0")
}

func TestBudgetsInRhoAndOfRoles(t *testing.T) {
	f := budgeted(t)
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', ' RHO = 0.5 ', 1e-7, 'never', 'in rho')")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', 'Role:analyst', 'rho=0.125', 0, 'never')")
	f.want(dba, "SELECT budget, epsilon, rho, delta, remaining_epsilon, remaining_rho, remaining_pure_epsilon, renyi_order, set_by, reason FROM dp.budgets WHERE account_type = 'table' ORDER BY 1", `
*|<nil>|0.5|1e-07|<nil>|0.5|<nil>|<nil>|root@%|in rho
role:analyst|<nil>|0.125|0|<nil>|0.125|<nil>|<nil>|root@%|<nil>`)
	f.want(dba, "SELECT epsilon, rho, delta, spent_epsilon FROM dp.budgets WHERE account_type = 'entity sum'", "<nil>|0.5|1e-07|0")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 'rho=20', 1e-7, 'never', 'more')")
	f.want(dba, "SELECT epsilon, rho, delta FROM dp.budgets WHERE account_type = 'entity sum'", "<nil>|20|1e-07")
	f.must(dba, "", "CALL dp_set_budget('shop.orders', '*', 'rho=0.5', 1e-7, 'never', 'in rho')")
	for _, c := range []struct{ args, want string }{
		{"'shop.orders', 'role:nobody', 1, 1e-6, 'month'", "no role"},
		{"'shop.orders', 'role:Analyst', 1, 1e-6, 'month'", "no role"},
		{"'shop.orders', 'role:', 1, 1e-6, 'month'", "not a principal"},
		{"'shop.orders', '*', 'rho=0', 1e-6, 'month'", "no limit"},
		{"'shop.orders', '*', 'rho=-1', 1e-6, 'month'", "no limit"},
		{"'shop.orders', '*', 'rho=NaN', 1e-6, 'month'", "not a finite number"},
		{"'shop.orders', '*', 'rho=1e300', 1e-6, 'month'", "no limit"},
		{"'shop.orders', '*', 'rho=', 1e-6, 'month'", "not a finite number"},
		{"'shop.orders', '*', 'epsilon=1', 1e-6, 'month'", "no limit"},
	} {
		f.refused(dba, "", "CALL dp_set_budget("+c.args+")", refuse.Policy, c.want)
	}
	if err := f.spend(ann, 0.125, "analyst"); err != nil {
		t.Fatal(err)
	}
	if err := f.spend(bob, 0.001, "analyst"); err == nil {
		t.Error("the role's budget was passed")
	}
	if err := f.spend(bob, 0.001); err != nil {
		t.Errorf("bob without the role: %v", err)
	}
	f.want(dba, "SELECT spent_rho, remaining_rho FROM dp.budgets WHERE budget = 'role:analyst'", "0.125|0")
	for _, q := range []string{"SELECT * FROM dp.budgets WHERE budget LIKE 'role:%'", "SELECT * FROM dp.budgets WHERE principal = '*'"} {
		if rows := f.must(ann, "", q); len(rows) != 0 {
			t.Errorf("%s shows an analyst what others spend: %v", q, rows)
		}
	}
	for _, q := range []string{"SELECT COUNT(*) FROM dp.budgets", "SELECT COUNT(*) FROM dp.ledger"} {
		if got, want := show(f.must(auditor, "", q)), show(f.must(dba, "", q)); got != want {
			t.Errorf("%s: an auditor sees %s, a DBA %s", q, got, want)
		}
	}
}

// TestEntitySums: what is stated in epsilon and what is stated in rho are added up each by itself.
func TestEntitySums(t *testing.T) {
	f := budgeted(t)
	f.must(dba, "", "CALL dp_protect('shop.lineitem', 'order_id', 'customer')")
	const sum = "SELECT epsilon, rho, delta, remark FROM dp.budgets WHERE account_type = 'entity sum'"
	f.want(dba, sum, "8|<nil>|1e-06|sum of the '*' budgets of shop.lineitem, shop.orders; without a '*' budget, so closed: shop.lineitem")
	f.must(dba, "", "CALL dp_set_budget('shop.lineitem', '*', 'rho=0.5', 1e-6, 'month')")
	f.want(dba, "SELECT epsilon > 8, rho, delta > 3e-6 FROM dp.budgets WHERE account_type = 'entity sum'", "true|<nil>|true")
	f.must(dba, "", "CALL dp_set_budget('entity:customer', '*', 9, 1e-6, 'never')")
	f.want(dba, sum, "9|<nil>|1e-06|capped by the budget of the entity; tables: shop.lineitem, shop.orders")
	f.must(dba, "", "CALL dp_set_budget('shop.lineitem', '*', 1, 1e-6, 'week', 'a test')")
	f.want(dba, "SELECT epsilon, budget_window, remark FROM dp.budgets WHERE account_type = 'entity sum'",
		"9|never|capped by the budget of the entity; tables: shop.lineitem, shop.orders")
	f.must(dba, "", "CALL dp_set_budget('entity:customer', '*', 9.5, 1e-6, 'never', 'a test')")
	f.want(dba, "SELECT epsilon, budget_window, remark FROM dp.budgets WHERE account_type = 'entity sum'",
		"9|<nil>|sum of the '*' budgets of shop.lineitem, shop.orders; the windows differ")
}
