package engine

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"scrim/test/testenv"
)

// warned are the warnings of the last statement, one "Level CODE" each, and their texts.
func warned(t *testing.T, c *client) (codes, texts string) {
	t.Helper()
	for _, w := range c.query("SHOW WARNINGS") {
		code, text, _ := strings.Cut(w[2], ": ")
		if w[1] != "1644" {
			t.Errorf("got the number %s of %v, want 1644", w[1], w)
		}
		codes, texts = codes+" "+w[0]+" "+code, texts+text+"\n"
	}
	return strings.TrimSpace(codes), texts
}

// TestWeakAnswersSaySo: an answer without keys, with NULL, or with a wide error comes with a
// warning of its kind, which tells how often it happened and what would do; an answer that is none
// of these comes without.
func TestWeakAnswersSaySo(t *testing.T) {
	i := startWith(t, "", seeded(t, "weak answers", 1))
	root := i.root()
	people(t, root, 3000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 5")
	for _, c := range []struct {
		query, codes string
		says         []string
	}{
		{"SELECT COUNT(*) FROM people", "", nil},
		{"SELECT h FROM people LIMIT 0", "", nil},
		{"SELECT age, COUNT(*) FROM people WHERE id < 40 GROUP BY age", "Warning NO_KEYS",
			[]string{"no key (people.age)", "persons or more", "probability of 95 %", "CALL dp_set_domain('d.people', 'age', '[…]')", "SET_VAR(dp_epsilon=20)"}},
		{"SELECT age, COUNT(DISTINCT id) FROM people WHERE age < 22 GROUP BY age", "Note KEYS_LEFT_OUT", []string{"2 keys (people.age) are answered"}},
		{"SELECT city, AVG(age) AS a FROM people WHERE id < 6 GROUP BY city", "Warning TOO_FEW_PERSONS",
			[]string{"AVG(people.age) in 4 of 4 groups", "persons are needed", "The charge stands"}},
		{"SELECT AVG(CASE WHEN age < 45 THEN -1 ELSE 1 END) AS balance FROM people", "Warning WIDE_ERROR", []string{"farther from the answer than half of it: AVG(", "DP_LOW and DP_HIGH"}},
		{"SELECT city, COUNT(*), AVG(income) FROM people GROUP BY city", "Warning TOO_FEW_PERSONS Warning WIDE_ERROR",
			[]string{"AVG(people.income) in 1 of 4 groups", "COUNT(*) in 1 of 4 groups"}},
		{"SELECT city FROM people GROUP BY city", "Note DECLARED", nil},
		{"SELECT city, COUNT(*) AS n FROM people WHERE id < 2000 AND city <> 'west' GROUP BY city ORDER BY n DESC LIMIT 1", "Note RANKS", []string{"By COUNT(*), 1 of the first 1 groups and ", "may change places"}},
		{"SELECT city, COUNT(*) AS n FROM people WHERE id < 2001 AND city <> 'west' GROUP BY city HAVING n > 5 AND city <> 'east' ORDER BY n DESC LIMIT 1", "Note RANKS", []string{"By COUNT(*), 1 of the first 1 groups and 1 of the others may change places"}},
		{"SELECT city, COUNT(*) AS n FROM people WHERE id < 2002 GROUP BY city HAVING n < 5 ORDER BY n DESC LIMIT 1", "Warning WIDE_ERROR", nil},
		{"SELECT city, COUNT(*) AS n FROM people WHERE id < 2003 AND city <> 'west' GROUP BY city HAVING COUNT(*) > 5 ORDER BY ROUND(100 * SUM(age > 40) / COUNT(*), 1) DESC LIMIT 1", "Note RANKS", []string{"By what ORDER BY computes, 1 of the first 1 groups and "}},
		{"SELECT city, COUNT(*) AS n FROM people WHERE id < 2006 AND city <> 'west' GROUP BY city ORDER BY n DESC LIMIT 1 OFFSET 1", "Note RANKS", []string{"By COUNT(*), 1 of the 1 groups and "}},
		{"SELECT city, COUNT(*) FROM people WHERE id < 2004 AND city <> 'west' GROUP BY city ORDER BY -COUNT(*) LIMIT 1", "Note RANKS", []string{"By what ORDER BY computes, 1 of the first 1 groups and "}},
		{"SELECT city, COUNT(*) FROM people WHERE id < 2005 AND city <> 'west' GROUP BY city ORDER BY LENGTH(city) DESC LIMIT 1", "", nil},
		{"SELECT city, SUM(CASE city WHEN 'south' THEN 9 ELSE 1 END) AS s FROM people WHERE city <> 'west' GROUP BY city ORDER BY s DESC LIMIT 1", "", nil},
		{"SELECT COUNT(DISTINCT id) FROM people WHERE age > 69", "Warning WIDE_ERROR", []string{"COUNT(DISTINCT people.id)", "if the budget has as much left"}},
		{"SELECT FLOOR(age / 10) AS decade, COUNT(DISTINCT id) FROM people GROUP BY decade", "Note KEYS_LEFT_OUT",
			[]string{"CALL dp_set_domain('d.people', 'age', '[…]'), the columns that they are computed from"}},
	} {
		rows := ann.query(c.query)
		for stored := range 2 { // a stored answer has the same, but for the charge
			codes, texts := warned(t, ann)
			if codes != c.codes {
				t.Errorf("%s: got %q after %v, want %q", c.query, codes, rows, c.codes)
			}
			for _, s := range c.says {
				if there := strings.Contains(texts, s); there == (stored == 1 && s == "The charge stands") {
					t.Errorf("%s: got\n%swant %q in it: %v", c.query, texts, s, !there)
				}
			}
			ann.query(c.query)
		}
	}
}

// TestDeclaredColumnsMakeKeysPublic: what the remedy for computed keys says works.
func TestDeclaredColumnsMakeKeysPublic(t *testing.T) {
	i := startWith(t, "", seeded(t, "computed keys", 1))
	root := i.root()
	people(t, root, 300)
	root.exec(`CALL dp_set_domain('d.people', 'age', '{"min": 20, "max": 79}')`)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 5")
	rows := ann.query("SELECT FLOOR(age / 10) AS decade, COUNT(DISTINCT id) FROM people GROUP BY decade")
	if codes, texts := warned(t, ann); len(rows) != 6 || strings.Contains(codes, "KEYS") {
		t.Errorf("got %v, %s", rows, texts)
	}
}

// TestWarningsAreCounted: the packet that ends the rows has the number of warnings.
func TestWarningsAreCounted(t *testing.T) {
	i := startWith(t, "", seeded(t, "counted", 1))
	root := i.root()
	people(t, root, 300)
	i.analyst(root, "ann", "d")
	c := i.rawDial("ann", "pw-ann", 0)
	for query, want := range map[string]uint16{
		"SELECT COUNT(DISTINCT id) FROM d.people":    0,
		"SELECT AVG(age) FROM d.people WHERE id < 6": 1,
	} {
		c.command(0x03, query)
		var ends [][]byte
		for len(ends) < 2 { // of the columns, of the rows
			if p := c.read(); p[0] == 0xfe && len(p) < 9 {
				ends = append(ends, p)
			}
		}
		if got := binary.LittleEndian.Uint16(ends[1][1:]); got != want {
			t.Errorf("%s: %d warnings, want %d", query, got, want)
		}
	}
}

// TestLastWarnings: dp.last_warnings keeps the warnings of a connection's last private statement,
// whatever runs in between.
func TestLastWarnings(t *testing.T) {
	i := startWith(t, "", seeded(t, "last warnings", 1))
	root := i.root()
	people(t, root, 300)
	ann, other := i.analyst(root, "ann", "d"), i.as("ann")
	ann.exec("USE d")
	ann.query("SELECT city, AVG(age) FROM people WHERE id < 6 GROUP BY city")
	ann.exec("SET @a = 1")
	ann.query("SELECT 1")
	const last = "SELECT level, code, cells, of_cells, message LIKE '%persons are needed%', remedy LIKE '%SELECT /*+ SET_VAR(dp_epsilon=4)%' FROM dp.last_warnings"
	if got := fmt.Sprint(ann.query(last)); got != "[[Warning TOO_FEW_PERSONS 4 4 1 1]]" {
		t.Errorf("got %s", got)
	}
	if got := other.query(last); len(got) != 0 {
		t.Errorf("another connection: got %v", got)
	}
	ann.query("SELECT COUNT(DISTINCT id) FROM people")
	if got := ann.query(last); len(got) != 0 {
		t.Errorf("after an answer without a warning: got %v", got)
	}
	if got := root.value("SELECT COUNT(*) FROM dp.warnings WHERE code = 'TOO_FEW_PERSONS' AND level = 'Warning'"); got != "1" {
		t.Errorf("dp.warnings: got %s", got)
	}
}

// TestWarningsAsErrors: under dp_warnings = 'error' a statement that a warning is about ends with
// it, after its charge, and its answer is had for nothing afterwards; notes end none.
func TestWarningsAsErrors(t *testing.T) {
	i := startWith(t, "", seeded(t, "as errors", 1))
	root := i.root()
	people(t, root, 3000)
	ann := i.analyst(root, "ann", "d")
	spent := func() float64 {
		x, err := strconv.ParseFloat(ann.value("SELECT spent_rho FROM dp.budgets WHERE account = 'd.people'"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	ann.exec("USE d", "SET dp_epsilon = 5", "SET dp_warnings = 'error'")
	ann.query("SELECT COUNT(*) FROM people")
	ann.query("SELECT age, COUNT(DISTINCT id) FROM people WHERE age < 22 GROUP BY age")
	before := spent()
	for _, c := range []struct{ query, code string }{
		{"SELECT age, COUNT(*) FROM people WHERE id < 40 GROUP BY age", "NO_KEYS"},
		{"SELECT AVG(age) FROM people WHERE id < 6", "TOO_FEW_PERSONS"},
		{"SELECT AVG(CASE WHEN age < 45 THEN -1 ELSE 1 END) FROM people", "WIDE_ERROR"},
	} {
		for _, says := range []string{"The charge was made, and stands.", "nothing was charged now"} {
			if e := ann.refused(1644, "45020", c.query); !strings.Contains(e.Message, c.code+": ") || !strings.Contains(e.Message, says) {
				t.Errorf("%s: got %s, want %s and %q", c.query, e.Message, c.code, says)
			}
			if got := ann.value("SELECT code FROM dp.last_warnings"); got != c.code {
				t.Errorf("%s: dp.last_warnings has %s", c.query, got)
			}
		}
		after := spent()
		if after <= before {
			t.Errorf("%s: %v is spent before and %v after", c.query, before, after)
		}
		ann.query(strings.Replace(c.query, "SELECT", "SELECT /*+ SET_VAR(dp_warnings=show) */", 1))
		if before = spent(); before != after {
			t.Errorf("%s: its stored answer has cost %v", c.query, before-after)
		}
	}
	ann.refused(1231, "42000", "SET dp_warnings = 'loud'")
}

// TestPilotsWarnNobody: a pilot's rows are seen by nobody, so what is weak in them ends no
// statement and warns of nothing.
func TestPilotsWarnNobody(t *testing.T) {
	i := startWith(t, "", seeded(t, "pilots", 1))
	root := i.root()
	people(t, root, 3000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_warnings = 'error'", "SET dp_epsilon = 0.5", "SET dp_pilot = 0.3", "SET dp_target_error = 0.002")
	ann.query("SELECT AVG(CASE WHEN age < 46 THEN -1 ELSE 1 END) FROM people")
	if codes, texts := warned(t, ann); codes != "" {
		t.Errorf("got %s", texts)
	}
	testenv.Until(t, time.Minute, "how the statements ended, which is recorded after them", func() bool {
		return ann.value("SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'answered' AND account_type = 'table'") == "2"
	})
	if got := fmt.Sprint(ann.query("SELECT remark FROM dp.ledger WHERE account_type = 'table' AND outcome = 'answered' ORDER BY id")); got != "[[1 of 1 values with a wide error] [NULL]]" {
		t.Errorf("the pilot and the query have the remarks %s", got)
	}
}

// TestWarningsInTheLedger: the record of a charge says what was remarked on its answer, without
// literals of the statement; a replay and an answer without a remark say nothing.
func TestWarningsInTheLedger(t *testing.T) {
	i := startWith(t, "", seeded(t, "in the ledger", 1))
	root := i.root()
	people(t, root, 3000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 5")
	for _, q := range []string{
		"SELECT city, AVG(age) FROM people WHERE id < 6 GROUP BY city",
		"SELECT age, COUNT(*) FROM people WHERE id < 40 GROUP BY age",
		"SELECT COUNT(DISTINCT id) FROM people WHERE age > 21",
		"SELECT city, AVG(age) FROM people WHERE id < 6 GROUP BY city",
		"SELECT age, COUNT(DISTINCT id) FROM people WHERE age < 22 GROUP BY age",
	} {
		ann.query(q)
	}
	testenv.Until(t, time.Minute, "how the statements ended, which is recorded after them", func() bool {
		return ann.value("SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'answered' AND account_type = 'table'") == "4"
	})
	got := ann.query("SELECT entry, remark FROM dp.ledger WHERE account = 'd.people' AND entry IN ('charge', 'replay') AND account_type = 'table' ORDER BY id")
	for n, want := range []string{"4 of 4 values NULL for too few persons", "result empty: no key of at least ", "NULL", "NULL", "NULL"} {
		if len(got) != 5 || !strings.HasPrefix(got[n][1], want) || strings.Contains(got[n][1], "40") {
			t.Errorf("entry %d of %v: want the remark %q", n, got, want)
		}
	}
}

// TestAVarianceOfALongTailHasNoUpperEnd: that of Pareto's numbers of exponent 1.5 is open above,
// and says so; that of even ones is not.
func TestAVarianceOfALongTailHasNoUpperEnd(t *testing.T) {
	i := startWith(t, "", seeded(t, "long tail", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (p INT PRIMARY KEY, x INT NOT NULL, y INT NOT NULL)",
		"INSERT INTO d.t WITH RECURSIVE s AS (SELECT 1 k UNION ALL SELECT k + 1 FROM s WHERE k < 5000) SELECT k, 100 * POW(5001 / k, 2 / 3), k FROM s",
		"CALL dp_protect('d.t', 'p', 'person')", "CALL dp_set_budget('d.t', '*', 100, 1e-6, 'never')")
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 1")
	for _, c := range []struct {
		column string
		open   bool
	}{{"x", true}, {"y", false}} {
		got := ann.query("SELECT STDDEV(" + c.column + ") AS s, DP_LOW(s), DP_HIGH(s) FROM d.t")[0]
		codes, texts := warned(t, ann)
		if got[1] == "NULL" || (got[2] == "NULL") != c.open || strings.Contains(codes, "CLIPPED") != c.open {
			t.Errorf("STDDEV(%s): %v, %s: %s", c.column, got, codes, texts)
		}
	}
}
