package dialect

import (
	"strings"
	"testing"

	"scrim/internal/refuse"
)

func TestRules(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"DO 1, f(2, 3)", "SET @`do nothing with it` = ( 1), @`do nothing with it` = ( f(2, 3))"},
		{"DESCRIBE t '%'", "SHOW COLUMNS FROM t LIKE '%'"},
		{"desc d.`t` col", "SHOW COLUMNS FROM d.`t` LIKE 'col'"},
		{"DESCRIBE t", "DESCRIBE t"},
		{"EXPLAIN SELECT 1", "EXPLAIN SELECT 1"},
		{"EXPLAIN EXTENDED SELECT 1", "EXPLAIN   SELECT 1"},
		{"EXPLAIN FORMAT=TRADITIONAL SELECT 1", "EXPLAIN   SELECT 1"},
		{"EXPLAIN FORMAT = 'tree' SELECT 1", "EXPLAIN FORMAT = tree SELECT 1"},
		{"EXPLAIN FORMAT=JSON SELECT 1", "EXPLAIN FORMAT=tree_estimates SELECT 1"},
		{"SELECT @x := 1 + 2 AS y, @z:=(3) FROM t", "SELECT `@:=`('x',  1 + 2 )AS y, `@:=`('z', (3) )FROM t"},
		{"SELECT @a := @b := 3 c", "SELECT `@:=`('a',  `@:=`('b',  3 ))c"},
		{"SELECT CASE x WHEN 1 THEN @d:= IF(a,b,c) ELSE @d:=4 END", "SELECT CASE x WHEN 1 THEN `@:=`('d',  IF(a,b,c) )ELSE `@:=`('d', 4 )END"},
		{"SELECT @x := CASE WHEN a THEN b END FROM t", "SELECT `@:=`('x',  CASE WHEN a THEN b END )FROM t"},
		{"SELECT @x := LEFT(a, 2) LIMIT 1", "SELECT `@:=`('x',  LEFT(a, 2) )LIMIT 1"},
		{"SET @x := 1", "SET @x := 1"},
		{"SET @x := (SELECT @y := 2)", "SET @x := (SELECT `@:=`('y',  2))"},
		{"SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET NAMES utf8mb4 , collation_connection = 'utf8mb4_bin'"},
		{"SET NAMES 'latin1' COLLATE 'latin1_bin'", "SET NAMES 'latin1' , collation_connection = 'latin1_bin'"},
		{"SELECT SQL_NO_CACHE DISTINCTROW a FROM t", "SELECT   DISTINCT  a FROM t"},
		{"SELECT /*+ HINT */ SQL_BIG_RESULT a", "SELECT /*+ HINT */   a"},
		{"SELECT SQL_CALC_FOUND_ROWS DISTINCT a", "SELECT SQL_CALC_FOUND_ROWS DISTINCT a"},
		{"SELECT sql_cache FROM t", "SELECT sql_cache FROM t"},
		{"SELECT DISTINCT(a) FROM t", "SELECT DISTINCT (a) FROM t"},
		{"SELECT DISTINCT (a)+1 FROM t", "SELECT DISTINCT  (a)+1 FROM t"},
		{"SELECT a FROM t USE INDEX FOR ORDER BY (PRIMARY, b) WHERE c", "SELECT a FROM t   WHERE c"},
		{"USE shop", "USE shop"},
		{"SELECT a FROM t FOR SHARE OF t SKIP LOCKED", "SELECT a FROM t  "},
		{"SELECT a FROM t FOR UPDATE", "SELECT a FROM t FOR UPDATE"},
		{"SELECT a IS NOT UNKNOWN", "SELECT a IS NOT NULL"},
		{"SELECT unknown", "SELECT unknown"},
		{"SELECT ROW(1,2) = ROW(1,2)", "SELECT  (1,2) =  (1,2)"},
		{"VALUES ROW(1,2), ROW(3,4)", "VALUES ROW(1,2), ROW(3,4)"},
		{"SELECT {d '2020-01-01'}, {fn UCASE({fn CONCAT(a, 'b')})}", "SELECT `date literal`( '2020-01-01'),  UCASE( CONCAT(a, 'b') ) "},
		{"SELECT DATE'2020-01-01', TIME '10:00' AS t, time, DATE(d)", "SELECT `date literal`('2020-01-01'), `time literal`( '10:00' )AS t, time, DATE(d)"},
		{"SELECT N'a', x'4D', 0b11, _utf8'a'", "SELECT  'a', x'4D', b'11', _utf8'a'"},
		{"SELECT a AS größe, b$c", "SELECT a AS `größe`, `b$c`"},
		{"SELECT 'x' LIKE 'a\\_b\\\\_'", "SELECT 'x' LIKE 'a\\\\_b\\\\_'"},
		{`SELECT "it's \"50\%\" ""x"""`, `SELECT 'it''s \"50\\%\" "x"'`},
		{"LOAD DATA LOW_PRIORITY LOCAL INFILE 'a' INTO TABLE t", "LOAD DATA   LOCAL INFILE 'a' INTO TABLE t"},
		{"SELECT ~1, ~t.a, ~f(b)", "SELECT `~`(1), `~`(t.a), `~`(f(b))"},
		{"(SELECT 1)", " SELECT 1 "},
		{"(SELECT 1) UNION (SELECT 2)", "(SELECT 1) UNION (SELECT 2)"},
		{"SELECT a = ANY (SELECT 1), b <> ALL (SELECT 2)", "SELECT a IN (SELECT 1), b NOT IN (SELECT 2)"},
		{"SELECT a UNION ALL (SELECT 1)", "SELECT a UNION ALL (SELECT 1)"},
		{"SELECT DATE_ADD(d, INTERVAL '1:2' MINUTE_SECOND)", "SELECT DATE_ADD(d, INTERVAL '1:2' `MINUTE_SECOND`)"},
		{"SELECT EXTRACT(MINUTE_SECOND FROM d), EXTRACT(WEEK FROM d)", "SELECT EXTRACT(MINUTE_SECOND FROM d), WEEK( d)"},
		{"SELECT TIMESTAMPADD(SQL_TSI_DAY, 1, d), INTERVAL(a, 1, 2), INTERVAL (a) DAY", "SELECT TIMESTAMPADD(DAY, 1, d), `interval`(a, 1, 2), INTERVAL (a) DAY"},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "START TRANSACTION   READ ONLY"},
		{"START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT", "START TRANSACTION READ ONLY "},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "START TRANSACTION  "},
		{"SET PASSWORD = 'x''y'", "ALTER USER 'ann'@'%' IDENTIFIED BY 'x''y'"},
		{"SET PASSWORD FOR bob@'h' = PASSWORD('x')", "ALTER USER 'bob'@'h' IDENTIFIED BY 'x'"},
		{"SET ROLE ALL", "SET @`do nothing with it` = NULL"},
		{"ALTER USER USER() IDENTIFIED BY 'x'", "ALTER USER 'ann'@'%' IDENTIFIED BY 'x'"},
		{"ALTER TABLE t COMMENT 'x'", "ALTER TABLE t COMMENT 'x'"},
		{"CHECK TABLE t", "SELECT CONCAT(DATABASE(), '.', 't') AS `Table`, 'check' AS Op, 'note' AS Msg_type, 'The storage engine for the table doesn''t support check' AS Msg_text"},
		{"SELECT GROUP_CONCAT(a ORDER BY b) FROM t", "SELECT `whole letters`(GROUP_CONCAT(a ORDER BY b) )FROM t"},
		{"SELECT 1 /*!40101 , {fn f()} */", "SELECT 1 /*!40101 ,  f()  */"},
		{"SELECT 'USE INDEX (a)', `FOR SHARE` -- @x := 1\n", "SELECT 'USE INDEX (a)', `FOR SHARE` -- @x := 1\n"},
	} {
		got, err := adjust(t, c.query, Mode{}, Forms...)
		if err != nil || got != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.query, got, err, c.want)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		query string
		mode  Mode
		want  string
	}{
		{`SELECT 'c:\d', "x"`, Mode{NoBackslash: true}, `SELECT _utf8mb4 x'633a5c64', 'x'`},
		{"SELECT NOT a BETWEEN 1 AND 2, b NOT IN (1), NOT NULL", Mode{HighNotPrecedence: true}, "SELECT ! a BETWEEN 1 AND 2, b NOT IN (1), NOT NULL"},
		{"SELECT NOT a", Mode{}, "SELECT NOT a"},
		{`SELECT "a" /*! , "b""c" */`, Mode{AnsiQuotes: true}, "SELECT \"a\" /*! , `b\"c` */"},
	} {
		if got, err := adjust(t, c.query, c.mode); err != nil || got != c.want {
			t.Errorf("%s in %+v:\n got %s, %v\nwant %s", c.query, c.mode, got, err, c.want)
		}
	}
	if _, err := adjust(t, `CREATE VIEW v AS SELECT 'a\b'`, Mode{NoBackslash: true}); err == nil {
		t.Error("a view that another session would read otherwise was let through")
	}
}

func TestRefusals(t *testing.T) {
	for query, want := range map[string]string{
		"HANDLER t OPEN": "HANDLER reads rows", "XA START 'a'": "Distributed transactions", "CHECKSUM TABLE t": "checksum", "SHUTDOWN": "not stopped in SQL",
		"EXPLAIN FOR CONNECTION 3": "other connections", "EXPLAIN FORMAT=JSON FOR CONNECTION 3": "other connections",
		"SET ROLE analyst": "All roles", "SET DEFAULT ROLE NONE TO ann": "All roles", "ALTER USER ann ACCOUNT LOCK": "ACCOUNT LOCK",
		"ALTER USER ann IDENTIFIED BY 'x' PASSWORD EXPIRE": "do not expire", "ALTER USER ann REQUIRE SSL": "REQUIRE",
		"SET PASSWORD TO RANDOM": "not made by the server", "SELECT a > ALL (SELECT 1)": "ANY or ALL",
	} {
		_, err := adjust(t, query, Mode{}, Forms...)
		if r, ok := refuse.As(err); !ok || r.Code != refuse.Unsupported || !strings.Contains(r.Cause, want) || r.Remedy == "" {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestBinaryIsAValueOfVariables(t *testing.T) {
	for query, want := range map[string]string{
		"SET @@character_set_database=binary":      "SET @@character_set_database='binary'",
		"set @@a = BINARY, @@b = binary;":          "set @@a = 'binary', @@b = 'binary';",
		"SET @x = BINARY 'a'":                      "SET @x = BINARY 'a'",
		"SET NAMES binary":                         "SET NAMES binary",
		"SELECT * FROM t WHERE a = BINARY 'b'":     "SELECT * FROM t WHERE a = BINARY 'b'",
		"UPDATE t SET a = BINARY b, c = binary(d)": "UPDATE t SET a = BINARY b, c = binary(d)",
	} {
		if got, err := adjust(t, query, Mode{}); err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", query, got, err, want)
		}
	}
}
