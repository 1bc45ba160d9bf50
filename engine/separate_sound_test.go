package engine

import (
	"fmt"
	"math/big"
	"testing"

	"scrim/test/stattest"
)

// TestExchangesOfSeparateGroups exchanges a person who is in two groups for one who is in two
// others, in one of them, or in the same, with as different numbers as there are, where each group
// is answered by itself: no exchange loses more than the charge. Of numbers of persons one that
// leaves two groups and enters two others loses all of it. Two persons at once lose more.
func TestExchangesOfSeparateGroups(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec("CREATE DATABASE x", "CREATE TABLE x.visits (person INT, g INT, n INT NOT NULL)", "CALL dp_protect('x.visits', 'person', 'x')", "CALL dp_set_neighbours('x.visits', 'replace-one')",
		"CALL dp_set_budget('x.visits', '*', 1000000, 0.001, 'never')", "CALL dp_set_domain('x.visits', 'g', '[1, 2, 3, 4]')", "SET dp_raw = ON")
	put := func(p, first, second, n int) {
		root.exec(fmt.Sprintf("DELETE FROM x.visits WHERE person = %d", p), fmt.Sprintf("INSERT INTO x.visits VALUES (%[1]d, %[2]d, %[4]d), (%[1]d, %[3]d, %[4]d)", p, first, second, n))
	}
	home := func(p int) { put(p, 1+p%4, 1+(p+1)%4, 2000-p) }
	const persons = 200
	for p := range persons {
		home(p)
	}
	ann := i.analyst(root, "ann", "x")
	ann.exec("SET dp_rho = 30", "SET dp_max_groups_contributed = 2", "SET dp_group_by = 'separate'")
	queries := []string{
		"SELECT /*+ SET_VAR(dp_rho=1) */ g, COUNT(DISTINCT person) FROM x.visits GROUP BY g", "SELECT g, COUNT(*) FROM x.visits GROUP BY g", "SELECT g, SUM(n) FROM x.visits GROUP BY g",
		"SELECT g, DP_MEAN(n), DP_MEAN(n, 'lower=-3000, upper=3000') FROM x.visits GROUP BY g", "SELECT g, AVG(n), DP_VARIANCE(n) FROM x.visits GROUP BY g", "SELECT g, DP_QUANTILES(n, '[0.5, 0.9]') FROM x.visits GROUP BY g",
	}
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for _, q := range queries {
		source.again(false)
		for _, row := range ann.query(q) {
			if row[1] == "NULL" {
				t.Errorf("%s has no answer, and checks little: %v", q, row)
			}
		}
		runs[q], charged[q] = source.again(false), lastCharge(t, root)
	}
	shares := func() map[string]float64 {
		return source.shares(runs, charged, func(q string) { ann.query(q) })
	}
	most := map[string]float64{}
	for p := range 4 {
		for shift, kind := range []string{"the same groups", "one other group", "two other groups"} {
			put(p, 1+(p+shift)%4, 1+(p+1+shift)%4, -2000)
			for q, share := range shares() {
				most[q] = max(most[q], share)
				if share > 1 {
					t.Errorf("%s: an exchange into %s loses %.3f of the charge", q, kind, share)
				}
				if shift == 2 && q == queries[0] && share < 0.99 {
					t.Errorf("%s: an exchange into %s loses only %.3f of the charge", q, kind, share)
				}
			}
			home(p)
		}
	}
	put(0, 3, 4, -2000)
	put(4, 3, 4, -2000)
	if share := shares()[queries[0]]; share <= 1 {
		t.Errorf("two exchanges stay within the charge: %.3f", share)
	}
	for _, q := range queries {
		t.Logf("%.3f of the charge: %s", most[q], q)
	}
}
