package tables_test

import (
	"testing"

	"scrim/engine/store"
)

// storeType returns the store's type of a column of shop.
func storeType(s *server, table, column string) string {
	s.t.Helper()
	t, ok, err := s.store.Table(s.t.Context(), store.TableRef{Schema: "shop", Name: table})
	if err != nil || !ok {
		s.t.Fatalf("table %s: %v %v", table, ok, err)
	}
	for _, c := range t.Columns {
		if c.Name == column {
			return c.Type
		}
	}
	return ""
}

// TestVectorColumns: a VECTOR(n) is an array of doubles in the store, and JSON to clients.
func TestVectorColumns(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE TABLE v (id INT PRIMARY KEY, v VECTOR(3) NOT NULL)")
	root.want("DESCRIBE v", "id|int|NO|PRI|NULL|", "v|json|NO||NULL|")
	root.exec("INSERT INTO v VALUES (1, '[1, 2.5, 3]'), (2, JSON_ARRAY(0.1, -1e-9, 123456789012)), (3, '[1, null, 2]')")
	root.want("SELECT * FROM v ORDER BY id", "1|[1, 2.5, 3]", "2|[0.1, -0.000000001, 123456789012]", "3|[1, null, 2]")
	root.want("SELECT JSON_EXTRACT(v, '$[1]'), JSON_LENGTH(v) FROM v WHERE id = 1", "2.5|3")
	for _, bad := range []string{"'[1, 2]'", "'[1, 2, 3, 4]'", "'[1, \"a\", 3]'", "'{\"a\": 1}'", "'[[1], 2, 3]'", "'7'"} {
		root.fails("INSERT INTO v VALUES (9, "+bad+")", "JSON array for DOUBLE[3]")
	}
	root.errno("INSERT INTO v VALUES (9, NULL)", 1048)
	root.exec("INSERT INTO v VALUES (4, STRING_TO_VECTOR('[0.1, 2, 3]')), (5, TO_VECTOR('[4, 5, 6]'))")
	root.exec("INSERT INTO v (v, id) SELECT STRING_TO_VECTOR('[0.1, 5, 6]'), id + 2 FROM v WHERE id = 4")
	root.exec("REPLACE INTO v SET v = STRING_TO_VECTOR('[7, 5, 6]'), id = 5")
	root.want("SELECT v FROM v WHERE id > 3 ORDER BY id", "[0.1, 2, 3]", "[7, 5, 6]", "[0.1, 5, 6]")
	root.exec("INSERT IGNORE INTO v VALUES (4, STRING_TO_VECTOR('[9, 9, 9]'))")
	root.fails("INSERT INTO v VALUES (9, STRING_TO_VECTOR('[1, 2]'))", "JSON array for DOUBLE[3]")
	root.exec("DELETE FROM v WHERE id > 3")
	root.exec("UPDATE v SET v = STRING_TO_VECTOR('[0.1, 8, 9]') WHERE id = 3")
	root.want("SELECT v FROM v WHERE id = 3", "[0.1, 8, 9]")
	root.exec("UPDATE v SET v = TO_VECTOR(CONCAT('[', id, ', 8, 9]')) WHERE id = 3")
	root.want("SELECT v FROM v WHERE id = 3", "[3, 8, 9]")
	root.fails("UPDATE v SET v = STRING_TO_VECTOR('[1, 2]') WHERE id = 3", "JSON array for DOUBLE[3]")
	root.exec("UPDATE v SET v = '[7, 8, 9]' WHERE id = 3")
	root.exec("REPLACE INTO v VALUES (2, '[0, 0, 0]')")
	root.exec("CREATE TABLE copied AS SELECT id, v FROM v WHERE id < 3")
	root.want("SELECT v FROM copied ORDER BY id", "[1, 2.5, 3]", "[0, 0, 0]")
	root.exec("CREATE TABLE aliased AS SELECT x.v, y.id FROM v x JOIN copied y ON x.id = y.id")
	root.exec("CREATE TABLE starred AS SELECT * FROM v")
	root.exec("CREATE TABLE declared (v JSON) AS SELECT v FROM v")
	root.exec("CREATE TABLE derived AS SELECT v FROM (SELECT v FROM v) v")
	root.exec("CREATE TABLE first AS SELECT JSON_EXTRACT(v, '$[0]') AS v FROM v")
	root.want("SELECT v FROM aliased ORDER BY id", "[1, 2.5, 3]", "[0, 0, 0]")
	root.want("SELECT v FROM derived ORDER BY 1 LIMIT 1", "[0, 0, 0]")
	root.exec("CREATE TABLE w LIKE v")
	root.exec("INSERT INTO w SELECT * FROM v WHERE id > 1")
	root.want("SELECT * FROM w ORDER BY id", "2|[0, 0, 0]", "3|[7, 8, 9]")
	root.exec("ALTER TABLE w ADD COLUMN u VECTOR(2)")
	root.exec("INSERT INTO w VALUES (4, '[1, 1, 1]', '[5, 6]')")
	root.want("SELECT u FROM w ORDER BY id", "NULL", "NULL", "[5, 6]")
	for _, c := range [][3]string{{"v", "v", "DOUBLE[3]"}, {"w", "v", "DOUBLE[3]"}, {"w", "u", "DOUBLE[2]"}, {"copied", "v", "DOUBLE[3]"},
		{"aliased", "v", "DOUBLE[3]"}, {"starred", "v", "DOUBLE[3]"}, {"declared", "v", "JSON"}, {"derived", "v", "JSON"}, {"first", "v", "JSON"}} {
		if got := storeType(s, c[0], c[1]); got != c[2] {
			t.Errorf("%s.%s: got %s in the store, want %s", c[0], c[1], got, c[2])
		}
	}
}

// TestArraysAndListsOfImports: arrays and lists of any numbers are read and written as JSON; what
// the type cannot hold fails, and what is no finite number is null.
func TestArraysAndListsOfImports(t *testing.T) {
	s, root := newServer(t)
	imported(s, "CREATE TABLE shop.i (id INTEGER, f FLOAT[3], n INTEGER[3], l DOUBLE[], d DECIMAL(5,2)[2], b BIGINT[])",
		"INSERT INTO shop.i VALUES (1, [1, 2.5, 'nan'::FLOAT], [1, 2, NULL], [1, 'inf'::DOUBLE], [1.25, 3], NULL)")
	root.want("SELECT * FROM i", `1|[1, 2.5, null]|[1, 2, null]|[1, null]|["1.25", "3.00"]|NULL`)
	for _, c := range []string{"f", "n", "l", "d", "b"} {
		root.want("SELECT column_type FROM information_schema.columns WHERE table_name = 'i' AND column_name = '"+c+"'", "json")
	}
	root.exec("INSERT INTO i VALUES (2, '[0.5, 2, 3]', '[1, 2, 3]', '[]', '[1.25, 2]', '[1, 2, 3, 4]')")
	root.want("SELECT f, n, l, b FROM i WHERE id = 2", "[0.5, 2, 3]|[1, 2, 3]|[]|[1, 2, 3, 4]")
	root.errno("INSERT INTO i (id, n) VALUES (3, '[1, 2, 3e10]')", 1264)
	root.fails("INSERT INTO i (id, f) VALUES (3, '[1, 2]')", "JSON array for FLOAT[3]")
	root.exec("UPDATE i SET l = '[5, null]', f = NULL WHERE id = 1")
	root.want("SELECT f, l FROM i WHERE id = 1", "NULL|[5, null]")
	root.exec("CREATE TABLE j LIKE i")
	if got := storeType(s, "j", "b") + storeType(s, "j", "f"); got != "BIGINT[]FLOAT[3]" {
		t.Errorf("got %s in the store", got)
	}
}
