package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnsignedUnits protects by a BIGINT UNSIGNED, whose largest values no BIGINT has: each of them
// is a person of its own, however persons are told apart.
func TestUnsignedUnits(t *testing.T) {
	i := startWith(t, "", silence)
	dba := i.root()
	persons := []string{"0", "1", "9223372036854775807", "9223372036854775808", "9223372036854775809", "18446744073709551614", "18446744073709551615"}
	for n := range 400 {
		persons = append(persons, fmt.Sprint(2+n*n))
	}
	rows := []string{"(NULL, 0, 3)"} // of nobody
	for _, p := range persons {
		rows = append(rows, "("+p+", 0, 3)", "("+p+", 1, 3)")
	}
	dba.exec("CREATE DATABASE d", "CREATE TABLE d.t (u BIGINT UNSIGNED, g INT, x INT)", "CREATE TABLE d.s (u VARCHAR(20), g INT, x INT)",
		"INSERT INTO d.t VALUES "+strings.Join(rows, ","), "INSERT INTO d.s SELECT CAST(u AS CHAR), g, x FROM d.t")
	for _, table := range []string{"d.t", "d.s"} {
		dba.exec("CALL dp_protect('"+table+"', 'u', 'person')", "CALL dp_set_budget('"+table+"', '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget('"+table+"', 'default', 'rho=1000000', 1e-3, 'never')",
			"CALL dp_set_domain('"+table+"', 'g', '{\"min\": 0, \"max\": 1}')", "CALL dp_set_domain('"+table+"', 'x', '{\"min\": 0, \"max\": 10}')")
	}
	dba.exec("CREATE TABLE d.e (u ENUM('a', 'A') COLLATE utf8mb4_0900_bin)") // members that d.s would call one person
	if e := dba.refused(1644, "45011", "CALL dp_protect('d.e', 'u', 'person')"); !strings.Contains(e.Message, "names the persons") {
		t.Errorf("members and texts of one entity: %s", e.Message)
	}
	ann := i.analyst(dba, "ann", "d")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 2")
	for q, want := range map[string]string{
		"SELECT COUNT(DISTINCT u), COUNT(*), SUM(x) FROM @":                                            "[[407 814 2442]]",
		"SELECT g, COUNT(*), SUM(x) FROM @ GROUP BY g ORDER BY g":                                      "[[0 407 1221] [1 407 1221]]",
		"SELECT g, COUNT(DISTINCT u), COUNT(*) FROM @ GROUP BY g ORDER BY g":                           "[[0 407 407] [1 407 407]]",
		"SELECT n, COUNT(*) FROM (SELECT u, COUNT(*) AS n FROM @ GROUP BY u) q WHERE n > 1 GROUP BY n": "[[2 407]]",
		"SELECT DP_SUM(DP_VECTOR(x, g)) FROM @":                                                        "[[[2442, 407]]]",
	} {
		for _, table := range []string{"d.t", "d.s"} {
			got, err := ann.try(strings.ReplaceAll(q, "@", table))
			if fmt.Sprint(got) != want {
				t.Errorf("%s of %s: %v, %v; want %s", q, table, got, err, want)
			}
		}
	}
}
