package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/collation"
)

// spelled are a table's texts that collations tell apart in different ways.
var spelled = []string{"'a'", "'A'", "'á'", "'ß'", "'ss'", "'s'", "'é'", "'e\u0301'", "'e'", "' '", "'a '", "''", "NULL", "'ab'", "'A\t'", "'％'", "'a,B'", "'，'"}

// TestStoreAndEngineCompareAlike: what the store answers of texts by a collation is what
// go-mysql-server evaluates, to which a query with VALUES is left. A collation of utf8mb4 is an
// expression's, and one of another character set a column's.
func TestStoreAndEngineCompareAlike(t *testing.T) {
	i := start(t, "")
	root := i.root()
	var rows []string
	for k, s := range spelled {
		rows = append(rows, fmt.Sprintf("(%d, %s)", k, s))
	}
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT, s VARCHAR(20))", "INSERT INTO t VALUES "+strings.Join(rows, ", "), "CALL dp_public('c.t')")
	differ := 0
	for _, id := range collation.All() {
		by, one, bin := id.Name(), "x.s COLLATE "+id.Name(), ""
		if set := id.CharacterSet(); set == sql.CharacterSet_binary {
			continue
		} else if set != sql.CharacterSet_utf8mb4 {
			rows = nil
			for k, s := range spelled {
				if collation.Outside(set, s) < 0 {
					rows = append(rows, fmt.Sprintf("(%d, %s)", k, s))
				}
			}
			root.exec("CREATE DATABASE d COLLATE "+by, "USE d", "CREATE TABLE t (id INT, s VARCHAR(20))", "INSERT INTO t VALUES "+strings.Join(rows, ", "), "CALL dp_public('d.t')")
			one = "x.s"
		}
		for _, q := range []string{
			"SELECT x.id, y.id, %[1]s = y.s, %[1]s <=> y.s, %[1]s <> y.s, %[1]s < y.s, %[1]s >= y.s, %[1]s BETWEEN y.s AND 'b', %[1]s IN (y.s, 'SS'), (%[1]s, 1) = (y.s, 1), (%[1]s, x.id) IN ((y.s, 1), ('b', 2)) FROM %[2]s WHERE 1 ORDER BY 1, 2",
			"SELECT x.id, y.id, CASE %[1]s WHEN y.s THEN 1 WHEN 'E' THEN 2 ELSE 3 END, NULLIF(%[1]s, y.s), GREATEST(%[1]s, y.s), LEAST(%[1]s, y.s, 'B'), STRCMP(%[1]s, y.s), FIELD(%[1]s, y.s, 'É') FROM %[2]s WHERE 1 ORDER BY 1, 2",
			"SELECT x.id, y.id, LOCATE(y.s, %[1]s), INSTR(%[1]s, y.s), LOCATE(y.s, %[1]s, 2), FIND_IN_SET(%[1]s, 'x,É,a,SS'), FIND_IN_SET(y.s, %[1]s), REPLACE(%[1]s, 'a', 'b') FROM %[2]s WHERE 1 ORDER BY 1, 2",
			"SELECT x.id, %[1]s LIKE 'A%%', %[1]s LIKE '_', %[1]s LIKE 'E%%', %[1]s LIKE '%%S', %[1]s LIKE 'a_', %[1]s LIKE '%%B%%', %[1]s LIKE '\\%%', %[1]s LIKE 'É', %[1]s LIKE '' FROM %[2]s WHERE 1 ORDER BY 1, 2, 3",
			"SELECT COUNT(*), COUNT(DISTINCT %[1]s), LOWER(MIN(%[1]s)), LOWER(MAX(%[1]s)) FROM %[2]s WHERE x.s <> 'é' AND x.s <> 'e\u0301'",
			"SELECT COUNT(*), MIN(x.id) FROM %[2]s WHERE 1 GROUP BY %[1]s ORDER BY 2",
			"SELECT COUNT(*) FROM (SELECT DISTINCT %[1]s AS d FROM %[2]s WHERE 1) q",
			"SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(%[1]s, 'x') AS d FROM %[2]s WHERE 1) q WHERE d > 'AX'",
			"SELECT COUNT(*) FROM (SELECT IF(x.id > 3, %[1]s, 'a') AS d FROM %[2]s WHERE 1) q GROUP BY d ORDER BY 1",
			"SELECT COUNT(*) FROM (SELECT %[1]s AS d FROM %[2]s WHERE 1 UNION SELECT y.s FROM %[2]s WHERE 1) q",
			"SELECT x.id FROM %[2]s WHERE y.id = 1 ORDER BY %[1]s DESC, 1",
			"SELECT x.id, y.id FROM %[2]s WHERE %[1]s = y.s ORDER BY 1, 2",
			"SELECT x.id, y.id FROM %[2]s WHERE %[1]s IN (SELECT s FROM t WHERE id IN (1, 4, 6)) ORDER BY 1, 2",
			"SELECT x.id, y.id FROM %[2]s WHERE %[1]s NOT IN (SELECT s FROM t WHERE id IN (1, 4, 6)) ORDER BY 1, 2",
			"SELECT x.id, y.id FROM %[2]s WHERE EXISTS (SELECT 1 FROM t z WHERE z.s = %[1]s AND z.id = 1) ORDER BY 1, 2",
			"SELECT x.id, y.id FROM %[2]s WHERE %[1]s = (SELECT MAX(s) FROM t z WHERE z.id = 1) ORDER BY 1, 2",
		} {
			stored := fmt.Sprintf(q, one, "t x JOIN t y")
			left := fmt.Sprintf(q, one, "t x JOIN t y JOIN (VALUES ROW(1)) v")
			a, b := fmt.Sprint(root.query(stored)), fmt.Sprint(root.query(left))
			if a != b {
				t.Errorf("%s: the store answers\n%s, and go-mysql-server\n%s", stored, a, b)
			}
			bin += a
			if plan := fmt.Sprint(root.query("EXPLAIN " + stored)); !strings.HasPrefix(plan, "[[StoreQuery") {
				t.Errorf("%s: the plan is %s", stored, plan)
			}
			if plan := fmt.Sprint(root.query("EXPLAIN " + left)); !strings.Contains(plan, "Values") {
				t.Errorf("%s: the plan is %s", left, plan)
			}
		}
		if id.CharacterSet() != sql.CharacterSet_utf8mb4 {
			root.exec("DROP DATABASE d", "USE c")
			continue
		}
		if by == "utf8mb4_general_ci" && !strings.Contains(bin, "[0 10 1 1 0") {
			t.Errorf("'a' and 'a ' are not equal where spaces at the end do not count")
		}
		if strings.Contains(bin, "[0 1 1 1 0") {
			differ++
		}
	}
	if differ != 4 {
		t.Errorf("'a' = 'A' by %d collations, want 4", differ)
	}
	for q, errno := range map[string]uint16{
		"SELECT s COLLATE utf8mb4_0900_ai_ci = s COLLATE utf8mb4_bin FROM t":                                               1267,
		"SELECT s COLLATE utf8mb4_0900_ai_ci IN (s COLLATE utf8mb4_bin, 'a') FROM t":                                       1270,
		"SELECT s COLLATE utf8mb4_de_pb_0900_ai_ci = 'a' FROM t":                                                           1235,
		"SELECT s COLLATE utf8mb4_0900_ai_ci FROM t INTERSECT SELECT 'a' FROM t":                                           1235,
		"SELECT COUNT(*) FROM t WHERE (s COLLATE utf8mb4_0900_ai_ci, 1) = (SELECT s COLLATE utf8mb4_0900_ai_ci, 1 FROM t)": 1235,
	} {
		root.refused(errno, "", q)
	}
}

// TestCollatedWindowsAndWrites: windows, GROUP_CONCAT and the conditions of statements that write
// compare by the collation.
func TestCollatedWindowsAndWrites(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20))",
		"INSERT INTO t VALUES (1, 'b'), (2, 'A'), (3, 'a'), (4, 'B'), (5, 'á'), (6, NULL)")
	by := "s COLLATE utf8mb4_0900_ai_ci"
	check := func(q, want string) {
		t.Helper()
		if got := fmt.Sprint(root.query(strings.ReplaceAll(q, "$", by))); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
	check("SELECT id, ROW_NUMBER() OVER (PARTITION BY $ ORDER BY id), RANK() OVER (ORDER BY $), MIN(id) OVER (PARTITION BY $) FROM t ORDER BY id",
		"[[1 1 5 1] [2 1 2 2] [3 2 2 2] [4 2 5 1] [5 3 2 2] [6 1 1 6]]")
	check("SELECT GROUP_CONCAT(DISTINCT $ ORDER BY $ DESC), GROUP_CONCAT(id ORDER BY $, id DESC) FROM t WHERE s IS NOT NULL", "[[b,A 5,3,2,4,1]]")
	check("SELECT COUNT(*) FROM t WHERE $ REGEXP '^A'", "[[2]]")
	check("SELECT LOWER(MAX($) OVER (ORDER BY id)) FROM t ORDER BY id", "[[b] [b] [b] [b] [b] [b]]")
	root.exec("UPDATE t SET id = id + 10 WHERE "+by+" = 'A'", "DELETE FROM t WHERE "+by+" LIKE 'B%'")
	check("SELECT id FROM t ORDER BY id", "[[6] [12] [13] [15]]")
	root.exec("CREATE TABLE u AS SELECT DISTINCT "+by+" AS s FROM t", "INSERT INTO u SELECT DISTINCT "+by+" FROM t WHERE s IS NOT NULL")
	check("SELECT COUNT(*) FROM u", "[[3]]")
	root.exec("CREATE VIEW v AS SELECT id, " + by + " AS s FROM t")
	check("SELECT id FROM v WHERE s = 'A' ORDER BY 1", "[[12] [13] [15]]")
}

// TestBytesOfLatin1: texts of latin1 have one byte a character, though they are kept in UTF-8, and
// what wants bytes gets that.
func TestBytesOfLatin1(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE l (s VARCHAR(5) CHARACTER SET latin1, u VARCHAR(5))", "CALL dp_public('c.l')", "INSERT INTO l VALUES ('née', 'née')")
	if got := fmt.Sprint(root.query("SELECT LENGTH(s), LENGTH(u), LENGTH(CONVERT(s USING utf8mb4)), HEX(CONVERT(s USING utf8mb4)) = HEX(u), s IN (1, 'NEE'), s = X'4E4545' FROM l")); got != "[[3 4 4 1 1 1]]" {
		t.Errorf("got %s", got)
	}
	root.exec("INSERT INTO l (u) VALUES ('nąe')")
	if got := fmt.Sprint(root.query("SELECT u, CONVERT(CONVERT(u USING latin1) USING utf8mb4), CONVERT(u USING ascii), NULLIF(s, 'NEE'), HEX(CONVERT('é' USING latin1)), LENGTH(CONVERT('é' USING latin1)) FROM l WHERE u <> CONVERT(CONVERT(u USING latin1) USING utf8mb4)")); got != "[[nąe n?e n?e NULL E9 1]]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(root.query("SELECT REGEXP_INSTR(s, 'É', 1), REGEXP_SUBSTR(s, 'E+'), REGEXP_REPLACE(s, 'E', 'x'), REGEXP_REPLACE(s, 'E', 'x', 1, 1, 'c'), s REGEXP 'N', REGEXP_SUBSTR(u COLLATE utf8mb4_bin, 'E+') FROM l LIMIT 1")); got != "[[2 e néx née 1 NULL]]" {
		t.Errorf("got %s", got)
	}
	root.refusedFor(map[string]string{"SELECT ORD(s) FROM l": "CONVERT(x USING utf8mb4)"})
	if got := fmt.Sprint(root.query("SELECT HEX(s), TO_BASE64(s) = TO_BASE64(X'6EE965'), MD5(s) = MD5(X'6EE965'), HEX(CAST(s AS BINARY)), BIT_LENGTH(s) FROM l WHERE SHA1(s) = SHA1(X'6EE965') LIMIT 1")); got != "[[6EE965 1 1 6EE965 24]]" {
		t.Errorf("got %s", got)
	}
}

// TestCollatedKeysOfProtectedRows: keys are grouped by their normal form, which is their label;
// what one row spells otherwise is not shown.
func TestCollatedKeysOfProtectedRows(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE p (person INT, name VARCHAR(20), city VARCHAR(20))", "CALL dp_protect('c.p', 'person', 'person')",
		`CALL dp_set_domain('c.p', 'city', '["North", "South"]')`, "CALL dp_set_budget('c.p', '*', 100, 1e-5, 'never')")
	var rows []string
	names := []string{"Mary", "MARY", "MÁRY", "Bob", "BOB", "bOb"}
	for k := range 6000 {
		rows = append(rows, fmt.Sprintf("(%d, '%s', '%s')", k, names[k%6], []string{"North", "NORTH", "South"}[k%3]))
	}
	root.insert("c.p", rows)
	ana := i.analyst(root, "ana", "c")
	ana.exec("USE c")
	labels := func(q string) (out []string) {
		for _, r := range ana.query(q) {
			out = append(out, r[0])
		}
		slices.Sort(out)
		return out
	}
	by := "name COLLATE utf8mb4_0900_ai_ci"
	for _, q := range []string{
		"SELECT " + by + " AS n, COUNT(*) FROM p GROUP BY n",
		"SELECT " + by + ", COUNT(*) FROM p GROUP BY 1 ORDER BY " + by,
		"SELECT DISTINCT " + by + " FROM p",
		"SELECT n, COUNT(*) FROM (SELECT " + by + " AS n FROM p) q GROUP BY n HAVING n > 'A'",
	} {
		if got := fmt.Sprint(labels(q)); got != "[bob mary]" {
			t.Errorf("%s: labels %s", q, got)
		}
	}
	if got := fmt.Sprint(labels("SELECT n, COUNT(*) FROM (SELECT " + by + " AS n FROM p) q WHERE n IN ('MARY', 'Bób', 'mary') GROUP BY n")); got != "[Bób MARY]" {
		t.Errorf("keys that a condition lists: labels %s", got)
	}
	ana.exec("SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci")
	for q, want := range map[string]string{
		"SELECT k, COUNT(*) FROM (SELECT IF(city = 'South', 'Far', 'Near') AS k FROM p) q GROUP BY k":                                     "[Far Near]",
		"SELECT k, COUNT(*) FROM (SELECT CASE city WHEN 'South' THEN 'Far' WHEN 'North' THEN 'FAR' ELSE '' END AS k FROM p) q GROUP BY k": "[far]",
	} {
		if got := fmt.Sprint(labels(q)); got != want {
			t.Errorf("%s: labels %s, want %s", q, got, want)
		}
	}
	root.exec("CREATE TABLE o (person INT, city VARCHAR(20) COLLATE utf8mb4_0900_ai_ci)", "CALL dp_protect('c.o', 'person', 'person')")
	root.refusedFor(map[string]string{`CALL dp_set_domain('c.o', 'city', '["North", "NORTH", null]')`: "List one of them"})
	root.exec("SET dp_raw = ON", "ALTER TABLE o MODIFY city VARCHAR(20) COLLATE utf8mb4_bin", `CALL dp_set_domain('c.o', 'city', '["North", "NORTH", null]')`)
	root.refusedFor(map[string]string{"ALTER TABLE o MODIFY city VARCHAR(20) COLLATE utf8mb4_0900_ai_ci": "List one of them",
		"ALTER TABLE o CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci": "List one of them"})
	root.exec(`CALL dp_set_domain('c.o', 'city', '["North"]')`, "ALTER TABLE o MODIFY city VARCHAR(20) COLLATE utf8mb4_0900_ai_ci", "SET dp_raw = OFF")
	root.exec(`CALL dp_set_domain('c.o', 'city', '["North", "South", null]')`, "CALL dp_set_budget('c.o', '*', 100, 1e-5, 'never')", "ALTER TABLE o ADD COLUMN z VARCHAR(9) COLLATE utf8mb4_0900_ai_ci")
	rows = nil
	for k := range 6000 {
		rows = append(rows, fmt.Sprintf("(%d, %s, 'Z%d')", k, []string{"'NORTH'", "'north'", "'Söuth'"}[k%3], k%2))
	}
	root.insert("c.o", rows)
	root.exec("GRANT SELECT ON c.* TO ana")
	for q, want := range map[string]string{ // a label is the domain's own spelling, where that is one
		"SELECT city, COUNT(*) FROM o GROUP BY city":                                   "[NULL North South]",
		"SELECT city, COUNT(*) FROM o WHERE city <> 'SOUTH' GROUP BY city ORDER BY 1":  "[North]",
		"SELECT UPPER(city) AS u, COUNT(*) FROM o GROUP BY u":                          "[NORTH NULL SOUTH]",
		"SELECT LEFT(city, 0) AS l, COUNT(*) FROM o WHERE city IS NOT NULL GROUP BY l": "[]",
		"SELECT CONCAT(city, z) AS l, COUNT(*) FROM o GROUP BY l":                      "[northz0 northz1 southz0 southz1]",
		"SELECT city, z, COUNT(*) FROM o GROUP BY city, z":                             "[North North South South]",
	} {
		if got := fmt.Sprint(labels(q)); got != want {
			t.Errorf("%s: labels %s, want %s", q, got, want)
		}
	}
	root.exec(`CALL dp_create_view('c.w', 'SELECT city, COUNT(*) AS n FROM o GROUP BY city', '{"epsilon": 4}')`, "GRANT SELECT ON c.w TO ana")
	for q, want := range map[string]string{
		"SELECT city, n FROM w": "[NULL North South]",
		"SELECT city, COUNT(*) FROM o WHERE city = 'SOUTH' GROUP BY city": "[South]",
		"SELECT n FROM w WHERE city = 'NORTH'":                            root.value("SELECT n FROM w WHERE city = 'North'"),
	} {
		if got := fmt.Sprint(labels(q)); strings.Trim(got, "[]") != strings.Trim(want, "[]") {
			t.Errorf("%s: labels %s, want %s", q, got, want)
		}
	}
	if plan := fmt.Sprint(ana.query("EXPLAIN SELECT city, COUNT(*) FROM o WHERE city = 'SOUTH' GROUP BY city")); !strings.Contains(plan, "c.w") {
		t.Errorf("the view does not answer: %s", plan)
	}
	for q, want := range map[string]float64{
		"SELECT COUNT(*) FROM p WHERE " + by + " = 'mary'":                    3000,
		"SELECT COUNT(*) FROM p WHERE " + by + " LIKE '_Ó%'":                  3000,
		"SELECT COUNT(*) FROM p WHERE " + by + " < 'Mary'":                    3000,
		"SELECT COUNT(*) FROM p WHERE name COLLATE utf8mb4_0900_bin = 'Mary'": 1000,
		"SELECT COUNT(*) FROM p WHERE " + by + " REGEXP '^mary'":              2000,
	} {
		var got float64
		if _, err := fmt.Sscan(ana.value(q), &got); err != nil || got < want-200 || got > want+200 {
			t.Errorf("%s: %g, want about %g", q, got, want)
		}
	}
}
