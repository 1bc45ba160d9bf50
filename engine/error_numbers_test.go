package engine

import (
	"strings"
	"testing"
)

// TestErrorsAreMySQLs provokes MySQL's errors one by one: the number, the SQLSTATE and the words
// that programs look for.
func TestErrorsAreMySQLs(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE shop", "USE shop",
		"CREATE TABLE products (id INT PRIMARY KEY, title VARCHAR(5) NOT NULL, n INT UNSIGNED, made DATETIME, UNIQUE KEY t (title))", "INSERT INTO products VALUES (1, 'one', 1, NULL), (2, 'two', 2, NULL)",
		"CREATE TABLE auto (id INT AUTO_INCREMENT PRIMARY KEY, e ENUM('a','b'))", "CREATE VIEW v AS SELECT id FROM products", "CREATE USER bob IDENTIFIED BY 'pw-bob'", "CREATE USER ann IDENTIFIED BY 'pw-ann'",
		"GRANT SELECT ON shop.* TO bob", "CREATE DATABASE other", "CREATE TABLE other.t (id INT)", "CALL dp_public('shop.products')")
	bob := i.client("bob", "pw-bob")
	bob.exec("USE shop")
	for _, c := range []struct {
		errno uint16
		state string
		query string
		text  string
	}{
		{1007, "HY000", "CREATE DATABASE shop", "Can't create database 'shop'; database exists"},
		{1008, "HY000", "DROP DATABASE nodb", "Can't drop database 'nodb'; database doesn't exist"},
		{1048, "23000", "INSERT INTO products (id, title) VALUES (7, NULL)", "Column 'title' cannot be null"},
		{1049, "42000", "SELECT * FROM nodb.t", "Unknown database 'nodb'"},
		{1050, "42S01", "CREATE TABLE products (x INT)", "Table 'products' already exists"},
		{1050, "42S01", "CREATE VIEW v AS SELECT 1", "Table 'v' already exists"},
		{1051, "42S02", "DROP TABLE nope", "Unknown table 'shop.nope'"},
		{1051, "42S02", "DROP VIEW nope", "Unknown table 'shop.nope'"},
		{1052, "23000", "SELECT id FROM products a, products b", "Column 'id' in field list is ambiguous"},
		{1054, "42S22", "SELECT nope FROM products", "Unknown column 'nope' in 'field list'"},
		{1054, "42S22", "SELECT id FROM products WHERE nope = 1", "Unknown column 'nope' in 'where clause'"},
		{1054, "42S22", "SELECT id FROM products ORDER BY nope", "Unknown column 'nope' in 'order clause'"},
		{1054, "42S22", "SELECT p.id FROM products p JOIN auto a ON a.nope = p.id", "Unknown column 'a.nope' in 'on clause'"},
		{1054, "42S22", "SELECT x.id FROM products", "Unknown column 'x.id' in 'field list'"},
		{1054, "42S22", "INSERT INTO products (id, nope) VALUES (8, 'x')", "Unknown column 'nope' in 'field list'"},
		{1060, "42S21", "CREATE TABLE dup (a INT, a INT)", "Duplicate column name 'a'"},
		{1060, "42S21", "ALTER TABLE products ADD COLUMN title INT", "Duplicate column name 'title'"},
		{1062, "23000", "INSERT INTO products (id, title) VALUES (1, 'z')", "Duplicate entry '1' for key 'PRIMARY'"},
		{1062, "23000", "INSERT INTO products (id, title) VALUES (9, 'one')", "Duplicate entry 'one' for key"},
		{1064, "42000", "SELEC 1", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'SELEC' at line 1"},
		{1064, "42000", "DELETE FROM products WHERE id = ?", "'?' stands only in statements that are prepared"},
		{1064, "42000", "UPDATE products SET n = ? WHERE id = 9", "'?' stands only in statements that are prepared"},
		{1064, "42000", "SELECT * FROM products WHERE id = ?", "'?' stands only in statements that are prepared"},
		{1065, "42000", "/* nothing */", "Query was empty"},
		{1072, "42000", "CREATE TABLE nokey (a INT, KEY k (b))", "Key column 'b' doesn't exist in table"},
		{1075, "42000", "CREATE TABLE two (a INT AUTO_INCREMENT)", "there can be only one auto column"},
		{1091, "42000", "ALTER TABLE products DROP COLUMN nope", "Can't DROP 'nope'; check that column/key exists"},
		{1091, "42000", "ALTER TABLE products DROP INDEX nope", "Can't DROP 'nope'; check that column/key exists"},
		{1094, "HY000", "KILL 99999", "Unknown thread id: 99999"},
		{1110, "42000", "INSERT INTO products (id, id) VALUES (8, 8)", "Column 'id' specified twice"},
		{1115, "42000", "SET NAMES nocharset", "Unknown character set: 'nocharset'"},
		{1136, "21S01", "INSERT INTO products VALUES (1)", "Column count doesn't match value count at row 1"},
		{1140, "42000", "SELECT id FROM products WHERE COUNT(*) > 1", ""},
		{1146, "42S02", "SELECT * FROM nope", "Table 'shop.nope' doesn't exist"},
		{1146, "42S02", "SELECT * FROM other.nope", "Table 'other.nope' doesn't exist"},
		{1146, "42S02", "DESCRIBE nope", "Table 'shop.nope' doesn't exist"},
		{1193, "HY000", "SET nope = 1", "Unknown system variable 'nope'"},
		{1193, "HY000", "SET SESSION nope = 1", "Unknown system variable 'nope'"},
		{1193, "HY000", "SELECT @@session.nope", "Unknown system variable 'nope'"},
		{1222, "21000", "SELECT 1 UNION SELECT 1, 2", "The used SELECT statements have a different number of columns"},
		{1228, "HY000", "SET GLOBAL dp_epsilon = 1", "Variable 'dp_epsilon' is a SESSION variable"},
		{1229, "HY000", "SET SESSION max_connections = 1", "Variable 'max_connections' is a GLOBAL variable"},
		{1231, "42000", "SET wait_timeout = 'abc'", "Variable 'wait_timeout' can't be set to the value of 'abc'"},
		{1231, "42000", "SET sql_mode = 'NOPE'", "Variable 'sql_mode' can't be set to the value of 'NOPE'"},
		{1238, "HY000", "SET version = 'x'", "Variable 'version' is a read only variable"},
		{1241, "21000", "SELECT 1 IN (SELECT 1, 2)", "Operand should contain 1 column(s)"},
		{1242, "21000", "SELECT (SELECT id FROM products)", "Subquery returns more than 1 row"},
		{1248, "42000", "SELECT * FROM (SELECT 1)", "Every derived table must have its own alias"},
		{1264, "22003", "INSERT INTO products (id, title, n) VALUES (7, 'x', -1)", "Out of range value for column"},
		{1265, "01000", "INSERT INTO auto (e) VALUES ('zzz')", "Data truncated for column 'e'"},
		{1273, "HY000", "SET collation_connection = 'nope'", "Unknown collation: 'nope'"},
		{1292, "22007", "INSERT INTO products (id, title, made) VALUES (8, 'x', '2020-13-45')", "Incorrect datetime value: '2020-13-45'"},
		{1298, "HY000", "SET time_zone = 'Nowhere/Land'", "Unknown or incorrect time zone: 'Nowhere/Land'"},
		{1305, "42000", "SELECT nofunc(1)", "FUNCTION nofunc does not exist"},
		{1305, "42000", "CALL noproc()", "PROCEDURE noproc does not exist"},
		{1318, "42000", "CALL dp_protect('x')", "Incorrect number of arguments for PROCEDURE dp_protect; expected 4, got 1"},
		{1347, "HY000", "SHOW CREATE VIEW products", "'shop.products' is not VIEW"},
		{1353, "HY000", "SELECT * FROM (SELECT 1 a, 2 b) t (x)", "different column counts"},
		{1364, "HY000", "INSERT INTO products (title) VALUES ('q')", "Field 'id' doesn't have a default value"},
		{1366, "HY000", "INSERT INTO products (id, title, n) VALUES (7, 'x', 'abc')", "Incorrect integer value: 'abc'"},
		{1396, "HY000", "CREATE USER ann IDENTIFIED BY 'x'", "Operation CREATE USER failed for 'ann'@'%'"},
		{1406, "22001", "INSERT INTO products (id, title) VALUES (8, 'too long')", "Data too long for column 'title' at row 1"},
		{1410, "42000", "GRANT SELECT ON shop.* TO nobody", "You are not allowed to create a user with GRANT"},
		{1582, "42000", "SELECT ABS(1, 2)", "Incorrect parameter count in the call to native function 'abs'"},
	} {
		e := root.refused(c.errno, c.state, c.query)
		if !strings.Contains(e.Message, c.text) || strings.Contains(e.Message, "%!") || strings.Contains(e.Message, "dolt") {
			t.Errorf("%s\n got %q\nwant %q", c.query, e.Message, c.text)
		}
	}
	for _, c := range []struct {
		errno uint16
		query string
		text  string
	}{
		{1044, "SELECT * FROM other.t", "Access denied for user 'bob'@'%' to database 'other'"},
		{1142, "INSERT INTO products (id, title) VALUES (9, 'x')", "INSERT command denied to user 'bob'@'%' for table 'products'"},
		{1142, "DELETE FROM products", "DELETE command denied to user 'bob'@'%' for table 'products'"},
		{1227, "SET GLOBAL max_connections = 1", "Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation"},
		{1227, "FLUSH STATUS", "Access denied; you need (at least one of) the RELOAD privilege(s) for this operation"},
		{1227, "SHOW CREATE USER ann", "Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation"},
	} {
		if e := bob.refused(c.errno, "", c.query); !strings.Contains(e.Message, c.text) {
			t.Errorf("%s\n got %q\nwant %q", c.query, e.Message, c.text)
		}
	}
	root.exec("SELECT * FROM products", "FLUSH STATUS", "FLUSH LOGS", "FLUSH LOCAL TABLES")
}
