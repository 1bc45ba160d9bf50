package engine

import (
	"fmt"
	"testing"
)

// TestAggregatesThatDifferInCase: the binder takes aggregates for one whose texts differ only in
// the case of letters.
func TestAggregatesThatDifferInCase(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (g VARCHAR(5), x INT)", "INSERT INTO d.t VALUES ('A', 1), ('a', 10), ('a', 100)", "CALL dp_public('d.t')")
	for query, want := range map[string]string{
		"SELECT SUM(IF(g = 'A', x, 0)), SUM(IF(g = 'a', x, 0)) FROM d.t":                                         "[[1 110]]",
		"SELECT COUNT(CASE WHEN g IN ('A') THEN 'Y' END), COUNT(CASE WHEN g IN ('a') THEN 'Y' END) FROM d.t":     "[[1 2]]",
		"SELECT g, SUM(x) FROM d.t GROUP BY g HAVING SUM(IF(g = 'A', x, 0)) > SUM(IF(g = 'a', x, 0)) ORDER BY 1": "[[A 1]]",
	} {
		if got := fmt.Sprint(root.query(query)); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}
