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
		// numbers are compared by all of their digits
		`SELECT j = 12345678901234567890, j = 12345678901234567894, 12345678901234567893 < j, j BETWEEN 12345678901234567895 AND 1e20, j IN (12345678901234567894), j <=> 12345678901234567893 FROM t WHERE id = 5`:                                             `0,1,1,0,1,0`,
		`SELECT CAST('[1,{"a":12345678901234567890}]' AS JSON) = CAST('[1,{"a":12345678901234567891}]' AS JSON), CAST('{"a":1,"b":[2]}' AS JSON) = CAST('{"b":[2.0],"a":1e0}' AS JSON), CAST('"1"' AS JSON) = 1, CAST('[1,2]' AS JSON) < CAST('[1,3]' AS JSON)`: `0,1,0,1`,
		// a point stays, whatever reads a document
		`SELECT CAST('[1.0,1e3,1.50,-0.0,7]' AS JSON), JSON_EXTRACT('[1.0]', '$[0]'), JSON_TYPE('1.0'), JSON_TYPE('1'), JSON_TYPE(JSON_EXTRACT(JSON_ARRAY(1.5), '$[0]')), JSON_UNQUOTE('[2.0]'), JSON_PRETTY('[1.0]')`:                                        "[1.0, 1000.0, 1.5, -0.0, 7],1.0,DOUBLE,INTEGER,DECIMAL,[2.0],[\n  1.0\n]",
		`SELECT JSON_SET('{"a":1.0}', '$.b', 2, '$.c', 2.50, '$.d', 9), JSON_REMOVE('[1.0,2]', '$[last]'), JSON_INSERT('[1.0]', '$[9]', 2.0), JSON_REPLACE('[1.0,2]', '$[0]', JSON_ARRAY(3.0))`:                                                               `{"a": 1.0, "b": 2, "c": 2.50, "d": 9},[1.0],[1.0, 2.0],[[3.0], 2]`,
		`SELECT JSON_ARRAY_APPEND('[1.0]', '$', 2.0), JSON_ARRAY_INSERT('[1.0]', '$[0]', 2.0), JSON_MERGE_PRESERVE('[1.0]', '[2.0]'), JSON_MERGE_PATCH('{"a":1.0}', '{"b":2.0}'), JSON_REMOVE(JSON_ARRAY(123456789012345678901234.5, 1), '$[1]')`:             `[1.0, 2.0],[2.0, 1.0],[1.0, 2.0],{"a": 1.0, "b": 2.0},[123456789012345678901234.5]`,
		`SELECT v + 1, v > 999, SUM(v), CAST(v AS SIGNED), CAST(v AS DECIMAL(6,2)), ROUND(v), SIGN(v), MAX(v) FROM (SELECT CAST('1e3' AS JSON) v) d`:                                                                                                          `1001,1,1000,1000,1000.00,1000,1,1000.0`,
		`SELECT JSON_OVERLAPS('[1,3]', '[2,3.0]'), JSON_OVERLAPS('[1]', '[2,4]'), JSON_OVERLAPS('{"a":1,"b":2}', '{"b":2e0}'), JSON_OVERLAPS('{"a":1,"b":2}', '{"b":3}'), JSON_OVERLAPS('[4,"6"]', '6'), JSON_OVERLAPS('5', '[5]'), JSON_OVERLAPS(NULL, '1')`: `1,0,1,0,0,1,NULL`,
		// conditions compare with 0
		`SELECT IF(v, 1, 2), NOT v, v IS TRUE, v AND 1, v OR 0 FROM (SELECT CAST('0.0' AS JSON) v UNION ALL SELECT CAST('[]' AS JSON)) d WHERE v OR NOT v`: `2,1,0,0,0;1,0,1,1,1`,
		`SELECT id FROM t WHERE j->'$.a' ORDER BY id`: `1;2;4`,
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
		root.refused(3143, "42000", "SELECT JSON_REMOVE('{}', '"+path+"')")
	}
	for _, path := range []string{"$[0 to 1]", "$**.a", "$.*[last]"} {
		root.refused(1235, "42000", "SELECT JSON_EXTRACT(j, '"+path+"') FROM t")
	}
	if e := root.refused(3140, "22032", "INSERT INTO t (id, j) VALUES (8, '[1]'), (9, '{bad')"); !strings.HasSuffix(e.Message, " in value for column 'j' at row 2") {
		t.Error(e)
	}
}
