package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
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

// TestOnlyFullGroupBy: what stands beside aggregates follows from the keys, by unique columns and
// equations; all is answered without the mode.
func TestOnlyFullGroupBy(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE t (id INT PRIMARY KEY, u INT NOT NULL UNIQUE, m INT UNIQUE, a INT, b INT)",
		"CREATE TABLE two (p INT, q INT, c INT, PRIMARY KEY (p, q))", "CREATE VIEW v AS SELECT id, a + 1 AS x FROM t", "CREATE VIEW w AS SELECT a, COUNT(*) AS n FROM t GROUP BY a")
	for _, q := range strings.Split(`SELECT id, a, b FROM t GROUP BY id
SELECT a + b FROM t GROUP BY u
SELECT a FROM t WHERE a = 3 GROUP BY b
SELECT a, COUNT(*) FROM t WHERE a = 3
SELECT b FROM t WHERE a = b GROUP BY a
SELECT a + 1, COUNT(*) FROM t GROUP BY a + 1 ORDER BY a + 1
SELECT a + 1 AS x, COUNT(*) FROM t GROUP BY x ORDER BY x DESC
SELECT a * 2, COUNT(*) FROM t GROUP BY 1
SELECT c FROM two GROUP BY p, q
SELECT c FROM two WHERE p = 1 GROUP BY q
SELECT t.b, two.p FROM t JOIN two ON t.id = two.p GROUP BY two.p
SELECT two.c FROM t LEFT JOIN two ON t.id = two.p AND two.q = 1 GROUP BY t.id
SELECT x FROM v GROUP BY id
SELECT n FROM w GROUP BY a
SELECT d.b FROM (SELECT id, b FROM t) d GROUP BY d.id
SELECT d.n FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b) d GROUP BY a, b
WITH c AS (SELECT id, a FROM t) SELECT c.a, COUNT(*) FROM c JOIN c AS e ON e.id = c.id GROUP BY e.id
SELECT ANY_VALUE(b), a FROM t GROUP BY a
SELECT ANY_VALUE(b), a FROM t
SELECT (SELECT COUNT(*) FROM two WHERE p = t.a) FROM t GROUP BY a
SELECT a, (SELECT MAX(c) FROM two WHERE p = 1) FROM t GROUP BY a
SELECT CASE a WHEN 1 THEN 'x' END FROM t GROUP BY a HAVING COUNT(*) > 0
SELECT a, SUM(COUNT(*)) OVER (ORDER BY a) FROM t GROUP BY a
SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP
SELECT COUNT(*) FROM t ORDER BY a
SELECT DISTINCT a FROM t ORDER BY a + 1
SELECT DISTINCT a AS x, b FROM t ORDER BY x, b * a
SELECT DISTINCT a, COUNT(*) FROM t GROUP BY a ORDER BY COUNT(*)`, "\n") {
		root.query(q)
	}
	grouped := "is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
	for q, want := range map[string]struct {
		number uint16
		text   string
	}{
		"SELECT a, b FROM t GROUP BY a":                                              {1055, "Expression #2 of SELECT list is not in GROUP BY clause and contains nonaggregated column 't.b' which " + grouped},
		"SELECT b FROM t GROUP BY m":                                                 {1055, "'t.b' which " + grouped}, // many NULLs of m
		"SELECT a + 2, COUNT(*) FROM t GROUP BY a + 1":                               {1055, "'t.a'"},
		"SELECT c FROM two GROUP BY p":                                               {1055, "'two.c'"},
		"SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY b":                            {1055, "Expression #1 of ORDER BY"},
		"SELECT a, (SELECT COUNT(*) FROM two WHERE p = t.b) FROM t GROUP BY a":       {1055, "'t.b'"},
		"SELECT two.c FROM t LEFT JOIN two ON t.id = two.p GROUP BY two.p":           {1055, "'two.c'"},
		"SELECT t.a FROM t LEFT JOIN two ON t.a = two.p GROUP BY two.p":              {1055, "'t.a'"},
		"SELECT t.b FROM t WHERE a = 3 OR b = 4 GROUP BY a":                          {1055, "'t.b'"},
		"SELECT d.b FROM (SELECT DISTINCT a, b FROM t) d GROUP BY d.a":               {1055, "'d.b'"},
		"WITH c AS (SELECT a, b FROM t) SELECT c.b FROM c, c AS e GROUP BY e.a, e.b": {1055, "'c.b'"},
		"SELECT * FROM (SELECT a, b FROM t GROUP BY a) d":                            {1055, "'t.b'"},
		"SELECT id FROM t WHERE a IN (SELECT b FROM t GROUP BY a)":                   {1055, "'t.b'"},
		"SELECT 1 UNION SELECT b FROM t GROUP BY a":                                  {1055, "'t.b'"},
		"INSERT INTO two (p, q) SELECT a, b FROM t GROUP BY a":                       {1055, "'t.b'"},
		"SELECT a, COUNT(*) FROM t":                                                  {1140, "#1 of SELECT list contains nonaggregated column 't.a'"},
		"SELECT COUNT(*), LAST_VALUE(b) OVER (ORDER BY a) FROM t":                    {1140, "nonaggregated column 't."},
		"SELECT DISTINCT a FROM t ORDER BY b":                                        {3065, "references column 't.b' which is not in SELECT list"},
		"SELECT DISTINCT a + b FROM t ORDER BY a":                                    {3065, "'t.a'"},
	} {
		root.exec("SET sql_mode = 'ONLY_FULL_GROUP_BY'")
		if _, err := root.try(q); err == nil || !strings.Contains(err.Error(), strconv.Itoa(int(want.number))) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: got %v, want error %d with %q", q, err, want.number, want.text)
		}
		root.exec("SET sql_mode = ''")
		if _, err := root.try(q); err != nil {
			t.Errorf("%s, without the mode: %v", q, err)
		}
	}
}

// TestGroupsOfExpressions: what is selected of a group that an expression over several nullable
// columns makes is the value of that expression, for public rows and for those of a person. The
// groups are counted here, from the values that the rows have one by one.
func TestGroupsOfExpressions(t *testing.T) {
	i := startWith(t, "", silence)
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.own (id INT, person INT, a INT, b INT, x VARCHAR(9), y VARCHAR(9), d DATE, e DATE)",
		"CREATE TABLE s.open LIKE s.own", "CALL dp_public('s.open')", "CALL dp_protect('s.own', 'person', 'p')",
		"CALL dp_set_budget('s.own', '*', 1e6, 1e-4, 'never')", "USE s", "SET sql_mode = 'NO_ENGINE_SUBSTITUTION'")
	random := rand.New(rand.NewPCG(36, 4))
	maybe := func(texts ...string) string {
		if random.IntN(3) == 0 {
			return "NULL"
		}
		return texts[random.IntN(len(texts))]
	}
	days := []string{"'2024-02-28'", "'2024-03-01'", "'2024-03-02'"}
	var rows []string
	for id := range 120 {
		rows = append(rows, fmt.Sprintf("(%d, %d, %s, %s, %s, %s, %s, %s)", id, id/4, maybe("0", "1", "2"), maybe("0", "1", "2"),
			maybe("'a'", "'b'"), maybe("'a'", "'c'"), maybe(days...), maybe(days...)))
	}
	root.insert("own", rows)
	root.insert("open", rows)
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_epsilon = 100, dp_max_groups_contributed = 4")
	counts := func(list [][]string, last bool) map[string]int {
		m := map[string]int{}
		for _, r := range list {
			n := 1
			if last {
				n, _ = strconv.Atoi(r[len(r)-1])
				r = r[:len(r)-1]
			}
			m[strings.Join(r, "|")] += n
		}
		return m
	}
	// The same of groups that are released, by how many of a person's four rows count: all of them.
	for _, r := range ann.query("SELECT a = b r, a <=> b, COUNT(*) FROM own GROUP BY r, a <=> b") {
		if want := root.value("SELECT COUNT(*) FROM open WHERE (a = b) <=> " + r[0] + " AND (a <=> b) = " + r[1]); r[2] != want {
			t.Errorf("released %v, want %s", r, want)
		}
	}
	for _, e := range []string{"a = b", "a <=> b", "a + b", "DATEDIFF(d, e)", "COALESCE(a, b)", "a IS NULL AND b IS NULL", "IF(a > 0, x, y)", "x < y",
		"CASE WHEN d IS NULL THEN y WHEN e IS NULL THEN x END", "GREATEST(a, b)", "a IS NULL", "COALESCE(x, y)", "NULLIF(a, b)"} {
		want := counts(root.query("SELECT "+e+" FROM open"), false)
		for _, from := range []string{"open", "(SELECT * FROM open LIMIT 1000) open", "open JOIN (SELECT 1 AS one) o"} {
			for _, by := range []string{"r", e} {
				got := counts(root.query("SELECT "+e+" r, COUNT(*) FROM "+from+" GROUP BY "+by+" ORDER BY r"), true)
				if !maps.Equal(got, want) {
					t.Errorf("%s of %s: got %v, want %v", e, from, got, want)
				}
			}
		}
		// The columns beside the expression are those of a row that exists, and is of the group.
		of := counts(root.query("SELECT a, b, x, y, d, e, "+e+" FROM open"), false)
		for _, r := range root.query("SELECT a, b, x, y, d, e, " + e + " r, COUNT(*) FROM open GROUP BY r") {
			if of[strings.Join(r[:7], "|")] == 0 || strconv.Itoa(want[r[6]]) != r[7] {
				t.Errorf("%s: no row of the group is %v", e, r)
			}
		}
		for _, r := range root.query("SELECT ANY_VALUE(a), ANY_VALUE(b), ANY_VALUE(x), ANY_VALUE(y), ANY_VALUE(d), ANY_VALUE(e), " + e + " r FROM open GROUP BY r") {
			if of[strings.Join(r, "|")] == 0 {
				t.Errorf("%s: no row of the group is %v by ANY_VALUE", e, r)
			}
		}
		// A person's rows, by the expression.
		each := counts(root.query("SELECT DISTINCT CONCAT(person), "+e+" FROM open"), false)
		persons := map[string]int{}
		for k := range each {
			persons[k[strings.Index(k, "|")+1:]]++
		}
		for r, n := range persons {
			if n < 8 { // an answer of so few persons is NULL
				continue
			}
			is := "IS NULL"
			if r != "NULL" {
				is = "= '" + r + "'"
			}
			got := ann.value("SELECT COUNT(*) FROM (SELECT person, CONCAT(" + e + ") r, COUNT(*) c FROM own GROUP BY person, " + e + ") g WHERE r " + is)
			if got != strconv.Itoa(n) {
				t.Errorf("%s: %s persons have %s, want %d", e, got, r, n)
			}
		}
	}
}
