package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestSharesOutsideTheirRange: a share or a correlation that a statement computes from several
// answers, and that is outside its range, has a warning with the number of such values; values
// within have none, and neither have quotients of other things.
func TestSharesOutsideTheirRange(t *testing.T) {
	i := startWith(t, "", seeded(t, "ranges", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE p (id INT PRIMARY KEY, g INT, x DOUBLE, y DOUBLE)")
	var rows []string
	for id := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d,%d,%g,%g)", id, id%7, float64(id%11)+1, 2*float64(id%11)+3))
	}
	root.exec("INSERT INTO p VALUES "+strings.Join(rows, ","), "CALL dp_protect('d.p', 'id', 'person')", "SET dp_epsilon = 5",
		"CALL dp_set_domain('d.p', 'g', '[0,1,2,3,4,5,6]')", "CALL dp_set_budget('d.p', '*', 1000, 1e-3, 'never')",
		`CALL dp_set_domain('d.p', 'x', '{"min": 0, "max": 12}')`, `CALL dp_set_domain('d.p', 'y', '{"min": 0, "max": 30}')`)
	const from = " FROM p WHERE id > -%d"
	warned := func() string {
		messages := fmt.Sprint(root.query("SHOW WARNINGS")) // before another statement has its own
		list := root.query("SELECT code, cells, of_cells FROM dp.last_warnings WHERE code = 'OUT_OF_RANGE'")
		if (len(list) > 0) != strings.Contains(messages, "OUT_OF_RANGE: ") {
			t.Errorf("dp.last_warnings has %v, SHOW WARNINGS %s", list, messages)
		}
		return fmt.Sprint(list)
	}
	for _, c := range []struct {
		query     string
		low, high float64
	}{
		{"SELECT COUNT(CASE WHEN x >= 0 THEN 1 END) / COUNT(*)" + from, 0, 1},
		{"SELECT 100.0 * SUM(x > 0) / COUNT(*) AS percent, 1 AS one" + from, 0, 100},
		{"SELECT g, SUM(CASE WHEN x > 0 THEN x ELSE 0 END) / NULLIF(SUM(x), 0)" + from + " GROUP BY g", 0, 1},
		{"SELECT g, ROUND(SUM(IF(x > 0, x, 0)) / SUM(x), 4) AS share" + from + " GROUP BY g HAVING COUNT(*) > 1 ORDER BY share DESC LIMIT 5", 0, 1},
		{"SELECT DP_SUM(CASE WHEN x > 0 THEN x END) / DP_SUM(x)" + from, 0, 1},
		{"SELECT COUNT(DISTINCT CASE WHEN x > 0 THEN id END) / COUNT(DISTINCT id)" + from, 0, 1},
		{"SELECT (SELECT SUM(x)" + from + " AND y > 0) / (SELECT SUM(x)" + from + ")", 0, 1},
		{"SELECT 100 * (SELECT COUNT(*) FROM p WHERE x > 0 AND id > -%d) / (SELECT COUNT(*)" + from + ") AS percent, 1 AS one", 0, 100},
		{"SELECT g, ROUND(COUNT(DISTINCT id) / (SELECT COUNT(DISTINCT id)" + from + " AND g = 3), 3) AS share" + from + " AND g = 3 GROUP BY g", 0, 1},
		{"SELECT (AVG(x * y) - AVG(x) * AVG(y)) / (STDDEV_POP(x) * STDDEV_POP(y)) AS corr" + from, -1, 1},
		{"SELECT (COUNT(*) * SUM(x * y) - SUM(x) * SUM(y)) / SQRT((COUNT(*) * SUM(x * x) - SUM(x) * SUM(x)) * (COUNT(*) * SUM(y * y) - SUM(y) * SUM(y)))" + from, -1, 1},
	} {
		hits := 0
		for k := 1; k <= 12; k++ {
			result := root.query(strings.ReplaceAll(c.query, "%d", fmt.Sprint(k)))
			at, outside := len(result[0])-1, 0
			if strings.Contains(c.query, " AS one") {
				at--
			}
			for _, row := range result {
				if v := row[at]; v != "NULL" && (float(t, v) > c.high+1e-6 || float(t, v) < c.low-1e-6) {
					outside++
				}
			}
			want := "[]"
			if outside > 0 {
				hits++
				want = fmt.Sprintf("[[OUT_OF_RANGE %d %d]]", outside, len(result))
			}
			if got := warned(); got != want {
				t.Errorf("%s: %v: warned of %s, want %s", c.query, result, got, want)
			}
		}
		if hits == 0 {
			t.Errorf("%s: nothing was outside", c.query)
		}
	}
	if e := root.refused(1644, "45020", "SELECT /*+ SET_VAR(dp_warnings=error) */ g, SUM(IF(x > 0, x, 0)) / SUM(x) FROM p WHERE id > -1 GROUP BY g"); !strings.Contains(e.Message, "OUT_OF_RANGE: ") {
		t.Errorf("dp_warnings = 'error': %s", e.Message)
	}
	for _, q := range []string{
		"SELECT SUM(y) / SUM(x)", "SELECT SUM(y) / COUNT(*)", "SELECT COUNT(*) / COUNT(DISTINCT g > 3, id) FROM p WHERE 1 = 0 UNION SELECT 2",
		"SELECT SUM(CASE WHEN x > 0 THEN y END) / SUM(x)", "SELECT (AVG(x * y) - AVG(x) * AVG(y)) / VAR_POP(x)",
		"SELECT (SELECT SUM(y) FROM p) / (SELECT SUM(x) FROM p) AS q", "SELECT (SELECT COUNT(*) FROM p) / (SELECT COUNT(*) FROM p WHERE x > 5) AS q",
		"SELECT g, (SELECT COUNT(*) FROM p WHERE x > 2) / COUNT(*) FROM p GROUP BY g", "SELECT (SELECT SUM(x) FROM p WHERE y > 9) / (SELECT SUM(x) FROM p WHERE y < 9) AS q",
		"SELECT SUM(CASE WHEN x > 2 THEN 7 ELSE 0 END) / COUNT(*)", "SELECT SUM(CASE WHEN x > 2 THEN x ELSE 50 END) / SUM(x)",
	} {
		if !strings.Contains(q, " FROM ") {
			q += " FROM p"
		}
		if _, err := root.try(q); err != nil {
			continue // refused for another reason
		}
		if got := warned(); got != "[]" {
			t.Errorf("%s: warned of %s", q, got)
		}
	}
}
