package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestCollationsAreShown: catalogue and SHOW say what was declared, and what SHOW CREATE TABLE
// shows makes the same table.
func TestCollationsAreShown(t *testing.T) {
	dir := scratch(t)
	i := start(t, dir)
	root := i.root()
	root.exec("CREATE DATABASE c CHARACTER SET latin1", "USE c",
		"CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(10) COLLATE utf8mb4_0900_ai_ci, l CHAR(3), e ENUM('a','b') COLLATE utf8mb4_bin, b VARBINARY(3), u VARCHAR(9) CHARACTER SET utf8mb4 AS (UPPER(s)), UNIQUE KEY k (s, l))",
		"CREATE TABLE m (s VARCHAR(5), t TEXT CHARACTER SET ascii) COLLATE utf8mb4_unicode_ci")
	check := func(root *client, q, want string) {
		t.Helper()
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s:\n%s in place of\n%s", q, got, want)
		}
	}
	made := "CREATE TABLE `t` (\n  `id` int NOT NULL,\n  `s` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci DEFAULT NULL,\n  `l` char(3) DEFAULT NULL,\n" +
		"  `e` enum('a','b') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,\n  `b` varbinary(3) DEFAULT NULL,\n" +
		"  `u` varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci GENERATED ALWAYS AS (upper(`s`)) VIRTUAL,\n" +
		"  PRIMARY KEY (`id`),\n  UNIQUE KEY `k` (`s`,`l`)\n) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci"
	all := func(root *client) {
		t.Helper()
		check(root, "SHOW CREATE TABLE t", "[[t "+made+"]]")
		check(root, "SHOW CREATE TABLE m", "[[m CREATE TABLE `m` (\n  `s` varchar(5) DEFAULT NULL,\n  `t` text CHARACTER SET ascii COLLATE ascii_general_ci\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci]]")
		check(root, "SELECT table_name, table_collation FROM information_schema.tables WHERE table_schema = 'c' ORDER BY 1", "[[m utf8mb4_unicode_ci] [t latin1_swedish_ci]]")
		check(root, "SELECT column_name, character_set_name, collation_name, column_type, character_octet_length FROM information_schema.columns WHERE table_schema = 'c' AND table_name = 't' ORDER BY ordinal_position",
			"[[id NULL NULL int NULL] [s utf8mb4 utf8mb4_0900_ai_ci varchar(10) 40] [l latin1 latin1_swedish_ci char(3) 3] [e utf8mb4 utf8mb4_bin enum('a','b') 4] [b NULL NULL varbinary(3) 3] [u utf8mb4 utf8mb4_0900_ai_ci varchar(9) 36]]")
		check(root, "SELECT default_character_set_name, default_collation_name FROM information_schema.schemata WHERE schema_name = 'c'", "[[latin1 latin1_swedish_ci]]")
		check(root, "SELECT @@collation_database, @@character_set_database", "[[latin1_swedish_ci latin1]]")
		var of []string
		for _, r := range root.query("SHOW FULL COLUMNS FROM t") {
			of = append(of, r[2])
		}
		if got := strings.Join(of, " "); got != "NULL utf8mb4_0900_ai_ci latin1_swedish_ci utf8mb4_bin NULL utf8mb4_0900_ai_ci" {
			t.Errorf("SHOW FULL COLUMNS: %s", got)
		}
	}
	all(root)
	root.exec("CREATE DATABASE again", "USE again", made, "USE c")
	check(root, "SHOW CREATE TABLE again.t", "[[t "+made+"]]")
	root.exec("CREATE TABLE again.likes LIKE t")
	check(root, "SHOW CREATE TABLE again.likes", "[[likes "+strings.Replace(made, "`t`", "`likes`", 1)+"]]")
	if n := len(root.query("SHOW COLLATION")); n != 17 {
		t.Errorf("SHOW COLLATION lists %d collations", n)
	}
	check(root, "SELECT character_set_name FROM information_schema.character_sets ORDER BY 1", "[[ascii] [binary] [latin1] [utf8mb3] [utf8mb4]]")
	root.refused(1235, "", "CREATE TABLE n (s VARCHAR(5) COLLATE utf8mb4_danish_ci)")
	root.refused(1235, "", "ALTER TABLE t COLLATE utf8mb4_danish_ci")
	root.refused(1273, "", "CREATE TABLE n (s VARCHAR(5) COLLATE none_ci)")
	root.exec("ALTER TABLE m COLLATE utf8mb4_general_ci, COMMENT 'x'")
	check(root, "SHOW CREATE TABLE m", "[[m CREATE TABLE `m` (\n  `s` varchar(5) COLLATE utf8mb4_unicode_ci DEFAULT NULL,\n  `t` text CHARACTER SET ascii COLLATE ascii_general_ci\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='x']]")
	root.exec("ALTER TABLE m COLLATE utf8mb4_unicode_ci, COMMENT ''")
	i.end()
	root = start(t, dir).root()
	root.exec("USE c")
	all(root)
}

// TestConnectionsHaveACollation: it is that of literals, which a column's outweighs.
func TestConnectionsHaveACollation(t *testing.T) {
	root := start(t, "", byBytes).root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (s VARCHAR(5))", "CALL dp_public('c.t')", "INSERT INTO t VALUES ('a'), ('A')")
	for _, q := range []string{"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'", "SET collation_connection = utf8mb4_unicode_ci"} {
		root.exec("SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin")
		if got := rowsText(root.query("SELECT @@collation_connection, COLLATION('a'), 'a' = 'A', (SELECT COUNT(*) FROM t WHERE s = 'A')")); got != "utf8mb4_0900_bin,utf8mb4_0900_bin,0,1" {
			t.Errorf("by bytes: %s", got)
		}
		root.exec(q)
		if got := rowsText(root.query("SELECT @@collation_connection, COLLATION('a'), 'a' = 'A', (SELECT COUNT(*) FROM t WHERE s = 'A')")); got != "utf8mb4_unicode_ci,utf8mb4_unicode_ci,1,1" {
			t.Errorf("%s: %s", q, got)
		}
	}
	root.refused(1235, "", "SET NAMES utf8mb4 COLLATE utf8mb4_danish_ci")
	root.refused(1235, "", "SET collation_connection = 'utf8mb4_danish_ci'")
}

// TestCollationOfTheServer: what is created without a collation has that of the server.
func TestCollationOfTheServer(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "CREATE TABLE c.t (s VARCHAR(9))", "CALL dp_public('c.t')", "INSERT INTO c.t VALUES ('Mary')", "CREATE DATABASE d COLLATE utf8mb4_0900_bin")
	if got := fmt.Sprint(root.query("SELECT @@collation_server, 'a' = 'A', s = 'MÁRY', default_collation_name FROM c.t, information_schema.schemata WHERE schema_name IN ('c', 'd') ORDER BY schema_name")); got != "[[utf8mb4_0900_ai_ci 1 1 utf8mb4_0900_ai_ci] [utf8mb4_0900_ai_ci 1 1 utf8mb4_0900_bin]]" {
		t.Errorf("got %s", got)
	}
}

// TestPersonsByCollation: texts that the unit column's collation calls equal are one person, in all
// tables. The tables of d have the same persons, spelled alike and compared by bytes.
func TestPersonsByCollation(t *testing.T) {
	i := startWith(t, "", seeded(t, "persons by collation", 1))
	root := i.root()
	for _, db := range []string{"c", "d"} {
		spell, by := []string{"Person ", "PÉRSON ", "persön "}, "utf8mb4_0900_ai_ci"
		if db == "d" {
			spell, by = []string{"Person ", "Person ", "Person "}, "utf8mb4_0900_bin"
		}
		text := "VARCHAR(20) COLLATE " + by
		root.exec("CREATE DATABASE "+db, "USE "+db, "CREATE TABLE people (name "+text+" PRIMARY KEY, age INT)", "CREATE TABLE visits (name "+text+", k INT, x INT)",
			"CREATE TABLE calls (id INT PRIMARY KEY, caller "+text+", y INT, FOREIGN KEY (caller) REFERENCES people (name))")
		var people, visits, calls []string
		for p := range 400 {
			people = append(people, fmt.Sprintf("('%s%d', %d)", spell[p%3], p, p%50))
			for k := range 2 + p%2 {
				visits = append(visits, fmt.Sprintf("('%s%d', %d, %d)", spell[k], p, p%3, (p+k)%10))
			}
			calls = append(calls, fmt.Sprintf("(%d, '%s%d', %d)", p, spell[(p+1)%3], p, p%7))
		}
		root.insert(db+".people", people)
		root.insert(db+".visits", visits)
		root.insert(db+".calls", calls)
		root.exec("CALL dp_protect('people', 'name', '"+db+"')", "CALL dp_protect('visits', 'name', '"+db+"')", "CALL dp_link('calls', 'caller', 'people', 'name')",
			"CALL dp_set_domain('visits', 'k', '[0, 1, 2]')")
		for _, table := range []string{"people", "visits", "calls"} {
			root.exec("CALL dp_set_budget('" + table + "', '*', 'rho=900000', 1e-6, 'never')")
		}
	}
	root.exec("SET dp_rho = 900")
	for _, q := range []string{
		"SELECT COUNT(DISTINCT name), COUNT(*), SUM(x) FROM visits",
		"SELECT k, COUNT(*), COUNT(DISTINCT name) FROM visits GROUP BY k ORDER BY k",
		"SELECT COUNT(DISTINCT CASE WHEN x > 4 THEN name END) FROM visits",
		"SELECT AVG(s), COUNT(*) FROM (SELECT name, SUM(x) AS s FROM visits GROUP BY name) q",
		"SELECT COUNT(*) FROM (SELECT DISTINCT name FROM visits) q",
		"SELECT COUNT(*), COUNT(DISTINCT v.name) FROM visits v JOIN people p ON v.name = p.name WHERE age > 5",
		"SELECT COUNT(*) FROM visits v LEFT JOIN people p ON p.name = v.name",
		"SELECT COUNT(*), COUNT(DISTINCT caller) FROM calls JOIN people p ON caller = p.name",
		"SELECT COUNT(DISTINCT v.name) FROM visits v WHERE EXISTS (SELECT 1 FROM calls WHERE caller = v.name AND y > 3)",
		"SELECT COUNT(*) FROM visits WHERE name NOT IN (SELECT name FROM people WHERE age < 10)",
		"SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY name ORDER BY x) AS r FROM visits) q WHERE r = 1",
		"SELECT COUNT(*), COUNT(DISTINCT name) FROM (SELECT name, x FROM visits UNION ALL SELECT name, age FROM people) q",
	} {
		var answers [2][][]string
		for k, db := range []string{"c", "d"} {
			root.exec("USE " + db)
			answers[k] = root.query(q)
		}
		for row, want := range answers[1] {
			for column, w := range want {
				var number float64
				if _, err := fmt.Sscan(w, &number); err != nil || row >= len(answers[0]) {
					t.Fatalf("%s: %v and %v", q, answers[0], answers[1])
				}
				near(t, q, answers[0][row][column], number, 12)
			}
		}
	}
	root.exec("USE c", "CREATE TABLE b (name VARCHAR(20) COLLATE utf8mb4_0900_bin)", "CREATE TABLE u (name VARCHAR(20) COLLATE utf8mb4_unicode_ci)")
	root.refusedFor(map[string]string{
		"CALL dp_protect('b', 'name', 'c')":                                                                       "MODIFY name … COLLATE utf8mb4_0900_ai_ci",
		"CALL dp_protect('u', 'name', 'c')":                                                                       "by the collation utf8mb4_unicode_ci",
		"ALTER TABLE visits MODIFY name VARCHAR(20) COLLATE utf8mb4_bin":                                          "the unit column",
		"SELECT COUNT(DISTINCT v.name) FROM visits v JOIN people p ON v.name = p.name COLLATE utf8mb4_bin":        "two persons",
		"SELECT COUNT(DISTINCT v.name) FROM visits v JOIN people p ON v.name = p.name COLLATE utf8mb4_general_ci": "two persons",
		"SELECT name, COUNT(*) FROM visits GROUP BY name":                                                         "",
	})
}

// TestCollatedRowsAreChanged: what SELECT finds by a collation, UPDATE, DELETE and INSERT … SELECT
// find, and keys refuse what it calls equal.
func TestCollatedRowsAreChanged(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (s VARCHAR(10) PRIMARY KEY, n INT) COLLATE utf8mb4_0900_ai_ci", "CREATE TABLE o (s VARCHAR(10), n INT) COLLATE utf8mb4_0900_ai_ci",
		"CALL dp_public('c.t')", "CALL dp_public('c.o')", "INSERT INTO t VALUES ('Mary', 1), ('zoë', 2), ('x', 3)", "INSERT INTO o VALUES ('MÁRY', 10), ('ZOE', 20)")
	check := func(q, want string) {
		t.Helper()
		if got := rowsText(root.query(q)); got != want {
			t.Errorf("%s: %s in place of %s", q, got, want)
		}
	}
	root.refused(1062, "23000", "INSERT INTO t VALUES ('MARY', 1)")
	if e := root.refused(1062, "", "INSERT INTO t VALUES ('y', 1), ('ZOE', 1)"); !strings.Contains(e.Message, "Duplicate entry 'ZOE' for key") {
		t.Errorf("%s", e.Message)
	}
	root.exec("CREATE TABLE f (id INT, s VARCHAR(10) COLLATE utf8mb4_0900_ai_ci, UNIQUE k ((CONCAT(s, 'x'))))", "INSERT INTO f VALUES (1, 'abc')")
	root.refused(1062, "", "INSERT INTO f VALUES (2, 'ÁBC')")
	root.exec("UPDATE t SET n = n + 10 WHERE s = 'MARY'", "UPDATE t JOIN o ON t.s = o.s SET t.n = t.n + o.n", "INSERT INTO t VALUES ('MÁRY', 5) ON DUPLICATE KEY UPDATE n = n + VALUES(n)",
		"INSERT IGNORE INTO t SELECT s, 9 FROM o WHERE s IN ('zoe')", "REPLACE INTO t VALUES ('X', 4)")
	check("SELECT s, n FROM t ORDER BY s", "Mary,26;X,4;zoë,22")
	root.exec("DELETE FROM t WHERE s = 'ZOE'", "INSERT INTO t SELECT CONCAT(s, 1), n FROM t WHERE s LIKE 'm%'")
	check("SELECT s, n FROM t ORDER BY s", "Mary,26;Mary1,26;X,4")
	root.exec("DELETE t FROM t JOIN o ON t.s = o.s")
	check("SELECT s, n FROM t ORDER BY s DESC", "X,4;Mary1,26")
}
