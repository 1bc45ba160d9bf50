package engine

import "testing"

// TestListsOfOtherTypes: whether a number of a row is in a list of a public table is asked without
// an error, however little room the list's type has for it. An error would tell that the condition
// meets such a row.
func TestListsOfOtherTypes(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.p (id INT PRIMARY KEY, n BIGINT, x DECIMAL(30,2))",
		"INSERT INTO s.p VALUES (1, 1, 1), (2, 9000000000000000000, 1234567890123456789012345678.25)", "CALL dp_protect('s.p', 'id', 'person')",
		"CALL dp_set_budget('s.p', '*', 1000, 1e-4, 'never')", "CREATE TABLE s.list (v DECIMAL(30,20), w DECIMAL(20,18), k BIGINT)",
		"INSERT INTO s.list VALUES (1, 1, 1)", "CALL dp_public('s.list')")
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s")
	for _, of := range []string{"n", "x", "n + 1", "-x"} {
		for _, list := range []string{"v", "w", "k", "v * v", "k / 3", "CAST(0.5 AS DECIMAL(38,30))"} {
			for _, not := range []string{"", "NOT "} {
				ann.query("SELECT COUNT(*) FROM p WHERE " + of + " " + not + "IN (SELECT " + list + " FROM list)")
			}
		}
	}
}
