package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"scrim/test/stattest"
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
		"x": "0 0.25", "m": "0.25 1.25", "t": "NULL zoe", "IF(n > 5, t, IF(n = 1, 'b', CONCAT('a', 'c')))": "ac b", "CASE WHEN n = 1 THEN NULL WHEN n > 5 THEN m ELSE 2.5 END": "NULL 2.50",
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

// keysOf are the keys of person p of selectedKeysSound: from one to six, on one side; with other,
// those of the person in p's place, on the other side.
func keysOf(p int, other bool) []int {
	var keys []int
	for k := range 1 + p%6 {
		if keys = append(keys, k); other {
			keys[k] = 11 - k
		}
	}
	return keys
}

// TestSelectionMovesByAtMostItsLoss takes persons of one to six keys away, or exchanges them for
// persons of as many other keys, with the same answers forced after every noisy step: what is
// counted for the selection moves by what is charged, whatever the number of keys, whether their
// groups are answered apart, as one vector or not at all. Two persons at once exceed the charge.
func TestSelectionMovesByAtMostItsLoss(t *testing.T) {
	queries := []string{
		"SELECT h FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=separate) */ h, COUNT(*), SUM(n) FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=vector) */ h, COUNT(*) FROM %[1]s.visits GROUP BY h",
		"SELECT /*+ SET_VAR(dp_group_by=vector) */ h, COUNT(*), DP_MEDIAN(n) FROM %[1]s.visits GROUP BY h",
	}
	for schema, exchanged := range map[string]bool{"a": false, "r": true} {
		source := &recorders{t: t}
		i := startWith(t, "", source.next)
		root := i.root()
		root.exec("CREATE DATABASE "+schema, "CREATE TABLE "+schema+".visits (person INT, h INT, n INT)", "CALL dp_protect('"+schema+".visits', 'person', '"+schema+"')")
		if exchanged {
			root.exec("CALL dp_set_neighbours('" + schema + ".visits', 'replace-one')")
		}
		root.exec("CALL dp_set_budget('"+schema+".visits', '*', 1000000, 0.001, 'never')", "CALL dp_set_domain('"+schema+".visits', 'n', '{\"min\":0,\"max\":9}')", "SET dp_raw = ON")
		put := func(p int, keys []int) {
			root.exec(fmt.Sprintf("DELETE FROM %s.visits WHERE person = %d", schema, p))
			for _, k := range keys {
				root.exec(fmt.Sprintf("INSERT INTO %s.visits VALUES (%d, %d, %d)", schema, p, k, p%10))
			}
		}
		const persons = 72
		for p := range persons {
			put(p, keysOf(p, p >= persons/2))
		}
		ann := i.analyst(root, "ann", schema)
		ann.exec("SET dp_rho = 40", "SET dp_max_groups_contributed = 6")
		runs, charged, most := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}, map[string]float64{}
		for _, q := range queries {
			source.again(false)
			if rows := ann.query(fmt.Sprintf(q, schema)); len(rows) < 4 {
				t.Errorf("%s: got %v, and checks little", q, rows)
			}
			runs[q], charged[q] = source.again(false), lastCharge(t, root)
		}
		shares := func() map[string]float64 {
			return source.shares(runs, charged, func(q string) { ann.query(fmt.Sprintf(q, schema)) })
		}
		change := func(p int) {
			if exchanged {
				put(p, keysOf(p, true))
			} else {
				put(p, nil)
			}
		}
		for p := range 6 {
			change(p)
			for q, share := range shares() {
				most[q] = max(most[q], share)
				if share > 1 || q == queries[0] && share < 0.9 {
					t.Errorf("%s: person %d of %d keys loses %.3f of the charge (an exchange: %v)", q, p, p+1, share, exchanged)
				}
			}
			put(p, keysOf(p, false))
		}
		change(4)
		change(5)
		if share := shares()[queries[0]]; share <= 1 {
			t.Errorf("two persons at once stay within the charge: %.3f", share)
		}
		t.Logf("largest shares of the charge, exchanged %v: %.3v", exchanged, most)
	}
}

// TestWhatSelectedKeysNeed: EXPLAIN, dp_price and the warnings tell from how many persons a key is
// shown, of those who hold one key and of those who hold as many as count.
func TestWhatSelectedKeysNeed(t *testing.T) {
	i := startWith(t, "", seeded(t, "what keys need", 1))
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.visits (person INT, h INT)", "CALL dp_protect('s.visits', 'person', 'p')", "CALL dp_set_budget('s.visits', '*', 1000, 0.001, 'never')",
		"SET dp_raw = ON", "INSERT INTO s.visits VALUES (1, 1), (2, 1)", "SET dp_raw = OFF", "SET dp_rho = 0.1, dp_delta = 1e-6, dp_warnings = 'show'")
	const q = "SELECT h, COUNT(*) FROM s.visits GROUP BY h"
	for what, text := range map[string]string{
		"EXPLAIN":  fmt.Sprint(root.query("EXPLAIN " + q)),
		"dp_price": fmt.Sprint(root.query("CALL dp_price('" + q + "')")),
	} {
		if !strings.Contains(text, "1/sqrt(k") || !strings.Contains(text, "18") {
			t.Errorf("%s does not tell the weights: %s", what, text)
		}
	}
	if rows := root.query(q); len(rows) != 0 {
		t.Fatalf("two persons have a group: %v", rows)
	}
	if codes, texts := warned(t, root); codes != "Warning NO_KEYS" || !strings.Contains(texts, "18 persons or more, where one who holds k keys counts 1/sqrt(k)") {
		t.Errorf("got %s %s", codes, texts)
	}
}
