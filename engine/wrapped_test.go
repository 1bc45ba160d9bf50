package engine

import (
	"fmt"
	"testing"
)

// TestWrappedQueriesArePostProcessing: what tools put around a query works on its answer. The inner
// query is charged once, and then none of them is, in whatever order they come.
func TestWrappedQueriesArePostProcessing(t *testing.T) {
	i := start(t, "")
	root := i.root()
	replayShop(t, root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 0.5")
	for _, inner := range []string{
		"SELECT city, COUNT(*) AS n, AVG(age) AS `sum:age:ok` FROM people GROUP BY city",
		"SELECT town AS city, COUNT(*) AS n, SUM(secs) AS `sum:age:ok` FROM visits WHERE secs > 3 GROUP BY town",
	} {
		answer := pays(ann, root, inner)
		groups := fmt.Sprintf("[[%d]]", len(ann.query(inner)))
		for query, want := range map[string]string{
			"SELECT COUNT(*) FROM (" + inner + ") t":                                                                                       groups,
			"SELECT COUNT(*) AS `count` FROM (" + inner + ") AS `t`":                                                                       groups,
			"SELECT count(*) FROM (" + inner + ") AS virtual_table":                                                                        groups,
			"WITH root AS (" + inner + ") SELECT COUNT(*) FROM root":                                                                       groups,
			"WITH root AS (" + inner + ") SELECT * FROM root":                                                                              answer,
			"SELECT * FROM (" + inner + ") q LIMIT 1000":                                                                                   answer,
			"SELECT * FROM (" + inner + ") q LIMIT 1":                                                                                      "",
			"SELECT * FROM (SELECT * FROM (" + inner + ") a LIMIT 500) b":                                                                  answer,
			"SELECT COUNT(*) FROM (SELECT * FROM (" + inner + ") a) b":                                                                     groups,
			"WITH a AS (" + inner + "), b AS (SELECT * FROM a WHERE n IS NOT NULL) SELECT * FROM b":                                        "",
			inner + " ORDER BY 2 DESC":                                                                                                     "",
			inner + " ORDER BY n DESC LIMIT 2":                                                                                             "",
			inner + " HAVING (COUNT(1) > 0)":                                                                                               "",
			inner + " HAVING n > 10 ORDER BY city":                                                                                         "",
			"SELECT city, n FROM (" + inner + ") AS x WHERE n > 5 ORDER BY n":                                                              "",
			"SELECT city AS c, `sum:age:ok` AS `SUM(age)` FROM (" + inner + ") x ORDER BY `SUM(age)`":                                      "",
			"SELECT MAX(n) AS hi, MIN(n) AS lo, SUM(n) AS s FROM (" + inner + ") x":                                                        "",
			"SELECT city, n / SUM(n) OVER () AS share FROM (" + inner + ") x":                                                              "",
			"SELECT a.city, a.n, b.n FROM (" + inner + ") a JOIN (" + inner + ") b ON a.city = b.city":                                     "",
			"SELECT SUM(1) AS `cnt:ok` FROM (" + inner + ") `Custom SQL Query` HAVING (COUNT(1) > 0)":                                      groups,
			"SELECT `source`.`city` AS `city`, `source`.`n` AS `n` FROM (" + inner + ") AS `source` LIMIT 1048575":                         "",
			"SELECT city AS city, AVG(n) AS `AVG(n)` FROM (" + inner + ") AS virtual_table GROUP BY city ORDER BY `AVG(n)` DESC LIMIT 100": "",
			"SELECT * FROM (" + inner + " ORDER BY n LIMIT 50) q":                                                                          "",
			"SELECT COUNT(*) FROM (" + inner + " ORDER BY n LIMIT 50) q":                                                                   groups,
			"WITH root (a, b, c) AS (" + inner + ") SELECT a, b FROM root ORDER BY a":                                                      "",
			"SELECT (SELECT MAX(n) FROM (" + inner + ") x) - (SELECT MIN(n) FROM (" + inner + ") y) AS spread":                             "",
			"SELECT x.city, t.country FROM (" + inner + ") x LEFT JOIN towns t ON t.town = x.city":                                         "",
			"SELECT TRUE AS `_` FROM (" + inner + ") AS q WHERE 1 <> 1 LIMIT 0":                                                            "[]",
			"-- a comment\nSELECT COUNT(*) FROM (" + inner + "\n) t":                                                                       groups,
			"SELECT DISTINCT city FROM (" + inner + ") x":                                                                                  "",
			"(" + inner + ") UNION ALL (" + inner + ")":                                                                                    "",
		} {
			free(ann, root, want, query)
		}
	}
}

// TestWrappedFirst: a tool that counts the rows of an answer before it asks for the answer pays
// once, with the count.
func TestWrappedFirst(t *testing.T) {
	i := start(t, "")
	root := i.root()
	replayShop(t, root)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 5")
	const inner = "SELECT city, AVG(income) AS m FROM people GROUP BY city"
	pays(ann, root, "WITH root AS ("+inner+") SELECT COUNT(*) FROM root")
	free(ann, root, "", inner)
	free(ann, root, "", "EXPLAIN "+inner)
	free(ann, root, "", "SELECT * FROM ("+inner+") t LIMIT 0")
	root.exec("USE d", "CREATE VIEW by_city AS "+inner)
	free(ann, root, "", "SELECT * FROM d.by_city")
	free(ann, root, "[[4]]", "SELECT COUNT(*) FROM d.by_city")
	// As a prepared statement, and with values to come.
	before := charged(root)
	for range 3 {
		if n := len(ann.query("SELECT * FROM ("+inner+") q WHERE m > ? LIMIT 10", 0)); n != 4 && n != 3 {
			t.Errorf("got %d rows", n)
		}
	}
	if after := charged(root); after != before {
		t.Errorf("the prepared wrapping was charged")
	}
	// A condition on the rows of persons is another query.
	pays(ann, root, "SELECT city, AVG(income) AS m FROM people WHERE income > 1020 GROUP BY city")
}
