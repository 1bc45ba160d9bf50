package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator/noise"
)

// volatile are answers that change from one moment to the next whatever the rows are: counters,
// connections, and messages of the statement before. TestStatusCountsOnce is about the counters.
func volatile(q string) bool {
	l := strings.ToLower(q)
	return slices.ContainsFunc([]string{"status", "processlist", "connection_id", "unix_timestamp", "now()", "warnings", "errors", "found_rows"}, func(w string) bool {
		return strings.Contains(l, w) && !strings.Contains(l, "table status") && !strings.Contains(l, "procedure status")
	})
}

// TestTheCatalogueIsSilentAboutRows compares everything that clients read when they browse, byte
// for byte, between a database, its neighbours without one person, and an empty one: for an
// analyst, and for a DBA who has not asked for raw rows.
func TestTheCatalogueIsSilentAboutRows(t *testing.T) {
	_, root, ann := browsedShop(t, noise.Secure)
	var asked []string
	for _, list := range [][]string{browsed, catalogued} {
		for _, q := range list {
			if !volatile(q) {
				asked = append(asked, q)
			}
		}
	}
	for _, n := range catalogueTables {
		if q := "SELECT * FROM " + n; !volatile(q) && !strings.HasPrefix(n, "dp.") {
			asked = append(asked, q)
		}
	}
	asked = append(asked, "CHECKSUM TABLE people", "ANALYZE TABLE people", "EXPLAIN SELECT * FROM people", "EXPLAIN SELECT COUNT(*) FROM people WHERE age > 40",
		"SELECT table_rows, data_length, avg_row_length, index_length, data_free, auto_increment, create_time, update_time, check_time, checksum FROM information_schema.tables WHERE table_name = 'people'",
		"SELECT @@last_insert_id, @@identity", "SHOW INDEX FROM auto")
	fill := func(without int) {
		root.exec("SET dp_raw = ON", "DELETE FROM shop.people", "DELETE FROM shop.auto", "SET dp_raw = OFF")
		for p := 1; p <= 3; p++ {
			for n := 0; p != without && without >= 0 && n < 10*p; n++ {
				root.exec(fmt.Sprintf("INSERT INTO shop.people (id, name, dept, age, amount, joined) VALUES (%d, 'person %d', 'd%d', %d, %d.5, '2020-01-%02d')", p, p, p, 20*p, 1000*p, 1+n%28))
			}
		}
	}
	listen := func() map[string]string {
		heard := map[string]string{}
		for who, c := range map[string]*client{"an analyst": ann, "a DBA": root} {
			c.exec("SELECT LAST_INSERT_ID(0)")
			for _, q := range asked {
				heard[who+": "+q] = told(c, q, true)
			}
		}
		return heard
	}
	fill(0)
	whole := listen()
	if len(whole) < 300 {
		t.Fatalf("only %d answers are compared", len(whole))
	}
	for without, name := range map[int]string{3: "the person with most rows", 1: "a person", -1: "everybody"} {
		fill(without)
		for q, heard := range listen() {
			if heard != whole[q] {
				t.Errorf("%s\nwith all: %s\nwithout %s: %s", q, whole[q], name, heard)
			}
		}
	}
	for _, r := range ann.query("SHOW TABLE STATUS") {
		for n, v := range r[4:14] {
			if public := r[0] == "products" || r[0] == "auto"; v != "NULL" && !(public && n == 0) {
				t.Errorf("SHOW TABLE STATUS tells column %d of %s: %s", n+4, r[0], v)
			}
		}
	}
}
