package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// TestOtherRowMovesByAtMostItsLoss takes persons away who are in two selected keys and in three
// that are not, with as large numbers as there are, or exchanges them for persons in other keys,
// with the same answers forced after every noisy step. A person may be in two groups, and is in
// three with that of all other keys: nobody moves what is noised by more than what is charged.
// Three persons at once do.
func TestOtherRowMovesByAtMostItsLoss(t *testing.T) {
	queries := []string{
		"SELECT /*+ SET_VAR(dp_group_by=separate) SET_VAR(dp_rho=1) */ h, COUNT(DISTINCT person) FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=separate) */ h, COUNT(*), SUM(n), AVG(n) FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=separate) */ h, DP_MEAN(n), DP_VARIANCE(n), DP_SUM(DP_VECTOR(n, h)) FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=separate) */ h, DP_MEAN(DP_VECTOR(n, h), 'method=clipped') FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=vector) */ h, COUNT(*), SUM(n) FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=vector) */ h, COUNT(*), DP_VARIANCE(n) FROM %[1]s.visits GROUP BY h",
	}
	for schema, exchanged := range map[string]bool{"a": false, "r": true} {
		source := &recorders{t: t}
		i := startWith(t, "", source.next)
		root := i.root()
		root.exec("CREATE DATABASE "+schema, "CREATE TABLE "+schema+".visits (person INT, h INT, n INT NOT NULL)", "CALL dp_protect('"+schema+".visits', 'person', '"+schema+"')")
		if exchanged {
			root.exec("CALL dp_set_neighbours('" + schema + ".visits', 'replace-one')")
		}
		root.exec("CALL dp_set_budget('"+schema+".visits', '*', 1000000, 0.001, 'never')", "CALL dp_set_domain('"+schema+".visits', 'n', '{\"min\":0,\"max\":9}')",
			"CALL dp_set_defaults('"+schema+".visits', '{\"min_group_units\":20}')", "SET dp_raw = ON")
		// A person's rows: one in each of two of the keys 0 to 3, three in each of three keys that
		// few have.
		put := func(p, place, n int) {
			rows := []string{fmt.Sprintf("(%d,%d,%d)", p, place%4, n), fmt.Sprintf("(%d,%d,%d)", p, (place+1)%4, n)}
			for k := range 9 {
				rows = append(rows, fmt.Sprintf("(%d,%d,%d)", p, 100+3*(place%10)+k%3, n))
			}
			root.exec(fmt.Sprintf("DELETE FROM %s.visits WHERE person = %d", schema, p), fmt.Sprintf("INSERT INTO %s.visits VALUES %s", schema, strings.Join(rows, ",")))
		}
		for p := range 240 {
			put(p, p, p%5)
		}
		ann := i.analyst(root, "ann", schema)
		ann.exec("SET dp_rho = 40", "SET dp_max_groups_contributed = 2", "SET dp_keys = 'keep'")
		runs, charged, most := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}, map[string]float64{}
		for _, q := range queries {
			source.again(false)
			if rows := ann.query(fmt.Sprintf(q, schema)); len(rows) != 5 || rows[4][0] != "NULL" || rows[4][1] == "NULL" {
				t.Errorf("%s: got %v, and checks little", q, rows)
			}
			runs[q], charged[q] = source.again(false), lastCharge(t, root)
		}
		shares := func() map[string]float64 {
			return source.shares(runs, charged, func(q string) { ann.query(fmt.Sprintf(q, schema)) })
		}
		change := func(p int) {
			if exchanged {
				put(p, p+2, 9)
			} else {
				root.exec(fmt.Sprintf("DELETE FROM %s.visits WHERE person = %d", schema, p))
			}
		}
		for p := 3; p < 60; p += 15 {
			change(p)
			for q, share := range shares() {
				most[q] = max(most[q], share)
				if share > 1 {
					t.Errorf("%s: person %d loses %.3f of the charge (an exchange: %v)", q, p, share, exchanged)
				}
			}
			put(p, p, p%5)
		}
		if most[queries[0]] < 0.9 {
			t.Errorf("nobody loses more than %.3f of the charge: persons are not in as many groups as they may be", most[queries[0]])
		}
		for _, p := range []int{4, 44, 84} {
			change(p)
		}
		exceeded := false
		for _, share := range shares() {
			exceeded = exceeded || share > 1
		}
		if !exceeded {
			t.Error("three persons at once stay within the charge")
		}
		t.Logf("largest shares of the charge, exchanged %v: %.3v", exchanged, most)
	}
}
