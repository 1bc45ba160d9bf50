package engine

import (
	"fmt"
	"testing"
)

// TestTimeZones: moments are read on the clock of the session's time_zone alike where
// go-mysql-server computes, where the store does for a public table, and in private aggregates; and
// an answer of one zone is none of another.
func TestTimeZones(t *testing.T) {
	i := startWith(t, "", seeded(t, "zones", 1))
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.digits (d INT PRIMARY KEY)", "INSERT INTO s.digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)", "CALL dp_public('s.digits')",
		"CREATE TABLE s.moments (id BIGINT PRIMARY KEY, x BIGINT, d DATETIME)", "CALL dp_public('s.moments')",
		"CREATE TABLE s.people (id BIGINT PRIMARY KEY, x BIGINT, d DATETIME)", "CALL dp_protect('s.people', 'id', 'p')", "CALL dp_set_budget('s.people', '*', 100000, 0.001, 'never')", "SET dp_raw = ON")
	// Both changes of the clock in Berlin and New York of 2024, and before and after the half hours
	// of India.
	moments := []int64{0, 86399, 1709251199, 1710053999, 1710054000, 1711846799, 1711846800, 1729990800, 1730613600, 2000000000}
	for id, x := range moments {
		root.exec(fmt.Sprintf("INSERT INTO s.moments SELECT %d, %d, '%d-03-09 13:30:00'", id, x, 2000+id))
	}
	root.exec("INSERT INTO s.people SELECT a.d * 100 + b.d * 10 + c.d, m.x, m.d FROM s.digits a, s.digits b, s.digits c JOIN s.moments m ON m.id = c.d", "SET dp_raw = OFF, dp_rho = 5")
	for _, zone := range []string{"+00:00", "+05:30", "-03:00", "Europe/Berlin", "America/New_York"} {
		root.exec("SET time_zone = '" + zone + "'")
		for id, x := range moments {
			at, name := fmt.Sprintf(" FROM s.moments WHERE id = %d", id), fmt.Sprintf("%s, moment %d", zone, x)
			want := root.value(fmt.Sprintf("SELECT FROM_UNIXTIME(%d)", x))
			for pushed, computed := range map[string]string{
				"FROM_UNIXTIME(x)":                fmt.Sprintf("FROM_UNIXTIME(%d)", x),
				"FROM_UNIXTIME(x, '%Y %j %H:%i')": fmt.Sprintf("FROM_UNIXTIME(%d, '%%Y %%j %%H:%%i')", x),
				"UNIX_TIMESTAMP(d)":               fmt.Sprintf("UNIX_TIMESTAMP('%d-03-09 13:30:00')", 2000+id),
			} {
				if got, want := root.value("SELECT "+pushed+at), root.value("SELECT "+computed); got != want {
					t.Errorf("%s: %s is %s in the store, want %s", name, pushed, got, want)
				}
			}
			near(t, name, root.value(fmt.Sprintf("SELECT COUNT(*) FROM s.people WHERE HOUR(FROM_UNIXTIME(x)) = HOUR('%s') AND DATE(FROM_UNIXTIME(x)) = DATE('%[1]s') AND id MOD 10 = %d", want, id)), 100, 12)
		}
	}
	root.exec("SET time_zone = 'America/New_York'")
	if got := root.query("SELECT FROM_UNIXTIME(1710053999.25), FROM_UNIXTIME(1710054000), FROM_UNIXTIME(-1), FROM_UNIXTIME(NULL), FROM_UNIXTIME(1710054000, '%H')"); fmt.Sprint(got) != "[[2024-03-10 01:59:59.250000 2024-03-10 03:00:00 NULL NULL 03]]" {
		t.Errorf("about a change of the clock: got %v", got)
	}
	// Asking the same in another zone is another question.
	root.exec("SET time_zone = '+00:00'")
	near(t, "midnight in UTC", root.value("SELECT COUNT(*) FROM s.people WHERE HOUR(FROM_UNIXTIME(x)) = 0"), 200, 12)
	root.exec("SET time_zone = '+12:00'")
	near(t, "midnight at +12:00", root.value("SELECT COUNT(*) FROM s.people WHERE HOUR(FROM_UNIXTIME(x)) = 0"), 0, 12)
}
