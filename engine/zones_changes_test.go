package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestClockChanges: around the changes of the clock in two zones, and beyond the years whose
// changes are known, the server's own CONVERT_TZ, UNIX_TIMESTAMP and FROM_UNIXTIME are those that
// the store computes for a public table.
func TestClockChanges(t *testing.T) {
	i := start(t, "")
	root := i.root()
	const shown = "2006-01-02 15:04:05"
	var rows []string
	var moments []time.Time
	for _, change := range []time.Time{ // in UTC: Berlin and New York, forward and back
		time.Date(2024, 3, 31, 1, 0, 0, 0, time.UTC), time.Date(2024, 10, 27, 1, 0, 0, 0, time.UTC),
		time.Date(2024, 3, 10, 7, 0, 0, 0, time.UTC), time.Date(2024, 11, 3, 6, 0, 0, 0, time.UTC),
	} {
		for by := -6 * time.Hour; by <= 6*time.Hour; by += 30 * time.Minute {
			moments = append(moments, change.Add(by), change.Add(by+time.Second))
		}
	}
	for _, year := range []int{1970, 2038, 2050, 2500} {
		moments = append(moments, time.Date(year, 1, 1, 12, 0, 0, 0, time.UTC), time.Date(year, 7, 1, 12, 0, 0, 0, time.UTC))
	}
	for id, m := range moments {
		rows = append(rows, fmt.Sprintf("(%d, '%s', %d)", id, m.Format(shown), m.Unix()))
	}
	root.exec("CREATE DATABASE s", "CREATE TABLE s.moments (id INT PRIMARY KEY, d DATETIME, x BIGINT)", "CALL dp_public('s.moments')",
		"INSERT INTO s.moments VALUES "+strings.Join(rows, ", "), "SET dp_raw = ON")
	const berlin, york = "Europe/Berlin", "America/New_York"
	for _, zone := range []string{berlin, york} {
		root.exec("SET time_zone = '" + zone + "'")
		for _, f := range []string{
			"UNIX_TIMESTAMP(%[1]s)", "FROM_UNIXTIME(%[2]s)",
			"CONVERT_TZ(%[1]s, '" + berlin + "', '" + york + "')", "CONVERT_TZ(%[1]s, '" + york + "', '" + berlin + "')",
			"CONVERT_TZ(%[1]s, '" + zone + "', '+00:00')", "CONVERT_TZ(%[1]s, 'UTC', '" + zone + "')",
			"UNIX_TIMESTAMP(CONVERT_TZ(%[1]s, '+00:00', '" + zone + "'))",
		} {
			stored := root.query("SELECT " + fmt.Sprintf(f, "d", "x") + " FROM s.moments ORDER BY id")
			var columns []string
			for _, m := range moments {
				columns = append(columns, fmt.Sprintf(f, "CAST('"+m.Format(shown)+"' AS DATETIME)", fmt.Sprint(m.Unix())))
			}
			own := root.query("SELECT " + strings.Join(columns, ", "))[0]
			for id, m := range moments {
				// The digits after the point are those of the type.
				if got, want := strings.TrimSuffix(own[id], ".000000"), strings.TrimSuffix(stored[id][0], ".000000"); got != want {
					t.Errorf("in %s, %s of %s: the server computes %s, the store %s", zone, f, m.Format(shown), got, want)
				}
			}
		}
	}
}
