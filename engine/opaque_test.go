package engine

import (
	"fmt"
	"testing"
)

// TestBinaryStringsOfPublicTables: the store's translation reads binary strings as NULL, so queries
// over them stay with the SQL engine.
func TestBinaryStringsOfPublicTables(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.b (id INT PRIMARY KEY, v VARBINARY(9), w BLOB)", "CALL dp_public('d.b')",
		"INSERT INTO d.b VALUES (1, X'00ffee', X'01'), (2, 'abc', X'ff'), (3, 'abc', NULL), (4, NULL, 'x')")
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM d.b WHERE LENGTH(v) = 3":                                              "[[3]]",
		"SELECT id FROM d.b WHERE v = X'00ffee'":                                                    "[[1]]",
		"SELECT id FROM d.b WHERE v IS NULL":                                                        "[[4]]",
		"SELECT COUNT(v), COUNT(w), MAX(LENGTH(w)) FROM d.b":                                        "[[3 3 1]]",
		"SELECT HEX(v), COUNT(*) FROM d.b WHERE id < 4 GROUP BY v ORDER BY 1":                       "[[00FFEE 1] [616263 2]]",
		"SELECT HEX(v) FROM d.b WHERE id > 1 ORDER BY id LIMIT 2":                                   "[[616263] [616263]]",
		"SELECT COUNT(*) FROM (SELECT DISTINCT v FROM d.b) x":                                       "[[3]]",
		"SELECT HEX(v) FROM (SELECT v, id FROM d.b WHERE id < 3) x WHERE v IS NOT NULL ORDER BY id": "[[00FFEE] [616263]]",
		"SELECT COUNT(DISTINCT HEX(v)) FROM d.b":                                                    "[[2]]",
		"SELECT x.id FROM d.b x JOIN d.b y ON x.v = y.v WHERE y.id = 2 ORDER BY 1":                  "[[2] [3]]",
	} {
		if got := fmt.Sprint(root.query(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
