package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestWindowsOverGroups: window functions over groups are of the released rows, and cost what the
// groups do, as a derived table would.
func TestWindowsOverGroups(t *testing.T) {
	root := shops(t, startWith(t, "", silence), 0)
	root.exec("USE d", "SET dp_rho = 50")
	spent := func() float64 {
		return floats(t, root.value("SELECT spent_rho FROM dp.budgets WHERE account = 'd.visits' AND principal = '*'"))[0]
	}
	const ranked = "SELECT shop, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits"
	before := spent()
	a, err := root.answer(ranked + " WHERE day = 'mon' GROUP BY shop ORDER BY n DESC")
	if err != nil {
		t.Fatal(err)
	}
	if cost := spent() - before; math.Abs(cost-50) > 1e-9 {
		t.Errorf("it cost %g, not once the loss", cost)
	}
	if !slices.Equal(a.columns, []string{"shop", "n", "r", "share"}) || len(a.rows) != 4 {
		t.Fatalf("%v", a)
	}
	total := 0.0
	for _, row := range a.rows {
		total += floats(t, row[1])[0]
	}
	for k, row := range a.rows {
		if x := floats(t, row[1:]...); x[1] != float64(k+1) || math.Abs(x[2]-x[0]/total) > 1e-4 {
			t.Errorf("%v, of %g", row, total)
		}
	}
	root.exec("SET dp_raw = 1")
	raw := root.query(ranked + " WHERE day = 'mon' GROUP BY shop ORDER BY n DESC")
	root.exec("SET dp_raw = 0")
	if fmt.Sprint(raw) != fmt.Sprint(a.rows[:3]) || a.rows[3][0] != "empty" {
		t.Errorf("raw %v, released without noise %v", raw, a.rows)
	}

	for q, want := range map[string]string{
		// error bars are the aggregation's, by alias and written out
		"SELECT shop, COUNT(*) AS n, DP_LOW(n) > 0 AS low, DP_INFO(n) IS NOT NULL AS info, ROW_NUMBER() OVER (ORDER BY DP_LOW(n)) AS k FROM visits GROUP BY shop HAVING n > 100 ORDER BY DP_HIGH(n)": "[west 1163 1 1 1] [south 2028 1 1 2] [north 2776 1 1 3]",
		"SELECT shop, GROUPING(shop) AS g, COUNT(*) AS n, ROUND(COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY GROUPING(shop)), 2) AS share FROM visits GROUP BY shop WITH ROLLUP ORDER BY g, n":        "[empty 0 0 0.00] [west 0 1163 0.19] [south 0 2028 0.34] [north 0 2776 0.47] [NULL 1 5967 1.00]",
		"SELECT COUNT(*), RANK() OVER (ORDER BY AVG(amount)) FROM visits":                                               "[5967 1]",
		"SELECT ROW_NUMBER() OVER (ORDER BY shop DESC) AS k FROM visits GROUP BY shop ORDER BY k":                       "[1] [2] [3] [4]",
		"SELECT COUNT(*) OVER () AS k, FIRST_VALUE(shop) OVER (ORDER BY SUM(amount)) FROM visits GROUP BY shop LIMIT 1": "[4 empty]",
	} {
		if got := root.query(q); strings.Trim(fmt.Sprint(got), "[]") != strings.Trim(want, "[]") {
			t.Errorf("%s: got %v, want %s", q, got, want)
		}
	}
	root.exec("CREATE VIEW ranks AS " + ranked + " GROUP BY shop")
	if got := root.query("SELECT shop, n, r FROM ranks WHERE r <= ? ORDER BY r", 2); fmt.Sprint(got) != "[[north 2776 1] [south 2028 2]]" {
		t.Errorf("a view: %v", got)
	}
	if got := root.query("SELECT shop, SUM(amount > ?) AS s, RANK() OVER (ORDER BY SUM(amount > ?) DESC) AS r FROM visits WHERE day = ? GROUP BY shop HAVING s > ? ORDER BY r", 25, 25, "tue", 10); len(got) != 3 || got[0][0] != "north" {
		t.Errorf("prepared: %v", got)
	}

	root.refused(1644, "45017", "SELECT shop, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY shop HAVING r < 2")
	root.refused(1644, "45017", "SELECT shop, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY shop, 2")
	root.refused(1054, "42S22", "SELECT shop, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY shop, r")
	root.refused(1055, "42000", "SELECT *, RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY shop")
	root.refused(1644, "", "SELECT RANK() OVER (ORDER BY amount) FROM visits")
}

// TestQuantilesOfOtherServers: the error names the function that serves.
func TestQuantilesOfOtherServers(t *testing.T) {
	root := shops(t, startWith(t, "", silence), 0)
	root.exec("USE d")
	for q, want := range map[string]string{
		"SELECT shop, MEDIAN(amount) FROM visits GROUP BY shop":                                                "DP_MEDIAN(x)",
		"SELECT shop, RANK() OVER (ORDER BY MEDIAN(amount)) FROM visits GROUP BY shop":                         "DP_MEDIAN(x)",
		"SELECT MEDIAN(amount) OVER (PARTITION BY shop) FROM visits":                                           "DP_MEDIAN(x)",
		"SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS p FROM visits":                          "DP_QUANTILE(x, q)",
		"SELECT percentile_disc(0.9) within group (order by amount desc) over (partition by shop) FROM visits": "DP_QUANTILE(x, q)",
		"SELECT PERCENTILE_CONT(amount, 0.9) FROM visits":                                                      "DP_QUANTILE(x, q)",
	} {
		if e := root.refused(1644, "45017", q); !strings.Contains(e.Message, want) {
			t.Errorf("%s: %s", q, e.Message)
		}
	}
	root.exec("CREATE TABLE median (median INT, percentile_cont INT)", "CALL dp_public('d.median')", "INSERT INTO median (median, percentile_cont) VALUES (1, 2)")
	if got := root.query("WITH within (median) AS (SELECT percentile_cont FROM median) SELECT (median) + 1 FROM within"); fmt.Sprint(got) != "[[3]]" {
		t.Errorf("as names: %v", got)
	}
}

// windowRows are the rows of TestWindowsBesideMariaDB: NULLs, ties, negative numbers, decimals,
// dates and texts.
var windowRows = []string{
	"CREATE TABLE w (id INT PRIMARY KEY, g VARCHAR(5), i INT, d DECIMAL(8,2), f DOUBLE, dt DATE, ts DATETIME, t VARCHAR(10), u BIGINT UNSIGNED, tm TIME)",
	`INSERT INTO w VALUES (1,'a',3,1.50,0.5,'2024-01-31','2024-01-31 10:00:00','xx',5,'10:00:00'), (2,'a',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL),
		(3,'a',-2,-7.25,-1.25,'2024-02-29','2024-02-29 23:59:59','aa',0,'01:30:00'), (4,'a',3,2.50,2.5,'2024-03-01','2024-03-01 00:00:00','b',7,'12:00:00'),
		(5,'b',10,100.00,1e10,'2023-12-31','2023-12-31 12:00:00','zz',9,'00:00:01'), (6,'b',10,99.99,3,'2024-01-01','2024-01-01 00:00:00','zz',9,'23:00:00'),
		(7,'b',NULL,0.01,4,NULL,NULL,'q',1,NULL), (8,NULL,0,0.00,0,'2024-02-01','2024-02-01 06:00:00','',2,'06:00:00'), (9,NULL,7,-1.00,-2,'2024-02-02','2024-02-02 06:00:00','m',3,'06:30:00'),
		(10,'c',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL), (11,'a',4,3.33,1,'2024-01-31','2024-01-31 11:00:00','xy',5,'10:15:00'), (12,'b',-5,-3.00,2,'2024-02-28','2024-02-28 11:00:00','c',6,'11:00:00')`,
}

// windowQuestions are answered alike by MySQL and MariaDB.
var windowQuestions = []string{
	"SELECT id, ROW_NUMBER() OVER (ORDER BY i, id), RANK() OVER (ORDER BY i), DENSE_RANK() OVER (ORDER BY i DESC), ROUND(PERCENT_RANK() OVER (ORDER BY i), 6), ROUND(CUME_DIST() OVER (ORDER BY i DESC), 6) FROM w ORDER BY id",
	"SELECT id, RANK() OVER (PARTITION BY g ORDER BY i DESC, d), NTILE(3) OVER (ORDER BY id), NTILE(5) OVER (PARTITION BY g ORDER BY id DESC) FROM w ORDER BY id",
	"SELECT id, SUM(i) OVER (ORDER BY i), LAST_VALUE(i) OVER (ORDER BY i), COUNT(*) OVER (ORDER BY i DESC), AVG(d) OVER (PARTITION BY g ORDER BY id) FROM w ORDER BY id",
	"SELECT id, SUM(d) OVER (PARTITION BY g), AVG(i) OVER (PARTITION BY g), MIN(t) OVER (PARTITION BY g ORDER BY t DESC), COUNT(i) OVER () FROM w ORDER BY id",
	"SELECT id, SUM(i) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING), AVG(d) OVER (ORDER BY id ROWS 2 PRECEDING), COUNT(i) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING), MIN(i) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING), MAX(t) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM w ORDER BY id",
	"SELECT id, SUM(i) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), SUM(d) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING), SUM(d) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), SUM(d) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) FROM w ORDER BY id",
	"SELECT id, SUM(i) OVER (ORDER BY i RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING), COUNT(*) OVER (ORDER BY i DESC RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING), COUNT(*) OVER (ORDER BY d RANGE BETWEEN 1 PRECEDING AND CURRENT ROW), COUNT(*) OVER (ORDER BY f RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) FROM w ORDER BY id",
	"SELECT id, COUNT(*) OVER (ORDER BY i RANGE BETWEEN 1 FOLLOWING AND 7 FOLLOWING), COUNT(*) OVER (ORDER BY i DESC RANGE BETWEEN 7 PRECEDING AND 1 PRECEDING), COUNT(*) OVER (ORDER BY i RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM w ORDER BY id",
	"SELECT id, FIRST_VALUE(d) OVER (PARTITION BY g ORDER BY i, id), LAST_VALUE(d) OVER (PARTITION BY g ORDER BY i, id), NTH_VALUE(d, 2) OVER (PARTITION BY g ORDER BY i, id), NTH_VALUE(id, 3) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), FIRST_VALUE(t) OVER (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) FROM w ORDER BY id",
	"SELECT id, LAG(i) OVER (ORDER BY id), LEAD(d, 2) OVER (PARTITION BY g ORDER BY id), LAG(t, 0) OVER (ORDER BY id), LEAD(dt, 1) OVER (ORDER BY dt, id) FROM w ORDER BY id",
	"SELECT id, BIT_AND(u) OVER (PARTITION BY g), BIT_OR(u) OVER (ORDER BY id), BIT_XOR(u) OVER (ORDER BY id ROWS 1 PRECEDING) FROM w ORDER BY id",
	"SELECT id, RANK() OVER w1, SUM(i) OVER w2, COUNT(*) OVER (w1 ROWS 1 PRECEDING) FROM w WINDOW w1 AS (PARTITION BY g ORDER BY i, id), w2 AS (PARTITION BY g) ORDER BY id",
	"SELECT g, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY g), RANK() OVER (ORDER BY COUNT(*) DESC), SUM(SUM(i)) OVER () FROM w GROUP BY g ORDER BY g",
	"SELECT g, i, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY g ORDER BY i) AS run FROM w GROUP BY g, i ORDER BY g, i",
	"SELECT id, (SELECT COUNT(*) FROM w x WHERE x.i < w.i) AS c, RANK() OVER (ORDER BY i) FROM w ORDER BY id",
	"SELECT id AS q, (SELECT COUNT(*) FROM w x WHERE x.i < w.i) AS c, RANK() OVER (ORDER BY i) + 1 AS r FROM w ORDER BY r, q",
	"SELECT id, RANK() OVER (ORDER BY i) FROM w ORDER BY (SELECT COUNT(*) FROM w x WHERE x.d < w.d), id",
	"SELECT w.id, EXISTS (SELECT 1 FROM w x WHERE x.d > y.d) e, SUM(y.i) OVER (ORDER BY w.id) s FROM w JOIN w y ON w.id = y.id ORDER BY w.id",
	"SELECT id, RANK() OVER (ORDER BY (SELECT COUNT(*) FROM w x WHERE x.d < w.d)) AS r FROM w ORDER BY r, id",
	"SELECT id, (SELECT k FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) k FROM w) y WHERE y.id = w.id) FROM w ORDER BY id",
	"SELECT id, i + CAST(RANK() OVER (ORDER BY i) AS SIGNED), SUM(i) OVER (ORDER BY id) / COUNT(*) OVER () FROM w ORDER BY id",
	"SELECT RANK() OVER (ORDER BY i) + 1, RANK() OVER (ORDER BY i) FROM w ORDER BY RANK() OVER (ORDER BY i), id",
	"SELECT DISTINCT g, COUNT(*) OVER (PARTITION BY g) FROM w ORDER BY g",
	"SELECT * FROM (SELECT id, g, ROW_NUMBER() OVER (PARTITION BY g ORDER BY d DESC, id) AS k FROM w) x WHERE k <= 2 ORDER BY g, k",
	"SELECT id, MIN(i) OVER (ORDER BY id ROWS BETWEEN 1000000000000 PRECEDING AND 1 PRECEDING) FROM w ORDER BY id",
	"SELECT id, SUM(i) OVER (ORDER BY id ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING), MAX(d) OVER (ORDER BY id DESC ROWS BETWEEN 5 PRECEDING AND 3 PRECEDING), AVG(i) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM w ORDER BY id",
	"SELECT id, SUM(i) OVER (ORDER BY t, d DESC, id), COUNT(*) OVER (PARTITION BY g, i ORDER BY t), COUNT(CASE WHEN i > 3 THEN 1 END) OVER (ORDER BY id), ROUND(AVG(d) OVER (ORDER BY id), 2) FROM w ORDER BY id",
}

// TestWindowsBesideMariaDB: functions of windows answer as MariaDB does, where that is as MySQL
// documents them.
func TestWindowsBesideMariaDB(t *testing.T) {
	root, other := start(t, "", byBytes).root(), mariadb(t)
	for _, c := range []*client{root, other} {
		c.exec("CREATE DATABASE d", "USE d")
		c.exec(windowRows...)
	}
	root.exec("CALL dp_public('d.w')")
	for _, q := range windowQuestions {
		got, err := root.try(q)
		if want := other.query(q); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v\ngot  %v\nwant %v", q, err, got, want)
		}
	}
}

// TestWindowsAsDocumented: what MariaDB has not, or has otherwise.
func TestWindowsAsDocumented(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "USE d")
	root.exec(windowRows...)
	root.exec("CALL dp_public('d.w')")
	for q, want := range map[string]string{
		"SELECT LAG(i, 1, -1) OVER (ORDER BY id), LEAD(t, 2, 'none') OVER (ORDER BY id), LAG(i, 1, id * 100) OVER (PARTITION BY g ORDER BY id), LEAD(d, 1, 0) OVER (ORDER BY id), LAG(i, 1, 0.5) OVER (ORDER BY id) FROM w WHERE id > 8 ORDER BY id":                                           "[-1 xy 900 NULL 0.5] [7 c 1000 3.33 7.0] [NULL none 1100 -3.00 NULL] [4 none 1200 0.00 4.0]",
		"SELECT COUNT(*) OVER (ORDER BY dt RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW), SUM(i) OVER (ORDER BY ts DESC RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 36 HOUR FOLLOWING), COUNT(*) OVER (ORDER BY tm RANGE INTERVAL 30 MINUTE PRECEDING) FROM w ORDER BY id": "[4 7 1] [3 NULL 3] [6 1 1] [5 1 1] [1 20 1] [2 20 1] [3 NULL 3] [4 14 1] [4 7 2] [3 NULL 3] [4 7 2] [5 -5 1]",
		"SELECT JSON_ARRAYAGG(i) OVER (ORDER BY id), JSON_OBJECTAGG(id, t) OVER (PARTITION BY g ORDER BY id) FROM w WHERE id < 4 ORDER BY id":                                                                                                                                                  `[[3] {"1": "xx"}] [[3, null] {"1": "xx", "2": null}] [[3, null, -2] {"1": "xx", "2": null, "3": "aa"}]`,
		"SELECT ROUND(STDDEV(i) OVER (PARTITION BY g), 4), ROUND(VAR_SAMP(i) OVER (ORDER BY id ROWS 2 PRECEDING), 4), MAX(dt) OVER (ORDER BY dt), SUM(i) OVER (ORDER BY u RANGE 1 PRECEDING) FROM w WHERE g = 'a' ORDER BY id":                                                                 "[2.3452 NULL 2024-01-31 7] [2.3452 NULL NULL NULL] [2.3452 12.5 2024-02-29 -2] [2.3452 12.5 2024-03-01 3] [2.3452 10.3333 2024-01-31 7]",
		"SELECT RANK() OVER (), CUME_DIST() OVER (), NTH_VALUE(id, NULL) OVER () FROM w WHERE id < 3 ORDER BY id":                                                                                                                                                                              "[1 1 NULL] [1 1 NULL]",
	} {
		got, err := root.try(q)
		if text := fmt.Sprint(got); err != nil || text != "["+want+"]" {
			t.Errorf("%s: %v\ngot  %s\nwant [%s]", q, err, text, want)
		}
	}
	for q, number := range map[string]uint16{
		"SELECT COUNT(DISTINCT i) OVER () FROM w":                                     1235,
		"SELECT NTILE(0) OVER () FROM w":                                              1210,
		"SELECT NTILE(9223372036854775808) OVER () FROM w":                            1210,
		"SELECT NTH_VALUE(i, 0) OVER () FROM w":                                       1210,
		"SELECT LAG(i, id) OVER (ORDER BY id) FROM w":                                 1210,
		"SELECT COUNT(*) OVER (ORDER BY t RANGE 1 PRECEDING) FROM w":                  3587,
		"SELECT COUNT(*) OVER (ORDER BY i, d RANGE 1 PRECEDING) FROM w":               3587,
		"SELECT COUNT(*) OVER (ORDER BY dt RANGE 1 PRECEDING) FROM w":                 3588,
		"SELECT COUNT(*) OVER (ORDER BY i RANGE INTERVAL 1 DAY PRECEDING) FROM w":     3589,
		"SELECT COUNT(*) OVER (ORDER BY dt RANGE INTERVAL '-1' DAY PRECEDING) FROM w": 3586,
		"SELECT SUM(i) OVER nope FROM w":                                              3579,
		"SELECT id FROM w WHERE RANK() OVER (ORDER BY i) = 1":                         3593,
		"SELECT SUM(RANK() OVER (ORDER BY i)) OVER () FROM w":                         3593,
		"SELECT COUNT(*) OVER (ORDER BY i GROUPS 1 PRECEDING) FROM w":                 1064,
	} {
		root.refused(number, "", q)
	}
	a, err := root.answer("SELECT ROW_NUMBER() OVER (), NTILE(2) OVER (), PERCENT_RANK() OVER (ORDER BY id), COUNT(*) OVER (), SUM(d) OVER (), LAG(d) OVER (ORDER BY id), STDDEV(i) OVER (), BIT_OR(i) OVER () FROM w")
	if err != nil || fmt.Sprint(a.types) != "[UNSIGNED BIGINT UNSIGNED BIGINT DOUBLE BIGINT DECIMAL DECIMAL DOUBLE UNSIGNED BIGINT]" {
		t.Errorf("types %v: %v", a.types, err)
	}
	// Neither the default frame nor one that slides takes the square of the rows.
	root.exec("CREATE TABLE many (k INT)", "CALL dp_public('d.many')")
	var rows []string
	for k := range 40000 {
		rows = append(rows, fmt.Sprintf("(%d)", k+1))
	}
	root.insert("many", rows)
	const long = `SELECT SUM(a), SUM(b), SUM(c), SUM(e), MAX(l) FROM (SELECT SUM(k) OVER (ORDER BY k) AS a, AVG(k) OVER (ORDER BY k ROWS BETWEEN 10000 PRECEDING AND 10000 FOLLOWING) AS b,
		MAX(k) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS c, COUNT(*) OVER (ORDER BY k RANGE BETWEEN 9999 PRECEDING AND 10000 FOLLOWING) AS e, LAST_VALUE(k) OVER (ORDER BY k) AS l FROM many) x`
	if got := root.query(long); fmt.Sprint(got) != "[[10667466680000 800020000.0000 1600000000 700000000 40000]]" {
		t.Errorf("%v", got)
	}
}

// TestWindowsOverReleasedRows: over private answers and DP views they are what they are over rows.
func TestWindowsOverReleasedRows(t *testing.T) {
	root := shops(t, startWith(t, "", silence), 0)
	root.exec("USE d", "SET dp_rho = 50")
	const groups = " FROM visits GROUP BY shop, day HAVING COUNT(*) > 10 ORDER BY shop, day"
	for _, list := range []string{
		"SUM(COUNT(*)) OVER (ORDER BY shop)", "SUM(COUNT(*)) OVER (ORDER BY day DESC, shop ROWS 1 PRECEDING)", "LAST_VALUE(day) OVER (ORDER BY day), COUNT(*) OVER (ORDER BY day)",
		"LAG(COUNT(*), 1, 0) OVER (PARTITION BY shop ORDER BY day), NTH_VALUE(shop, 2) OVER (ORDER BY COUNT(*) DESC)", "CUME_DIST() OVER (ORDER BY COUNT(*)), NTILE(2) OVER (ORDER BY COUNT(*))",
		"SUM(NULLIF(COUNT(*), COUNT(*))) OVER (ORDER BY shop), AVG(NULLIF(COUNT(*), COUNT(*))) OVER ()", "RANK() OVER (ORDER BY NULLIF(shop, 'north') DESC), COUNT(*) OVER (ORDER BY NULLIF(shop, 'north'))",
	} {
		q := "SELECT shop, day, COUNT(*) AS n, " + list + groups
		got := root.query(q)
		root.exec("SET dp_raw = 1")
		want := root.query(q)
		root.exec("SET dp_raw = 0")
		if len(got) != 6 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s\ngot  %v\nwant %v", q, got, want)
		}
	}
	root.query(`CALL dp_create_view('d.v', 'SELECT shop, day, COUNT(*) AS n FROM d.visits GROUP BY 1, 2', '{"rho": 50}')`)
	shop, total := map[string]float64{}, 0.0
	cells := root.query("SELECT shop, day, n FROM v ORDER BY shop, day")
	for _, c := range cells {
		total += floats(t, c[2])[0]
		shop[c[0]] = total // with all of the shop's rows, which are peers
	}
	for i, c := range root.query("SELECT shop, SUM(n) OVER (ORDER BY shop), SUM(n) OVER (ORDER BY day ROWS BETWEEN 9 FOLLOWING AND 10 FOLLOWING), LAG(n) OVER (ORDER BY shop, day) FROM v ORDER BY shop, day") {
		if floats(t, c[1])[0] != shop[c[0]] || c[2] != "NULL" || i > 0 && c[3] != cells[i-1][2] {
			t.Errorf("over a view: %v of %v", c, cells)
		}
	}
}
