package engine

import (
	"fmt"
	"testing"
)

// TestAggregatesThatDifferInCase: the binder takes aggregates for one whose texts differ only in
// the case of letters.
func TestAggregatesThatDifferInCase(t *testing.T) {
	i := start(t, "", byBytes)
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

// TestPoliciesInTheLettersOfTables: dp.policies, dp.domains and dp.scales show columns as the table
// has them, however they were named to a procedure.
func TestPoliciesInTheLettersOfTables(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.people (userId INT PRIMARY KEY, homeCity VARCHAR(8))", "CREATE TABLE d.ratings (ratedBy INT, movieId INT)", "CREATE TABLE d.profiles (userId INT, faceOf VECTOR(2))",
		"CALL dp_protect('d.people', 'USERID', 'person')", "CALL dp_link('d.ratings', 'ratedby', 'd.people', 'userid')", `CALL dp_set_domain('d.people', 'homecity', '["a"]')`,
		"CALL dp_protect('d.profiles', 'userid', 'person')", "CALL dp_set_scale('d.profiles', 'faceof', '[1, 2]')")
	for query, want := range map[string]string{
		"SELECT table_name, unit_column, link_column FROM dp.policies ORDER BY 1": "[[d.people userId NULL] [d.profiles userId NULL] [d.ratings ratedBy userId]]",
		"SELECT column_name FROM dp.domains":                                      "[[homeCity]]",
		"SELECT column_name FROM dp.scales":                                       "[[faceOf]]",
	} {
		if got := fmt.Sprint(root.query(query)); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}
