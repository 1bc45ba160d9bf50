package tables_test

import "testing"

// TestDeclaredCollations: the collation of a column is its own, its table's or its database's, in
// this order, and what the server does not have is refused by name.
func TestDeclaredCollations(t *testing.T) {
	s, root := newServer(t)
	for _, q := range []string{
		"CREATE TABLE refused (s VARCHAR(10) COLLATE utf8mb4_danish_ci)",
		"CREATE TABLE refused (s VARCHAR(10)) COLLATE utf8mb4_danish_ci",
		"CREATE TABLE refused (s ENUM('a') COLLATE utf8mb4_danish_ci)",
		"CREATE TABLE refused (s VARCHAR(10) CHARACTER SET utf16)",
		"CREATE DATABASE refused COLLATE utf8mb4_danish_ci",
		"ALTER DATABASE shop COLLATE utf8mb4_danish_ci",
	} {
		root.errno(q, 1235)
	}
	root.errno("SELECT 1 FROM refused", 1146)
	root.exec("CREATE DATABASE other CHARACTER SET latin1")
	root.exec("CREATE TABLE other.a (s VARCHAR(10), u VARCHAR(10) COLLATE utf8mb4_0900_ai_ci)")
	root.exec("CREATE TABLE plain (s VARCHAR(10))")
	root.exec("CREATE TABLE b (s VARCHAR(10), u VARCHAR(10) COLLATE utf8mb4_0900_as_cs, e ENUM('x','y'), t TEXT, n INT) COLLATE utf8mb4_general_ci")
	of := func(q string, want ...string) {
		t.Helper()
		root.want(q, want...)
	}
	root.exec("INSERT INTO other.a VALUES ('a', 'b')")
	root.exec("INSERT INTO b VALUES ('a', 'b', 'X', 'd', 1)")
	root.exec("INSERT INTO plain VALUES ('a')")
	of("SELECT COLLATION(s), COLLATION(u) FROM other.a", "latin1_swedish_ci|utf8mb4_0900_ai_ci")
	of("SELECT COLLATION(s), COLLATION(u), COLLATION(e), COLLATION(t), e FROM b", "utf8mb4_general_ci|utf8mb4_0900_as_cs|utf8mb4_general_ci|utf8mb4_general_ci|x")
	of("SELECT COLLATION(s) FROM plain", "utf8mb4_0900_bin")

	root.exec("CREATE TABLE likes LIKE b")
	root.exec("INSERT INTO likes SELECT * FROM b")
	root.exec("ALTER TABLE likes ADD COLUMN more VARCHAR(3) DEFAULT 'x'")
	of("SELECT COLLATION(s), COLLATION(u), COLLATION(e), COLLATION(more) FROM likes", "utf8mb4_general_ci|utf8mb4_0900_as_cs|utf8mb4_general_ci|utf8mb4_general_ci")
	root.exec("CREATE TABLE selected AS SELECT s, u FROM b")
	of("SELECT COLLATION(s), COLLATION(u) FROM selected", "utf8mb4_general_ci|utf8mb4_0900_as_cs")

	root.exec("ALTER TABLE likes COLLATE utf8mb4_0900_ai_ci")
	root.exec("ALTER TABLE likes ADD COLUMN last VARCHAR(3) DEFAULT 'x'")
	of("SELECT COLLATION(s), COLLATION(more), COLLATION(last) FROM likes", "utf8mb4_general_ci|utf8mb4_general_ci|utf8mb4_0900_ai_ci")
	root.exec("ALTER TABLE likes CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
	of("SELECT COLLATION(s), COLLATION(u), COLLATION(e), COLLATION(last) FROM likes", "utf8mb4_unicode_ci|utf8mb4_unicode_ci|utf8mb4_unicode_ci|utf8mb4_unicode_ci")
	root.exec("ALTER TABLE likes MODIFY s VARCHAR(5) COLLATE utf8mb4_bin")
	of("SELECT COLLATION(s), COLLATION(u), s FROM likes", "utf8mb4_bin|utf8mb4_unicode_ci|a")
	root.exec("ALTER DATABASE shop COLLATE utf8mb4_0900_as_ci")
	root.exec("CREATE TABLE late (s VARCHAR(10))")
	root.exec("DROP DATABASE other")
	root.exec("CREATE DATABASE other")
	root.exec("CREATE TABLE other.a (s VARCHAR(10))")
	root.exec("INSERT INTO other.a VALUES ('a')")
	root.exec("INSERT INTO late VALUES ('a')")
	of("SELECT (SELECT COLLATION(s) FROM other.a), COLLATION(s) FROM late", "utf8mb4_0900_bin|utf8mb4_0900_as_ci")

	s.close()
	again := open(t, s.path).connect("root")
	again.exec("USE shop")
	again.exec("CREATE TABLE later (s VARCHAR(10))")
	again.exec("INSERT INTO later VALUES ('a')")
	again.want("SELECT COLLATION(b.s), COLLATION(later.s), COLLATION(plain.s) FROM b, later, plain", "utf8mb4_general_ci|utf8mb4_0900_as_ci|utf8mb4_0900_bin")
}

// TestCollatedKeys: a key over texts holds what their collation calls equal apart from nothing
// else, whatever writes the rows.
func TestCollatedKeys(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20) COLLATE utf8mb4_0900_ai_ci UNIQUE, n INT)")
	root.exec("INSERT INTO t VALUES (1, 'Mary', 1), (2, 'zoë', 2)")
	root.fails("INSERT INTO t VALUES (3, 'MÁRY', 3)", "given: MÁRY")
	root.errno("INSERT INTO t VALUES (3, 'MÁRY', 3)", 1062)
	root.errno("INSERT INTO t VALUES (3, 'x', 3), (4, 'X', 3)", 1062)
	root.errno("UPDATE t SET s = 'MARY' WHERE id = 2", 1062)
	root.exec("UPDATE t SET s = 'MARY' WHERE id = 1")
	root.exec("INSERT INTO t VALUES (5, 'mary', 7) ON DUPLICATE KEY UPDATE n = n + 10")
	root.exec("INSERT IGNORE INTO t VALUES (6, 'Zoe', 7)")
	root.exec("INSERT INTO t VALUES (7, 'mary ', 3)") // spaces count
	root.want("SELECT * FROM t ORDER BY id", "1|MARY|11", "2|zoë|2", "7|mary |3")
	root.exec("REPLACE INTO t VALUES (8, 'ZOE', 4)")
	root.want("SELECT * FROM t ORDER BY id", "1|MARY|11", "7|mary |3", "8|ZOE|4")
	root.exec("INSERT INTO t VALUES (9, NULL, 4), (10, NULL, 4)")

	root.exec("CREATE TABLE p (s VARCHAR(20) COLLATE latin1_swedish_ci PRIMARY KEY, n INT)")
	root.exec("INSERT INTO p VALUES ('a', 1), ('ä', 2), ('b ', 3)")
	root.errno("INSERT INTO p VALUES ('A', 4)", 1062)
	root.errno("INSERT INTO p VALUES ('B', 4)", 1062) // spaces at the end do not count
	root.exec("DELETE FROM p WHERE s = 'A'")
	root.exec("INSERT INTO p VALUES ('A', 4)")
	root.want("SELECT s FROM p ORDER BY n", "ä", "b ", "A")

	root.exec("ALTER TABLE t MODIFY s VARCHAR(20) COLLATE utf8mb4_0900_bin")
	root.exec("INSERT INTO t VALUES (11, 'zoe', 5)")
	root.errno("INSERT INTO t VALUES (12, 'zoe', 5)", 1062)
	root.errno("ALTER TABLE t MODIFY s VARCHAR(20) COLLATE utf8mb4_0900_ai_ci", 1062)
	root.exec("DELETE FROM t WHERE id = 11")
	root.errno("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", 1062) // which leaves spaces out
	root.exec("DELETE FROM t WHERE id = 7")
	root.exec("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	root.errno("INSERT INTO t VALUES (12, 'zoe ', 5)", 1062)

	root.exec("CREATE TABLE f (s VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, UNIQUE k (s(2)))")
	root.exec("INSERT INTO f VALUES ('abc')")
	root.fails("INSERT INTO f VALUES ('ABx')", "given: AB")
	root.exec("CREATE TABLE l LIKE p")
	root.exec("INSERT INTO l SELECT * FROM p")
	root.errno("INSERT INTO l VALUES ('Ä', 4)", 1062)
	root.exec("CREATE TABLE x (s TEXT CHARACTER SET latin1, UNIQUE KEY (s(2)))")
	root.exec("INSERT INTO x VALUES ('abc')")
	root.errno("INSERT INTO x VALUES ('ABd')", 1062)
	root.exec("CREATE TABLE g (s VARCHAR(20) COLLATE utf8mb4_0900_ai_ci)")
	root.exec("INSERT INTO g VALUES ('abc')")
	root.exec("ALTER TABLE g ADD UNIQUE u (s)")
	root.errno("INSERT INTO g VALUES ('ABC')", 1062)
	root.exec("DROP INDEX u ON g")
	root.exec("INSERT INTO g VALUES ('ABC')")
	root.errno("ALTER TABLE g ADD UNIQUE u (s)", 1062)
}

// TestCollatedForeignKeys: a child's text has a parent that is equal by their collation.
func TestCollatedForeignKeys(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE p (s VARCHAR(20) PRIMARY KEY) COLLATE utf8mb4_0900_ai_ci")
	root.errno("CREATE TABLE c (s VARCHAR(20), FOREIGN KEY (s) REFERENCES p (s))", 3780)
	root.exec("CREATE TABLE c (s VARCHAR(20), FOREIGN KEY (s) REFERENCES p (s) ON DELETE CASCADE) COLLATE utf8mb4_0900_ai_ci")
	root.exec("INSERT INTO p VALUES ('Mary'), ('Zoë')")
	root.exec("INSERT INTO c VALUES ('MÁRY'), ('zoe')")
	root.errno("INSERT INTO c VALUES ('bob')", 1452)
	root.exec("DELETE FROM p WHERE s = 'mary'")
	root.want("SELECT s FROM c", "zoe")
	root.exec("CREATE TABLE u (s VARCHAR(20), FOREIGN KEY (s) REFERENCES p (s) ON UPDATE CASCADE) COLLATE utf8mb4_0900_ai_ci")
	root.errno("UPDATE p SET s = 'ZOE'", 1451)
	root.exec("DELETE FROM c")
	root.exec("INSERT INTO u VALUES ('zoe')")
	root.exec("UPDATE p SET s = 'ZOE'")
	root.want("SELECT s FROM u", "ZOE")
	root.fails("ALTER TABLE u MODIFY s VARCHAR(20) COLLATE utf8mb4_0900_bin", "foreign key")
}

// TestCharacterSets: a text with a character that its column does not have is refused, or has a
// question mark there where the statement ignores errors.
func TestCharacterSets(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE t (l VARCHAR(3) CHARACTER SET latin1, a VARCHAR(3) CHARACTER SET ascii, u VARCHAR(3) CHARACTER SET utf8mb3, t TEXT CHARACTER SET latin1)")
	root.exec("INSERT INTO t VALUES ('äöü', 'abc', '日本語', 'ÿ')")
	root.errno("INSERT INTO t (l) VALUES ('äöüß')", 1406)
	root.fails("INSERT INTO t (l) VALUES ('a'), ('b日本')", `Incorrect string value: '\xE6\x97\xA5\xE6\x9C\xAC' for column 'l' at row 2`)
	root.errno("INSERT INTO t (l) VALUES ('a'), ('b日本')", 1366)
	root.fails("INSERT INTO t (a) VALUES ('ä')", `Incorrect string value: '\xC3\xA4' for column 'a' at row 1`)
	root.errno("INSERT INTO t (u) VALUES ('a😀')", 1366)
	root.errno("INSERT INTO t (t) VALUES ('日')", 1366)
	root.errno("UPDATE t SET l = '日'", 1366)
	root.want("SELECT * FROM t", "äöü|abc|日本語|ÿ")
	root.exec("INSERT IGNORE INTO t (l, u) VALUES ('a日', 'b😀')")
	root.want("SELECT l, u FROM t WHERE a IS NULL", "a?|b?")
	root.errno("ALTER TABLE t MODIFY u VARCHAR(3) CHARACTER SET latin1", 1366)
	root.errno("ALTER TABLE t CONVERT TO CHARACTER SET latin1", 1366)
	root.exec("ALTER TABLE t MODIFY l VARCHAR(3) CHARACTER SET utf8mb4")
	root.exec("INSERT INTO t (l) VALUES ('日')")
}
