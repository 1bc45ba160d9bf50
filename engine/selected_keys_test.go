package engine

import (
	"fmt"
	"testing"
)

// TestSelectedKeysOfEveryKind: keys that are selected are counted, kept and joined whatever their
// type is and however many constants make them, NULL among them, in the order of their values.
func TestSelectedKeysOfEveryKind(t *testing.T) {
	i := startWith(t, "", seeded(t, "kinds of keys", 1))
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.digits (d INT PRIMARY KEY)", "INSERT INTO s.digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)", "CALL dp_public('s.digits')",
		"CREATE TABLE s.people (id BIGINT PRIMARY KEY, joined DATE, seen DATETIME, n INT, big BIGINT UNSIGNED, x DOUBLE, m DECIMAL(10,2), t VARCHAR(20))",
		"CALL dp_protect('s.people', 'id', 'p')", "CALL dp_set_budget('s.people', '*', 1000, 0.001, 'never')", "SET dp_raw = ON",
		`INSERT INTO s.people SELECT a.d * 100 + b.d * 10 + c.d, DATE_ADD('2020-01-15', INTERVAL b.d MOD 2 MONTH), DATE_ADD('2020-01-15 10:00:00', INTERVAL b.d MOD 2 DAY),
		b.d MOD 2, IF(b.d MOD 2 = 0, 18446744073709551614, 18446744073709551615), b.d MOD 2 / 4, b.d MOD 2 + 0.25, IF(b.d MOD 2 = 0, NULL, 'Zoë') FROM s.digits a, s.digits b, s.digits c`,
		"SET dp_raw = OFF, dp_rho = 5")
	for key, want := range map[string]string{
		"CAST(DATE_FORMAT(joined, '%Y-%m-01') AS DATE)":                  "2020-01-01 2020-02-01",
		"CAST(DATE_FORMAT(joined, '%Y-%m-01T00:00:00.000') AS DATETIME)": "2020-01-01 00:00:00 2020-02-01 00:00:00",
		"joined": "2020-01-15 2020-02-15", "seen": "2020-01-15 10:00:00 2020-01-16 10:00:00", "n": "0 1", "big": "18446744073709551614 18446744073709551615",
		"x": "0 0.25", "m": "0.25 1.25", "t": "NULL Zoë", "IF(n = 1, 'b', CONCAT('a', 'c'))": "ac b", "CASE WHEN n = 1 THEN NULL ELSE 2.5 END": "NULL 2.5",
	} {
		for _, aggregates := range []string{"COUNT(*)", "COUNT(*), AVG(n), DP_MEDIAN(x)"} {
			rows := root.query("SELECT " + key + " AS k, " + aggregates + " FROM s.people GROUP BY k")
			if len(rows) != 2 || fmt.Sprint(rows[0][0], " ", rows[1][0]) != want {
				t.Errorf("%s, %s: got %v, want %s", key, aggregates, rows, want)
				continue
			}
			for _, r := range rows {
				near(t, key, r[1], 500, 30)
			}
		}
	}
}
