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
		check("SELECT s, l, b, @@character_set_client FROM t WHERE s LIKE 'é%'", "é日?,é,\xe9,utf8mb3")
		c.refused(1300, "HY000", "SELECT '😀'")
		c.exec("SET NAMES ascii")
		c.refused(1300, "HY000", "SELECT 'é'")
		check("SELECT s, l, b, _binary'\xe9' = b FROM t", "???,?,\xe9,1")
		for _, v := range []string{"NAMES gbk", "character_set_client = ucs2", "character_set_results = utf16", "character_set_connection = 'cp1251'"} {
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
