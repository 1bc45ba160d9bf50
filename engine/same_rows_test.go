package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// typedColumn is a column of the matrix: its type, its values in rows 1, 2, …, and the two of them
// that conditions name. After the values come two rows in which it is NULL.
type typedColumn struct{ name, sql, values, v, w string }

// alike are columns so near to others that every third condition is asked of them.
var alike = []string{"i8", "i16", "i24", "u8", "u32", "ts", "x", "vb"}

var typedColumns = []typedColumn{
	{"i8", "TINYINT", "-1; 0; 1; 2; 7", "1", "7"},
	{"i16", "SMALLINT", "-1; 0; 1; 2; 7", "1", "7"},
	{"i24", "MEDIUMINT", "-1; 0; 1; 2; 7", "1", "7"},
	{"i32", "INT", "-1; 0; 1; 2; 7", "1", "7"},
	{"i64", "BIGINT", "-9223372036854775808; 0; 1; 2; 9223372036854775807", "1", "9223372036854775807"},
	{"u8", "TINYINT UNSIGNED", "0; 1; 2; 255", "1", "255"},
	{"u32", "INT UNSIGNED", "0; 1; 2; 4294967295", "1", "4294967295"},
	{"u64", "BIGINT UNSIGNED", "0; 1; 2; 18446744073709551615", "1", "18446744073709551615"},
	{"n", "DECIMAL(10,2)", "-1.50; 0; 1; 2.5; 2.50; 20200101", "1.00", "2.5"},
	{"f", "FLOAT", "-1.5; 0; 1; 0.1; 2.5", "1", "2.5"},
	{"d", "DOUBLE", "-1.5; 0; 1; 0.1; 2.5; 1e300", "1", "2.5"},
	{"bi", "BIT(8)", "b'0'; b'1'; b'10'; b'1100001'", "b'1'", "b'1100001'"},
	{"y", "YEAR", "1999; 2020; 2021; 2069", "2020", "2021"},
	{"da", "DATE", "'1999-12-31'; '2020-01-01'; '2020-01-02'; '2021-01-01'", "'2020-01-01'", "'2020-01-02'"},
	{"dt", "DATETIME", "'1999-12-31 23:59:59'; '2020-01-01 00:00:00'; '2020-01-01 10:00:00'; '2020-01-02 00:00:00'", "'2020-01-01'", "'2020-01-01 10:00:00'"},
	{"d6", "DATETIME(6)", "'1999-12-31 23:59:59.5'; '2020-01-01 00:00:00'; '2020-01-01 10:00:00.000001'", "'2020-01-01 00:00:00'", "'2020-01-01 10:00:00.000001'"},
	{"ts", "TIMESTAMP", "'1999-12-31 23:59:59'; '2020-01-01 00:00:00'; '2020-01-01 10:00:00'; '2020-01-02 00:00:00'", "'2020-01-01'", "'2020-01-01 10:00:00'"},
	{"ti", "TIME", "'00:00:00'; '00:00:01'; '10:00:00'; '23:59:59'", "'10:00:00'", "'00:00:01'"},
	{"c", "CHAR(10)", "''; '1'; 'a'; 'A'; '2020-01-01'; 'ä'", "'a'", "'1'"},
	{"v", "VARCHAR(20)", "''; '1'; 'a'; 'A'; 'a '; '01'; '1x'; '2020-01-01'; '10:00:00'; 'ä'; 'NULL'", "'a'", "'1'"},
	{"x", "TEXT", "''; '1'; 'a'; 'A'; 'ab'; '2020-01-01'", "'a'", "'1'"},
	{"b3", "BINARY(3)", "''; '1'; 'a'; 'A'; 'ab'; X'FF0061'", "'a'", "X'610000'"},
	{"vb", "VARBINARY(12)", "''; '1'; 'a'; 'A'; 'ab'; X'FF0061'; '2020-01-01'", "'a'", "X'FF0061'"},
	{"bl", "BLOB", "''; '1'; 'a'; 'A'; 'ab'; X'FF0061'; '2020-01-01'", "'a'", "X'FF0061'"},
	{"e", "ENUM('b','a','1','A')", "'b'; 'a'; '1'; 'A'; 'b'", "'a'", "'1'"},
	{"s", "SET('b','a','1')", "''; 'a'; 'b,a'; '1'; 'b,a,1'", "'a'", "'b,a'"},
	{"j", "JSON", "'1'; '\"a\"'; '[1, 2]'; '{\"a\": 1}'; 'null'; '2.5'", "'1'", "'\"a\"'"},
	{"gc", "VARCHAR(20) COLLATE utf8mb4_general_ci", "''; '1'; 'a'; 'A'; 'a '; 'ab'; '2020-01-01'; 'ä'; 'Ä'", "'a'", "'1'"},
	{"lc", "CHAR(20) CHARACTER SET latin1", "''; '1'; 'a'; 'A'; 'ab'; '2020-01-01'; 'ä'; 'Ä'", "'A'", "'1'"},
	{"pb", "VARCHAR(20) COLLATE utf8mb4_bin", "''; '1'; 'a'; 'A'; 'a '; 'ab'; '2020-01-01'; 'ä'", "'a '", "'1'"},
	{"ec", "ENUM('b','a','1') COLLATE utf8mb4_general_ci", "'B'; 'a'; '1'; 'b'", "'A'", "'1'"},
	{"t", "BOOLEAN", "TRUE; FALSE; TRUE", "TRUE", "FALSE"},
}

// collated are the columns that are not by bytes.
var collated = []string{"gc", "lc", "pb", "ec"}

// conditions are asked of each column c, with two values V and W of it.
var conditions = strings.Split(strings.TrimSpace(`
c = V
c <> V
c < V
c <= W
c > V
c >= W
V = c
c <=> V
c <=> NULL
c = NULL
NOT c = V
c IN (V, W)
c IN (V, NULL)
c NOT IN (V, W)
c NOT IN (V, NULL)
c IN (1, 'a', NULL)
(c, id) = (V, 2)
(c, id) IN ((V, 2), (W, 3))
(c, id) IN ((V, 2), (W, NULL), (NULL, 1))
(c, id) NOT IN ((V, 2), (W, 3))
(c, id) NOT IN ((V, 2), (W, NULL))
(c, id) <=> (NULL, 99)
c BETWEEN V AND W
c NOT BETWEEN W AND V
c BETWEEN NULL AND V
c NOT BETWEEN NULL AND V
c IS NULL
c IS NOT NULL
c LIKE '%1%'
c NOT LIKE 'a_'
c LIKE 'A'
c LIKE V
c = 1
c <> 1
c < 2
c >= 1.5
c = 1e0
c = '1'
c = '1x'
c <> 'a'
c > 'A'
c = ''
c = '2020-01-01'
c > '2020-01-01 09:00:00'
c = '2020-1-1'
c < '10:00:01'
c = DATE '2020-01-01'
c > TIMESTAMP '2020-01-01 09:00:00'
c = TIME '10:00:00'
c = 20200101
c = X'61'
c = TRUE
c
NOT c
c IS TRUE
c IS NOT FALSE
c XOR TRUE
c OR id = 1
c AND id < 4
UPPER(c) = 'A'
LOWER(c) = 'a'
LENGTH(c) = 1
CHAR_LENGTH(c) > 1
c + 0 = 1
c + 0 > 1
c * 2 <= 2
-c < 0
c DIV 2 = 0
c % 2 = 1
CONCAT(c, 'x') = 'ax'
CONCAT(c, '') < 'a'
BINARY c = V
CAST(c AS CHAR) = '1'
CAST(c AS SIGNED) = 1
CAST(c AS DATE) = '2020-01-01'
CAST(c AS BINARY) = 'a'
COALESCE(c, V) = V
IFNULL(c, V) = W
NULLIF(c, V) IS NULL
IF(c = V, 1, 0) = 1
CASE c WHEN V THEN 1 WHEN W THEN 2 ELSE 0 END > 0
CASE WHEN c > V THEN 1 END IS NULL
GREATEST(c, V) = V
HEX(c) = '61'
LEFT(c, 1) = 'a'
SUBSTRING(c, 1, 4) = '2020'
TRIM(c) = 'a'
REPLACE(c, 'a', 'b') = 'b'
YEAR(c) = 2020
HOUR(c) = 10
ROUND(c) = 2
ABS(c) = 1
FIELD(c, V, W) = 2
FIND_IN_SET('a', c)
c REGEXP '^1'
MD5(c) = MD5('a')
c & 1
c | 0 = 1
`), "\n")

var words = regexp.MustCompile(`\b[cVW]\b`)

// otherwise are conditions that protected rows meet otherwise than MariaDB's: TIMESTAMP '…' is a
// text to the parser, b'1' is a text to MariaDB's rows of values, and years of two digits and the
// digits after a second are not what MySQL has.
var otherwise = regexp.MustCompile(`TIMESTAMP|^\(bi, id\)|^y < |^y >= 1.5|^YEAR\(y\)|^n = DATE|^d6 LIKE|^BINARY d6|^COALESCE\(d6`)

// copies is how many persons have each row in the protected table: an answer of few is NULL.
const copies = 20

// found is which rows a statement finds, or the error by which it is refused.
type found struct {
	rows string
	err  error
}

// ids are the first values of a query, sorted.
func (c *client) ids(query string) found {
	rows, err := c.try(query)
	var list []string
	for _, r := range rows {
		list = append(list, r[0])
	}
	slices.Sort(list)
	return found{strings.Join(list, " "), err}
}

func (c typedColumn) rows() int { return strings.Count(c.values, "; ") + 3 }

// define makes a table of the matrix, with each row once for each person.
func (c typedColumn) define(at *client, table string, persons int) {
	var rows []string
	for i, v := range append(strings.Split(c.values, "; "), "NULL", "NULL") {
		for p := range persons {
			rows = append(rows, fmt.Sprintf("(%d, %d, %s)", i+1, (i*persons+p)*(persons-1), v))
		}
	}
	at.exec("CREATE TABLE "+table+" (id INT, hit INT, "+c.name+" "+c.sql+")", "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
}

// TestAllStatementsFindTheSameRows asks which rows meet a condition, for every type of columns and
// a hundred conditions: by a SELECT, by one that sorts, by what an UPDATE and a DELETE touch, and
// by a private count without noise. All find the rows that the first one finds, or refuse by name;
// and the private count, which the store answers, those that MariaDB finds. A number beyond 64 bits
// is an error for public rows, and NULL for protected ones.
func TestAllStatementsFindTheSameRows(t *testing.T) {
	i := startWith(t, "", silence, byBytes)
	i.defects = true // go-mysql-server panics over the truth of a TIME and of JSON, and ROUND of some
	root, peer := i.root(), mariadb(t)
	root.exec("CREATE DATABASE m", "USE m", "CREATE TABLE all_ids (id INT)", "CALL dp_public('m.all_ids')",
		"INSERT INTO all_ids VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13)")
	peer.exec("CREATE DATABASE m", "USE m")
	i.analyst(root, "ann", "m")
	var refused, answered atomic.Int64
	t.Run("type", func(t *testing.T) {
		for _, c := range typedColumns {
			c.define(peer, "peer_"+c.name, 1)
			c.define(root, "open_"+c.name, 1)
			c.define(root, "shut_"+c.name, copies)
			shut := "'m.shut_" + c.name + "'"
			root.exec("CALL dp_public('m.open_"+c.name+"')", "CALL dp_protect("+shut+", 'hit', 'person')",
				"CALL dp_set_budget("+shut+", '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget("+shut+", 'default', 'rho=1000000', 1e-3, 'never')")
			of := map[string]string{}
			for k, template := range conditions {
				if slices.Contains(alike, c.name) && k%3 != len(c.name)%3 {
					continue
				}
				cond := words.ReplaceAllStringFunc(template, func(word string) string { return map[string]string{"c": c.name, "V": c.v, "W": c.w}[word] })
				of[cond] = peer.ids("SELECT id FROM peer_" + c.name + " WHERE " + cond).orError()
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				root, ann := i.root(), i.client("ann", "pw-ann")
				root.exec("USE m")
				ann.exec("USE m", "SET dp_rho = 1")
				root.t, ann.t = t, t
				for cond, real := range of {
					open := "open_" + c.name + " WHERE " + cond
					want := root.ids("SELECT id FROM " + open)
					check := func(kind string, got found) {
						if got.orError() != want.orError() {
							t.Errorf("%s: %s finds %q, %v, a SELECT %q, %v", cond, kind, got.rows, got.err, want.rows, want.err)
						}
					}
					check("SELECT with an order", root.ids("SELECT id FROM "+open+" ORDER BY id"))
					check("UPDATE", root.touched("UPDATE open_"+c.name+" SET hit = 1 WHERE "+cond, "SELECT id FROM open_"+c.name+" WHERE hit = 1"))
					check("DELETE", root.touched("DELETE FROM "+open, "SELECT id FROM all_ids WHERE id NOT IN (SELECT id FROM open_"+c.name+") AND id <= "+fmt.Sprint(c.rows())))
					rows, err := ann.try("SELECT COUNT(*) FROM shut_" + c.name + " WHERE " + cond)
					if err != nil {
						if !slices.Contains(collated, c.name) {
							refused.Add(1)
						}
						continue
					}
					answered.Add(1)
					count := func(rows string) string { return fmt.Sprint(copies * len(strings.Fields(rows))) }
					got := strings.Replace(rows[0][0], "NULL", "0", 1)
					if want.err == nil && got != count(want.rows) && !strings.Contains(cond, "64 * 2") || got != count(real) && real != "error" && !otherwise.MatchString(cond) {
						t.Errorf("%s: of protected rows %s, of public ones %q, of MariaDB's %q", cond, got, want.rows, real)
					}
				}
			})
		}
	})
	// Among those refused are 25 with a TIME, DATE or TIMESTAMP literal beside a value of another
	// type, for which the store has no exact form.
	if t.Logf("%d private counts, %d refused", answered.Load(), refused.Load()); 100*refused.Load() > 21*(answered.Load()+refused.Load()) {
		t.Errorf("%d private counts of %d are refused", refused.Load(), refused.Load()+answered.Load())
	}
}

func (f found) orError() string {
	if f.err != nil {
		return "error"
	}
	return f.rows
}

// touched runs a change, asks which rows it has touched, and takes it back.
func (c *client) touched(change, query string) (f found) {
	c.exec("BEGIN")
	defer c.exec("ROLLBACK")
	if _, err := c.try(change); err != nil {
		return found{err: err}
	}
	return c.ids(query)
}

// TestUpdatesStoreWhatSelectsShow checks what assignments store, of types that the store and
// go-mysql-server know by different means, and that a value which has no place is an error and
// changes nothing.
func TestUpdatesStoreWhatSelectsShow(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE d", "USE d", `CREATE TABLE k (id INT, b BLOB, vb VARBINARY(5), n BIGINT, u BIGINT UNSIGNED, e ENUM('z','a'), s SET('x','y'), v VARCHAR(9), c DECIMAL(38,0),
		t TIME(6), dt DATETIME, m MEDIUMINT, y YEAR, x DOUBLE)`, "CALL dp_public('d.k')",
		"INSERT INTO k VALUES (1, X'FF00', 'a', 9223372036854775807, 1, 'a', 'x,y', 'abc', 99999999999999999999999999999999999999, '10:00:00.25', '2020-01-01 10:00:00', 8388607, 2155, 1.5), (2, NULL, NULL, 1, 2, 'z', '', '', 1, NULL, NULL, 1, 2000, 2)")
	all := "SELECT id, HEX(b), vb, n, u, e, s, v, c, t, dt, m, y, x FROM k ORDER BY id"
	before := rowsText(root.query(all))
	for _, set := range []string{"b = b, vb = vb, n = n, u = u, e = e, s = s, v = v, c = c, t = t, dt = dt, m = m, y = y, x = x", "e = e + 0, s = s + 0", "n = NULLIF(n, 5)"} {
		root.exec("UPDATE k SET " + set)
		if after := rowsText(root.query(all)); after != before {
			t.Errorf("UPDATE k SET %s: %s, want %s", set, after, before)
		}
	}
	for _, set := range []string{"n = n + 1", "n = n * 2", "n = -n - 5", "u = u - 2", "c = c * 10", "m = m + 1", "y = y + 1", "e = e + 1", "e = 'q'", "dt = v", "n = v", "v = b", "v = REPEAT('ab', 5)", "id = id, m = m + 1"} {
		if rows, err := root.try("UPDATE k SET " + set); err == nil {
			t.Errorf("UPDATE k SET %s: %v", set, rows)
		}
		if after := rowsText(root.query(all)); after != before {
			t.Fatalf("UPDATE k SET %s: %s, want %s", set, after, before)
		}
	}
	for _, c := range []struct{ set, show, want string }{
		{"v = e", "v", "a;z"}, {"v = UPPER(e)", "v", "A;Z"}, {"v = x", "v", "1.5;2"}, {"b = v", "b", "1.5;2"}, {"id = id + 5, m = id", "m", "6;7"}, {"v = dt", "v", ""},
		{"s = 'y', e = 1", "CONCAT(s, e)", "yz;yz"}, {"x = x / 4 WHERE t", "x", "0.375;2"}, {"n = n - 1 WHERE BINARY vb = 'a'", "n", "9223372036854775806;1"},
	} {
		if _, err := root.try("UPDATE k SET " + c.set); (err != nil) != (c.want == "") {
			t.Errorf("UPDATE k SET %s: %v", c.set, err)
		} else if got := rowsText(root.query("SELECT " + c.show + " FROM k ORDER BY id")); err == nil && got != c.want {
			t.Errorf("UPDATE k SET %s: %s, want %s", c.set, got, c.want)
		}
	}
	for query, want := range map[string]string{"SELECT UPPER(e), COUNT(*) FROM k GROUP BY UPPER(e)": "Z,2", "SELECT id FROM k ORDER BY e + 0, n DESC": "6;7", "SELECT e + 0, s + 0 FROM k ORDER BY id": "1,2;1,2"} {
		if got := rowsText(root.query(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
