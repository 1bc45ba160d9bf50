package engine

import (
	"strings"
	"testing"
)

// TestColumnsThatAreNotGrouped: a column that is neither a key nor in an aggregate is MySQL's error
// 1055 on protected tables, too, whatever sql_mode says: any value of it would be a person's.
func TestColumnsThatAreNotGrouped(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.visits (person INT, shop INT, at DATE, n INT)", "CALL dp_protect('s.visits', 'person', 'p')",
		"CALL dp_set_domain('s.visits', 'shop', '[1, 2]')", "CALL dp_set_budget('s.visits', '*', 1000, 1e-4, 'never')")
	ann := i.analyst(root, "ann", "s")
	for _, mode := range []string{"ONLY_FULL_GROUP_BY", ""} {
		ann.exec("USE s", "SET sql_mode = '"+mode+"'")
		for _, q := range []string{
			"SELECT shop, person FROM visits GROUP BY shop",
			"SELECT shop, person AS p, COUNT(*) FROM visits GROUP BY shop",
			"SELECT shop, n + 1, COUNT(*) FROM visits GROUP BY shop",
			"SELECT shop, COUNT(*) + n FROM visits GROUP BY shop ORDER BY shop",
			"SELECT shop, COUNT(*) FROM visits GROUP BY shop ORDER BY person",
			"SELECT k, p FROM (SELECT shop AS k, n AS p, COUNT(*) AS c FROM visits GROUP BY shop) d",
			"SELECT YEAR(at), at, COUNT(*) FROM visits GROUP BY YEAR(at)",
			"SELECT person, COUNT(*) FROM visits",
		} {
			if _, err := ann.try(q); err == nil || !strings.Contains(err.Error(), "1055") && !strings.Contains(err.Error(), "1140") {
				t.Errorf("%s: got %v, want error 1055 or 1140", q, err)
			}
		}
		for _, q := range []string{
			"SELECT MONTH(at) AS m, COUNT(*) FROM visits GROUP BY m ORDER BY m",
			"SELECT MONTH(at) + 1, COUNT(*) FROM visits GROUP BY MONTH(at) ORDER BY MONTH(at) DESC",
			"SELECT CONCAT('s', shop), COUNT(*) FROM visits GROUP BY shop HAVING COUNT(*) > 0 OR shop = 1 ORDER BY shop",
		} {
			ann.query(q)
		}
	}
	if e := ann.refused(1055, "42000", "SELECT shop, person FROM visits GROUP BY shop"); !strings.Contains(e.Message, "visits.person") {
		t.Errorf("got %v, want the column's name", e)
	}
}
