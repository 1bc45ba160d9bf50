package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestThePublicNumberOfPersons: under replace-one it is that of the unit column in the snapshot
// that a query reads. Rows of nobody do not count, nor do several rows of one person, and a
// statement costs nothing that tells no more.
func TestThePublicNumberOfPersons(t *testing.T) {
	i := startWith(t, "", seeded(t, "public number", 1))
	root := i.root()
	var rows []string
	for p := range 400 {
		for n := range 1 + p%3 {
			rows = append(rows, fmt.Sprintf("(%d, %d)", p, 100+n))
		}
	}
	root.exec("CREATE DATABASE s", "CREATE TABLE s.diary (person INT, kcal INT NOT NULL)", "INSERT INTO s.diary VALUES "+strings.Join(rows, ", "),
		"INSERT INTO s.diary VALUES (NULL, 1), (NULL, 2)", "CALL dp_protect('s.diary', 'person', 'diary')", "CALL dp_set_budget('s.diary', '*', 1000, 0.001, 'never')",
		"CALL dp_set_neighbours('s.diary', 'replace-one')", "SET dp_rho = 1")
	persons := func(want int) {
		t.Helper()
		if got := root.value("SELECT COUNT(DISTINCT person) FROM s.diary"); got != fmt.Sprint(want) {
			t.Errorf("%s persons, want %d", got, want)
		}
		near(t, "mean of persons", root.value("SELECT DP_MEAN(kcal) FROM s.diary"), 100.5, 1)
	}
	persons(400)
	root.exec("INSERT INTO s.diary VALUES (1000, 100), (1000, 101), (NULL, 3)")
	persons(401)
	root.exec("SET dp_raw = ON", "DELETE FROM s.diary WHERE person < 10", "UPDATE s.diary SET person = NULL WHERE person = 1000", "SET dp_raw = OFF")
	persons(390)
}
