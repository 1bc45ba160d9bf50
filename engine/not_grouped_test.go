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
