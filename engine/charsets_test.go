package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestClientsOfOtherCharacterSets: what clients send and get is in the character sets that they
// name; what these cannot hold is a question mark.
func TestClientsOfOtherCharacterSets(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), l VARCHAR(9) CHARACTER SET latin1, b VARBINARY(9), e ENUM('é', 'b'), x TEXT, `ñ` INT)", "CALL dp_public('c.t')",
		"INSERT INTO t VALUES (1, 'é日😀', 'é', x'e9', 'é', '€', 1)")
	for _, how := range []string{"SET NAMES latin1", "login"} {
		c := i.client("root", rootPassword, func(c *mysql.Config) {
			c.DBName = "c"
			if how == "login" {
				c.Collation = "latin1_swedish_ci"
			}
		})
		if how != "login" {
			c.exec(how)
		}
		check := func(q, want string, args ...any) {
			t.Helper()
			if got := fmt.Sprintf("%q", rowsText(c.query(q, args...))); got != fmt.Sprintf("%q", want) {
				t.Errorf("%s: %s: %s in place of %q", how, q, got, want)
			}
		}
		check("SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection, COLLATION('a')", "latin1,latin1,latin1,latin1_swedish_ci,latin1_swedish_ci")
		for _, args := range [][]any{nil, {1}} { // by text and by the protocol of prepared statements
			where := " FROM t WHERE id = 1"
			if args != nil {
				where = " FROM t WHERE id = ?"
			}
			check("SELECT s, l, b, e, x, CONCAT(s, 'a')"+where, "\xe9??,\xe9,\xe9,\xe9,\x80,\xe9??a", args...)
		}
		check("SELECT '\xe9' AS a, LENGTH('\xe9'), CHAR_LENGTH('\xe9'), HEX('\xe9'), HEX('ab'), MD5('\xe9') = MD5(x'e9'), HEX(_binary'\xe9\\'\xff'), HEX(_utf8mb4'\xc3\xa9'), HEX(CAST('\xe9' AS BINARY)), '\xe9' /* \xff */ = s COLLATE utf8mb4_0900_bin FROM t",
			"\xe9,1,1,E9,6162,1,E927FF,C3A9,E9,0")
		c.exec("INSERT INTO t (id, s, l, b) VALUES (2, '\x80\xe9', '\xe9', '\xe9'), (3, _utf8mb4'\xe6\x97\xa5', NULL, _binary'\xff')")
		c.exec("UPDATE t SET b = CONCAT('\xe9', 'b'), x = '\xe9' WHERE id = 3")
		check("SELECT id FROM t WHERE s = ? OR s = '\x80\xe9'", "2", "\x80\xe9")
		if got := rowsText(root.query("SELECT id, s, l, HEX(b), x FROM t WHERE id > 1 ORDER BY 1")); got != "2,€é,é,E9,NULL;3,日,NULL,E962,é" {
			t.Errorf("%s: stored %s", how, got)
		}
		root.exec("DELETE FROM t WHERE id > 1", "INSERT INTO t (id, b) SELECT 2, CAST(l AS BINARY) FROM t")
		if got := root.value("SELECT HEX(b) FROM t WHERE id = 2"); got != "E9" {
			t.Errorf("copied %s", got)
		}
		root.refused(1235, "", "INSERT INTO t (id, b) SELECT 3, l FROM t")
		root.exec("DELETE FROM t WHERE id > 1")
		rows, err := c.conn.QueryContext(t.Context(), "SELECT `\xf1`, s AS '\xe9', l, x, e FROM t")
		if err != nil {
			t.Fatal(err)
		}
		if names, _ := rows.Columns(); fmt.Sprintf("%q", names) != `["\xf1" "\xe9" "l" "x" "e"]` {
			t.Errorf("%s: columns %q", how, names)
		}
		rows.Close()
		if e := c.refused(1054, "", "SELECT `\xe9` FROM t"); !strings.Contains(e.Message, "'\xe9'") {
			t.Errorf("%s: %q", how, e.Message)
		}
		if e := c.refused(1054, "", "SELECT `a\x80` FROM t"); !strings.Contains(e.Message, "'a\x80'") {
			t.Errorf("%s: %q", how, e.Message)
		}
		c.exec("SET character_set_results = ascii")
		if e := c.refused(1054, "", "SELECT `a\x80` FROM t"); !strings.Contains(e.Message, `'a\20AC'`) {
			t.Errorf("%s: %q", how, e.Message)
		}
		check("SELECT s, l, b FROM t", "???,?,\xe9")
		c.exec("SET character_set_results = NULL")
		check("SELECT s, l, b FROM t", "é日😀,\xe9,\xe9")
		c.exec("SET NAMES binary")
		check("SELECT s, l, b, LENGTH('é') FROM t WHERE s LIKE 'é%'", "é日😀,\xe9,\xe9,2")
		c.exec("SET NAMES utf8")
		check("SELECT s, l, b, @@character_set_client FROM t WHERE s LIKE 'é%'", "é日😀,é,\xe9,utf8")
		check("SELECT '😀'", "😀")
		c.exec("SET NAMES ascii")
		c.refused(1300, "HY000", "SELECT 'é'")
		check("SELECT s, l, b, _binary'\xe9' = b FROM t", "???,?,\xe9,1")
		for _, v := range []string{"NAMES gbk", "character_set_client = ucs2", "character_set_connection = 'cp1251'"} {
			c.refused(1235, "42000", "SET "+v)
		}
	}
	several := i.client("root", rootPassword, func(c *mysql.Config) { c.DBName, c.MultiStatements = "c", true })
	several.exec("SET NAMES latin1; INSERT INTO t (id, s) VALUES (4, '\xe9;'); SET NAMES utf8mb4; UPDATE t SET s = CONCAT(s, 'é') WHERE id = 4")
	if got := root.value("SELECT s FROM t WHERE id = 4"); got != "é;é" {
		t.Errorf("several statements: %q", got)
	}
	if _, err := i.dial("root", rootPassword, func(c *mysql.Config) { c.Collation = "gbk_chinese_ci" }); err == nil || !strings.Contains(err.Error(), "gbk") {
		t.Errorf("a client of gbk: %v", err)
	}
}

// TestMixedCollations: a text of two columns of different collations has one of no strength, by
// which nothing is compared.
func TestMixedCollations(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (g VARCHAR(5) COLLATE utf8mb4_general_ci, u VARCHAR(5) COLLATE utf8mb4_unicode_ci, b VARCHAR(5) COLLATE utf8mb4_bin, l VARCHAR(5) COLLATE latin1_swedish_ci, z VARCHAR(5) COLLATE latin1_general_ci, a VARCHAR(5) CHARACTER SET ascii)",
		"CALL dp_public('c.t')", "INSERT INTO t VALUES ('a', 'A', 'b', 'B', 'c', 'd'), ('A', 'a', 'b', 'B', 'c', 'd')")
	for q, want := range map[string]string{
		"SELECT COLLATION(CONCAT(g, u)), COERCIBILITY(CONCAT(g, u)), COLLATION(CONCAT(g, b)), COERCIBILITY(CONCAT(g, b)), COLLATION(CONCAT(g, l)), COLLATION(CONCAT(l, a)), COLLATION(CONCAT(l, z)) FROM t LIMIT 1": "utf8mb4_bin,1,utf8mb4_bin,2,utf8mb4_general_ci,latin1_swedish_ci,latin1_bin",
		"SELECT COUNT(*) FROM t WHERE CONCAT(g, u) COLLATE utf8mb4_general_ci = 'AA'":                                               "2",
		"SELECT COUNT(DISTINCT CONCAT(g, u)), COUNT(DISTINCT CONCAT(g, 'x')) FROM t":                                                "2,1",
		"SELECT CONCAT(g, u) AS x FROM t ORDER BY x":                                                                                "Aa;aA",
		"SELECT COUNT(*) FROM t WHERE CONCAT(g, u) IS NOT NULL AND g = b OR l = g OR a = l":                                         "0",
		"SELECT COUNT(*) FROM t WHERE g = u COLLATE utf8mb4_bin AND IF(1, g, u) LIKE '%' COLLATE utf8mb4_bin":                       "0",
		"SELECT COUNT(*) FROM t WHERE (g, 1) IN (('A' COLLATE utf8mb4_bin, 1)) AND CONCAT(g, u, b COLLATE utf8mb4_unicode_ci) > ''": "1",
	} {
		if got := rowsText(root.query(q)); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	for q, want := range map[string]string{
		"g = u":                                   "1267: Illegal mix of collations (utf8mb4_general_ci,IMPLICIT) and (utf8mb4_unicode_ci,IMPLICIT) for operation '='",
		"CONCAT(g, u) = 'a'":                      "1267: Illegal mix of collations (utf8mb4_bin,NONE) and (utf8mb4_0900_ai_ci,COERCIBLE) for operation '='",
		"IF(g > '', g, u) >= b":                   "1267: Illegal mix of collations (utf8mb4_bin,NONE) and (utf8mb4_bin,IMPLICIT) for operation '>='",
		"g BETWEEN u AND 'x'":                     "1270: Illegal mix of collations (utf8mb4_general_ci,IMPLICIT), (utf8mb4_unicode_ci,IMPLICIT), (utf8mb4_0900_ai_ci,COERCIBLE) for operation 'between'",
		"g IN ('x', u, 'y')":                      "1271: Illegal mix of collations for operation 'in'",
		"l COLLATE latin1_bin = g":                "1267: Illegal mix of collations (latin1_bin,EXPLICIT) and (utf8mb4_general_ci,IMPLICIT) for operation '='",
		"CONCAT(l COLLATE latin1_bin, g) IS NULL": "1267: Illegal mix of collations (latin1_bin,EXPLICIT) and (utf8mb4_general_ci,IMPLICIT) for operation 'concat'",
		"l = z": "1267: Illegal mix of collations (latin1_swedish_ci,IMPLICIT) and (latin1_general_ci,IMPLICIT) for operation '='",
	} {
		number, text, _ := strings.Cut(want, ": ")
		var n uint16
		fmt.Sscan(number, &n)
		if e := root.refused(n, "HY000", "SELECT COUNT(*) FROM t WHERE "+q); e.Message != text {
			t.Errorf("%s: %s", q, e.Message)
		}
	}
}

// TestCollationsOfSelectedColumns: a column of CREATE TABLE AS SELECT has its expression's.
func TestCollationsOfSelectedColumns(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT, s VARCHAR(5) COLLATE utf8mb4_0900_ai_ci, g VARCHAR(5) COLLATE utf8mb4_general_ci)", "CALL dp_public('c.t')", "INSERT INTO t VALUES (1, 'Mary', 'x'), (2, 'MARY', 'x')")
	for q, want := range map[string]string{
		"SELECT CONCAT(s, 'x') AS a, UPPER(g) AS b, CONCAT(s, g) AS c, IF(id, s, '') AS d, s COLLATE utf8mb4_bin AS e, CONVERT(s USING latin1) AS f, 'x' AS h FROM t": "utf8mb4_0900_ai_ci utf8mb4_general_ci utf8mb4_bin utf8mb4_0900_ai_ci utf8mb4_bin latin1_swedish_ci utf8mb4_0900_ai_ci",
		"SELECT MAX(s) AS m, GROUP_CONCAT(g) FROM t":   "utf8mb4_0900_ai_ci utf8mb4_general_ci",
		"SELECT id, CONCAT(s, 1) FROM t WHERE s = 'm'": "NULL utf8mb4_0900_ai_ci",
	} {
		root.exec("CREATE TABLE u AS " + q)
		var of []string
		for _, r := range root.query("SELECT collation_name FROM information_schema.columns WHERE table_schema = 'c' AND table_name = 'u' ORDER BY ordinal_position") {
			of = append(of, r[0])
		}
		if got := strings.Join(of, " "); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
		root.exec("DROP TABLE u")
	}
	root.exec("SET NAMES utf8mb4")
	for _, q := range []string{
		"SELECT n FROM (SELECT IF(id < 2, 'Mary', 'MARY') AS n FROM t) q GROUP BY n", "SELECT DISTINCT n FROM (SELECT IF(id < 2, 'Mary', 'MARY') AS n FROM t) q",
		"SELECT n FROM (SELECT 'Mary' AS n UNION SELECT 'MARY') q GROUP BY n", "SELECT DISTINCT s FROM t",
	} {
		if got := rowsText(root.query(q)); got != "Mary" {
			t.Errorf("%s: %s", q, got)
		}
	}
}

// TestConvertedCharacterSets: bytes are read as texts of the character set, and those that are none
// are NULL; a character set that the server does not have is refused wherever it is named.
func TestConvertedCharacterSets(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY, b VARBINARY(9), s VARCHAR(9))", "CALL dp_public('c.t')",
		"INSERT INTO t VALUES (1, 0xE9, 'é'), (2, 0xC3A9, 'a'), (3, 0xFF41, 'b'), (4, NULL, NULL)")
	for q, want := range map[string]string{
		"SELECT id, HEX(CONVERT(b USING utf8mb4)), HEX(CONVERT(b USING latin1)), HEX(CONVERT(b USING ascii)), HEX(CONVERT(s USING binary)), HEX(CONVERT(s USING latin1)) FROM t ORDER BY id": "1,NULL,E9,NULL,C3A9,E9;2,C3A9,C3A9,NULL,61,61;3,NULL,FF41,NULL,62,62;4,NULL,NULL,NULL,NULL,NULL",
		"SELECT id FROM t WHERE CONVERT(b USING utf8mb4) = 'É'":                                                                                                "2",
		"SELECT id FROM t WHERE CONVERT(b USING latin1) = 'é'":                                                                                                 "1",
		"SELECT COUNT(*) FROM t WHERE CONVERT(id USING utf8mb4) = '01'":                                                                                        "0",
		"SELECT CONVERT(0xE9 USING latin1), CONVERT(5.50 USING utf8mb4), CONVERT(DATE '2020-01-02' USING latin1), CHARSET(CONVERT(5 USING latin1))":            "é,5.50,2020-01-02,latin1",
		"SELECT HEX(CAST('é' AS CHAR CHARACTER SET latin1)), HEX(CAST('éa' AS CHAR(1) CHARACTER SET latin1)), HEX(CAST('éa' AS CHAR(1) CHARACTER SET binary))": "E9,E9,C3",
		"SELECT HEX(CHAR(233 USING latin1)), HEX(CHAR(233 USING utf8mb4)), CHAR(0xC3A9 USING utf8mb4), CHARSET(CHAR(65 USING latin1)), CHARSET(CHAR(65))":      "E9,NULL,é,latin1,binary",
	} {
		if got := rowsText(root.query(q)); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	root.query("SELECT CONVERT(0x41E9 USING utf8mb4)")
	if got := root.remarked(); !strings.Contains(got, "Warning 1300 Invalid utf8mb4 character string: 'E9'") {
		t.Errorf("warnings %s", got)
	}
	for _, q := range []string{"SELECT CONVERT('a' USING gbk)", "SELECT CHAR(65 USING gbk)", "SELECT CAST('a' AS CHAR CHARACTER SET utf16)", "SELECT s FROM t ORDER BY s COLLATE gbk_bin",
		"CREATE TABLE u (a VARCHAR(9)) CHARSET gbk", "CREATE TABLE u (a VARCHAR(9) CHARACTER SET gbk)", "CREATE TABLE u (a ENUM('x') CHARSET ucs2)", "ALTER TABLE t MODIFY s VARCHAR(9) COLLATE sjis_bin",
		"CREATE DATABASE u CHARSET sjis", "ALTER DATABASE c CHARSET utf16", "ALTER TABLE t CONVERT TO CHARACTER SET sjis"} {
		if e := root.refused(1235, "42000", q); !strings.Contains(e.Message, "is not supported. Use ") {
			t.Errorf("%s: %s", q, e.Message)
		}
	}
	for _, q := range []string{"CREATE DATABASE u CHARACTER SET latin1 COLLATE utf8mb4_bin", "CREATE TABLE u (a VARCHAR(9) CHARACTER SET latin1 COLLATE utf8mb4_bin)", "SELECT 'a' COLLATE latin1_bin"} {
		root.refused(1253, "42000", q)
	}
	for _, q := range []string{"CREATE TABLE u (e ENUM('a', 'A'))", "CREATE TABLE u (e SET('é', 'e'))"} {
		root.refused(1291, "HY000", q)
	}
	root.exec("ALTER DATABASE c CHARSET latin1")
	if got := root.query("SHOW CREATE DATABASE c")[0][1]; !strings.Contains(got, "latin1_swedish_ci") {
		t.Errorf("a database of latin1: %s", got)
	}
	for q, want := range map[string]string{"SELECT (s), ((t.id)), (1), (id) + 1 FROM t": "s,id,(1),(id) + 1", "SELECT DISTINCT(id > 5), (s) FROM t": "(id > 5),s", "SELECT DISTINCT (id>5) FROM t ORDER BY 1": "(id>5)"} {
		if got, err := root.answer(q); err != nil || strings.Join(got.columns, ",") != want {
			t.Errorf("%s has the columns %q, %v", q, got.columns, err)
		}
	}
}
