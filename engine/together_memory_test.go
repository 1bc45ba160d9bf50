package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestOnePersonCannotEndAQuery: one person with more keys than are kept of one is left out of most
// of them, and the query is answered as without that person, also where other aggregates stand
// beside. Nobody else has so many keys that a query would have to end.
func TestOnePersonCannotEndAQuery(t *testing.T) {
	i := startWith(t, "", seeded(t, "one person with many keys", 1), func(c *Config) { c.ReleaseMemory = 16 })
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.v (person INT, k INT, n INT)", "CALL dp_protect('s.v', 'person', 'p')",
		"CALL dp_set_budget('s.v', '*', 1000000, 0.001, 'never')")
	insert := func(person, keys int) {
		for from := 0; from < keys; from += 10000 {
			var rows []string
			for k := from; k < min(from+10000, keys); k++ {
				rows = append(rows, fmt.Sprintf("(%d,%d,1)", person, k))
			}
			root.exec("INSERT INTO s.v VALUES " + strings.Join(rows, ","))
		}
	}
	for p := range 300 {
		insert(p, 3)
	}
	insert(1000, 100000)
	ann := i.analyst(root, "ann", "s")
	ann.exec("SET dp_rho = 4", "SET dp_group_by = 'vector'")
	for _, q := range []string{"SELECT k, COUNT(*) FROM s.v GROUP BY k", "SELECT k, COUNT(*), SUM(n), VAR_POP(n) FROM s.v GROUP BY k"} {
		if plan := fmt.Sprint(ann.query("EXPLAIN " + q)); !strings.Contains(plan, "groups as one vector") {
			t.Errorf("%s: got the plan %s", q, plan)
		}
		rows, err := ann.try(q)
		if err != nil || len(rows) != 3 {
			t.Fatalf("%s: got %v and %v, want the three keys of everyone", q, rows, err)
		}
		for _, row := range rows {
			near(t, q, row[1], 300, 30)
		}
	}
}
