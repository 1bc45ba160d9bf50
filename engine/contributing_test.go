package engine

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/engine/mysql/auth"
)

// TestContributorsAreConfined: whoever has the password that contributors share can neither keep
// the others out, nor see or end their connections, nor have the server join its views; an account
// with a privilege more is one of its own.
func TestContributorsAreConfined(t *testing.T) {
	o := startCollection(t, 10)
	refused := []string{
		"SET PASSWORD = 'mine'", "SET PASSWORD FOR CURRENT_USER() = 'mine'", "ALTER USER USER() IDENTIFIED BY 'mine'", "ALTER USER contributor IDENTIFIED BY 'mine'",
		"SHOW PROCESSLIST", "SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.processlist", "SELECT * FROM performance_schema.threads", "KILL 1", "KILL QUERY 1",
		"SELECT COUNT(*) FROM dp.functions a, dp.functions b, dp.functions c", "SELECT COUNT(*) FROM dp.collections a JOIN dp.collections b", "SELECT COUNT(*) FROM dp.collections NATURAL JOIN dp.protocols",
		"SELECT (SELECT COUNT(*) FROM dp.collections)", "SELECT * FROM dp.collections WHERE EXISTS (SELECT 1 FROM dp.functions)", "SELECT name FROM dp.collections UNION SELECT protocol FROM dp.protocols",
		"SELECT * FROM (SELECT * FROM (SELECT * FROM dp.collections) a) b", "SELECT * FROM (SELECT a.name FROM dp.collections a, dp.collections b) x", "SELECT 1 UNION ALL SELECT 2",
		"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", "SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS(a INT PATH '$')) x", "VALUES ROW(1)",
		"SELECT ROW_NUMBER() OVER w FROM dp.collections WINDOW w AS (ORDER BY (SELECT 1))", "SELECT COUNT(*) FROM dp.collections HAVING (SELECT 1)", "SELECT 1 ORDER BY (SELECT 1)",
		"SELECT * FROM dp.ledger", "SELECT * FROM dp.functions", "SELECT * FROM dp.collection_tokens", "TABLE dp.accounts", "SELECT * FROM mysql.user", "SELECT * FROM information_schema.tables", "SELECT * FROM survey.commute",
		"SHOW VARIABLES WHERE Variable_name IN (SELECT name FROM dp.functions)", "SET @n = (SELECT COUNT(*) FROM dp.functions)", "DO (SELECT 1)",
		"INSERT INTO dp_in.commute SELECT 'x', name FROM dp.functions", "INSERT INTO dp_in.commute VALUES ((SELECT 'x'), 'y')", "INSERT INTO survey.commute VALUES (1, 0, '', '2026-01-01', 'x')",
		"WITH x AS (SELECT 1) INSERT INTO dp_in.commute SELECT 'x', 'y'",
		"CALL dp_forecast_collection('LDP_BIT', '{}')", "CALL dp_price('SELECT 1')", "EXPLAIN SELECT 1", "LOCK TABLES dp.collections READ", "CREATE TABLE survey.t (a INT)", "DROP USER contributor", "FLUSH PRIVILEGES",
	}
	for _, q := range refused {
		e := o.con.refused(1227, "42000", q)
		if !strings.Contains(e.Message, "dp.collection_rounds") || !strings.Contains(e.Message, "CREATE USER") {
			t.Errorf("%s: the message does not help: %s", q, e.Message)
		}
	}
	if e := o.con.refused(1227, "42000", "show  full processlist;"); !strings.Contains(e.Message, "SHOW FULL PROCESSLIST is not for") {
		t.Errorf("the statement is not named: %s", e.Message)
	}
	for _, q := range []string{"PREPARE s FROM 'SHOW PROCESSLIST'", "SELECT 1; SET PASSWORD = 'mine'"} {
		if _, err := o.con.try(q); err == nil {
			t.Errorf("%s is not refused", q)
		}
	}
	if _, err := o.con.try("SELECT a.name FROM dp.functions a, dp.functions b WHERE a.name = ?", "x"); err == nil || !strings.Contains(err.Error(), "1227") {
		t.Errorf("prepared by the protocol: %v", err)
	}
	if _, err := o.dial("contributor", "pw"); err != nil {
		t.Errorf("the password was changed: %v", err)
	}

	o.root.exec("CREATE USER other IDENTIFIED BY 'pw'", "GRANT INSERT ON dp_in.* TO other", "GRANT SELECT ON survey.* TO other")
	other := o.client("other", "pw")
	other.query("SHOW PROCESSLIST")
	other.query("SELECT COUNT(*) FROM dp.functions a, dp.collections b")
	other.exec("SET PASSWORD = 'mine'")
}

// TestWhatContributorsSend: drivers and programs ask these on their own when they connect, commit
// and disconnect, and get an answer.
func TestWhatContributorsSend(t *testing.T) {
	o := startCollection(t, 10)
	multi := o.contributor(o.root, func(c *mysql.Config) { c.MultiStatements = true; c.DBName = "dp" })
	for _, c := range []*client{o.con, multi} {
		for _, q := range []string{
			"SET NAMES utf8mb4", "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'", "SET character_set_results = NULL", "SET autocommit=1", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
			"SET sql_mode='STRICT_TRANS_TABLES', net_write_timeout = 600", "SET @@session.time_zone = '+00:00'", "SET @a = UNHEX('00')", "BEGIN", "COMMIT", "START TRANSACTION READ ONLY", "ROLLBACK", "USE dp_in", "USE dp",
		} {
			c.exec(q)
		}
		for _, q := range []string{
			"SELECT @@version_comment LIMIT 1", "SELECT DATABASE(), USER()", "SELECT CONNECTION_ID(), VERSION()", "SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@auto_increment_increment",
			"/* mysql-connector-j */SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS c, @@sql_mode AS s", "SELECT @@session.transaction_isolation",
			"SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1", "SELECT 1", "(SELECT 1)", "SELECT 1 FROM dual",
			"SHOW VARIABLES", "SHOW VARIABLES LIKE 'lower_case_table_names'", "SHOW VARIABLES WHERE Variable_name IN ('language', 'sql_mode')", "SHOW SESSION VARIABLES LIKE 'sql_mode'", "SHOW STATUS LIKE 'Ssl_cipher'",
			"SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS", "SHOW COLLATION", "SHOW CHARACTER SET", "SHOW ENGINES", "SHOW DATABASES", "SHOW TABLES FROM dp_in", "SHOW GRANTS", "DESCRIBE dp_in.commute", "SHOW FULL COLUMNS FROM dp_in.commute",
			"SELECT params, fingerprint FROM dp.collection_rounds WHERE collection = 'commute' AND round = 1", "SELECT COUNT(*) FROM collections", "SELECT protocol FROM dp.protocols ORDER BY 1", "SELECT HEX(fingerprint) AS f FROM dp.collection_rounds r LIMIT 1",
		} {
			c.query(q)
		}
	}
	token, r := o.next()
	o.con.affected("INSERT INTO dp_in.commute SELECT ?, ?", token, r)
	o.wants(1, "in the end")
}

// TestWhoIsAContributor: INSERT on dp_in and nothing else, by the account itself or by a role that
// a DBA made.
func TestWhoIsAContributor(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE survey", "CREATE ROLE reporters", "GRANT INSERT ON dp_in.commute TO reporters", "CREATE ROLE readers", "GRANT SELECT ON survey.* TO readers")
	for account, c := range map[string]struct {
		grants []string
		want   bool
	}{
		"a": {[]string{"GRANT INSERT ON dp_in.* TO a"}, true},
		"b": {[]string{"GRANT INSERT ON dp_in.commute TO b"}, true},
		"c": {[]string{"GRANT reporters TO c"}, true},
		"d": {[]string{"GRANT INSERT ON dp_in.* TO d", "GRANT SELECT ON dp.* TO d"}, true},
		"e": {nil, false},
		"f": {[]string{"GRANT INSERT ON dp_in.* TO f", "GRANT auditor TO f"}, false},
		"g": {[]string{"GRANT INSERT ON dp_in.* TO g", "GRANT readers TO g"}, false},
		"h": {[]string{"GRANT INSERT, SELECT ON dp_in.* TO h"}, false},
		"i": {[]string{"GRANT INSERT ON *.* TO i"}, false},
		"j": {[]string{"GRANT INSERT ON dp_in.* TO j", "GRANT INSERT ON survey.t TO j"}, false},
		"k": {[]string{"GRANT INSERT ON dp_in.* TO k", "GRANT SELECT ON survey.* TO k", "REVOKE SELECT ON survey.* FROM k"}, true},
	} {
		root.exec("CREATE USER " + account + " IDENTIFIED BY 'pw'")
		root.exec(c.grants...)
		if got := auth.Contributor(i.analyzer.Catalog.MySQLDb, "dp_in", account, "%"); got != c.want {
			t.Errorf("%v: got %v, want %v", c.grants, got, c.want)
		}
	}
	if auth.Contributor(i.analyzer.Catalog.MySQLDb, "dp_in", "root", "%") || auth.Contributor(i.analyzer.Catalog.MySQLDb, "dp_in", "reporters", "%") {
		t.Error("root, or a role, is taken for a contributor")
	}
}
