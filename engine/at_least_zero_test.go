package engine

import (
	"fmt"
	"testing"
)

// TestSumsOfWhatIsNotNegative: SUM over values that cannot be negative, and COUNT, answer nothing
// below 0, and neither do their intervals; DP_SUM and DP_COUNT keep the noise as it is. Of an empty
// region each noisy number is negative in every second draw: forty answers without one below 0 have
// a chance of 1e-12.
func TestSumsOfWhatIsNotNegative(t *testing.T) {
	i := startWith(t, "", seeded(t, "at least zero", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE people (id INT PRIMARY KEY, city INT, age INT, h DOUBLE, units INT UNSIGNED, gain DOUBLE)",
		"INSERT INTO people VALUES (1, 1, 30, 1.5, 2, -1), (2, 2, 30, 2.5, 3, 4)", "CALL dp_protect('d.people', 'id', 'person')", "SET dp_epsilon = 1",
		`CALL dp_set_domain('d.people', 'h', '{"min": 0, "max": 10}')`, `CALL dp_set_domain('d.people', 'gain', '{"min": -1, "max": 5}')`,
		"CALL dp_set_domain('d.people', 'city', '[1, 2, 3]')", "CALL dp_set_budget('d.people', '*', 100000, 1e-3, 'never')")
	const none = " FROM people WHERE age > %d"
	below := func(query string) (n int) {
		t.Helper()
		for k := range 40 {
			for _, row := range root.query(fmt.Sprintf(query, 1000+k)) {
				for _, v := range row[len(row)-2:] {
					if v != "NULL" && float(t, v) < 0 {
						n++
					}
				}
			}
		}
		return n
	}
	for _, query := range []string{
		"SELECT SUM(h) AS s, DP_LOW(s)" + none,
		"SELECT SUM(h > 2) AS s, DP_HIGH(s)" + none,
		"SELECT COUNT(*) AS n, DP_LOW(n)" + none,
		"SELECT city, SUM(h) AS s, DP_LOW(s)" + none + " GROUP BY city",
		"SELECT /*+ SET_VAR(dp_group_by=separate) */ city, SUM(CASE WHEN age > 5 THEN 1 ELSE 0 END) AS s, DP_LOW(s)" + none + " GROUP BY city",
		"SELECT SUM(units), SUM(h)" + none,
	} {
		if n := below(query); n > 0 {
			t.Errorf("%s: %d numbers below 0", query, n)
		}
	}
	for _, query := range []string{
		"SELECT DP_SUM(h) AS s, DP_LOW(s)" + none,
		"SELECT SUM(gain) AS s, DP_LOW(s)" + none,
		"SELECT DP_COUNT(*) AS n, DP_LOW(n)" + none,
	} {
		if below(query) == 0 {
			t.Errorf("%s: nothing below 0", query)
		}
	}
}
