package engine

import (
	"strings"
	"testing"
)

// TestNumbersOfDocuments: whole numbers of documents keep all of their digits, however they come in
// and whatever reads them.
func TestNumbersOfDocuments(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY, j JSON, x TEXT)", "CALL dp_public('c.t')",
		`INSERT INTO t VALUES (1, '{"a":12345678901234567890,"b":[1,2,12345678901234567891]}', '{"a":12345678901234567890,"b":[7]}'), (2, NULL, NULL)`,
		`UPDATE t SET j = '{"a":-9007199254740993}' WHERE id = 2`, `INSERT INTO t (id, j) SELECT 3, '[18446744073709551615]'`,
		"INSERT INTO t (id, j) VALUES (4, JSON_OBJECT('a', 12345678901234567893)), (5, CAST('12345678901234567894' AS JSON))")
	for q, want := range map[string]string{
		"SELECT id, j FROM t ORDER BY id": `1,{"a": 12345678901234567890, "b": [1, 2, 12345678901234567891]};2,{"a": -9007199254740993};3,[18446744073709551615];4,{"a": 12345678901234567893};5,12345678901234567894`,
		`SELECT x->'$.a', x->>'$.b[last]', JSON_EXTRACT(x, '$.a'), JSON_TYPE(x->'$.a'), JSON_SET(x, '$.b', 1), JSON_EXTRACT(CAST(x AS JSON), '$.a') FROM t WHERE id = 1`: `12345678901234567890,7,12345678901234567890,UNSIGNED INTEGER,{"a": 12345678901234567890, "b": 1},12345678901234567890`,
		`SELECT JSON_EXTRACT('[12345678901234567890]', '$[0]'), JSON_KEYS('{"k":12345678901234567890}'), JSON_MERGE_PATCH('{"k":12345678901234567890}', '{"a":1}')`:      `12345678901234567890,["k"],{"a": 1, "k": 12345678901234567890}`,
		// paths from the end of an array
		`SELECT j->'$.b[last]', j->'$.b[last-2]', j->'$.b[last-3]', j->'$.a[last]', j->'$.c[last]' FROM t WHERE id = 1`:                                     `12345678901234567891,1,NULL,12345678901234567890,NULL`,
		`SELECT JSON_EXTRACT('[]', '$[last]'), JSON_EXTRACT('5', '$[0]'), JSON_EXTRACT('[1,{"a":[5,6]}]', '$[1].a[last]'), JSON_SET('[1,2]', '$[last]', 9)`: `NULL,5,6,[1, 9]`,
		// an aggregate of no rows
		"SELECT JSON_ARRAYAGG(id), JSON_OBJECTAGG(id, id) FROM t WHERE id > 9": "NULL,NULL",
		"SELECT JSON_ARRAYAGG(id) FROM t WHERE id < 3":                         "[1, 2]",
	} {
		if got := rowsText(root.query(q)); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	for _, path := range []string{"$.", "a", "$[", "$..a", `$."a`, "$.a-b", ""} {
		root.refused(3143, "42000", "SELECT JSON_EXTRACT(j, '"+path+"') FROM t")
		root.refused(3143, "42000", "SELECT JSON_EXTRACT(j, CONCAT('"+path+"', '')) FROM t")
		root.refused(3143, "42000", "SELECT JSON_SET('{}', '"+path+"', 1)")
	}
	for _, path := range []string{"$[0 to 1]", "$**.a", "$.*[last]"} {
		root.refused(1235, "42000", "SELECT JSON_EXTRACT(j, '"+path+"') FROM t")
	}
	if e := root.refused(3140, "22032", "INSERT INTO t (id, j) VALUES (8, '[1]'), (9, '{bad')"); !strings.HasSuffix(e.Message, " in value for column 'j' at row 2") {
		t.Error(e)
	}
}
