package engine

import (
	"strings"
	"testing"

	"scrim/test/fuzz"
)

// mixedTypes are statements on fuzz.Tables whose values are of several types, or of one that is
// read as another.
var mixedTypes = strings.Split(strings.TrimSpace(`
SELECT su, v FROM t1 GROUP BY su, v HAVING SUM(b) > 1.5
SELECT su FROM t1 GROUP BY su HAVING AVG(ti) > 0.51
SELECT DISTINCT HOUR(TIME '23:59:59'), MINUTE(TIME '10:12:00') FROM t1
SELECT DISTINCT CAST(0.001 AS CHAR), CONCAT(v, -0.5), CAST(f AS CHAR) FROM t1
SELECT id FROM t2 p WHERE p.b = (SELECT MIN(q.e) FROM t1 q)
SELECT JSON_VALID(e), JSON_ARRAY(s, i) FROM t2
SELECT 2.5e-3 % d4, i % 2.5e-3 FROM t1
SELECT DISTINCT i % 2.5e-3 FROM t1
SELECT BIT_XOR(w), BIT_OR(w), BIT_AND(w) FROM (SELECT COALESCE(su, ti) AS w, COUNT(*) FROM t1 GROUP BY w) v
SELECT y AS c0 FROM t1 UNION SELECT COALESCE(d3, 10.00) AS c0 FROM t2
SELECT HEX(COALESCE(bc, vb)), COALESCE(bc, vb), IF(i, bl, v) FROM t2
SELECT DISTINCT COALESCE(bc, vb) FROM t2
SELECT MAX(COALESCE(vb, bc)), da FROM t1 GROUP BY da
SELECT IF(ti, s, v), IFNULL(s, e), IF(i, e, s), NULLIF(s, v), CASE WHEN i THEN e WHEN ti THEN s ELSE v END FROM t1
SELECT id FROM t1 WHERE COALESCE(e, s)
SELECT CAST(e AS TIME), CAST(s AS DATE) FROM t1
SELECT JSON_EXTRACT(j, '$[0]'), JSON_EXTRACT(j, '$[0].a'), JSON_EXTRACT(j, '$.a[0].c') FROM t1
SELECT DISTINCT JSON_EXTRACT('{"a": 1, "b": [1, 2]}', '$[0]'), JSON_EXTRACT('3', '$[0][0]'), JSON_EXTRACT('3', '$[1]') FROM t1
SELECT JSON_CONTAINS_PATH(JSON_EXTRACT(j, '$[0]'), 'one', '$[0].a') FROM t1
SELECT JSON_MERGE_PATCH(j, '{"a": {"c": null}, "b": [1, 2, "x"]}'), JSON_MERGE_PATCH('{"a": 1}', j), JSON_MERGE_PATCH(NULL, j) FROM t1
SELECT SOUNDEX(e), SOUNDEX('é'), SOUNDEX(v), SOUNDEX('Tymczak, Pfister') FROM t1
SELECT DISTINCT COALESCE(f, 0.0), IFNULL(f, 0.5) FROM t1
SELECT COUNT(*) FROM (SELECT d6, v FROM t1 WHERE bt IN (SELECT q.i FROM t2 q)) w
SELECT id FROM t1 WHERE da = y
SELECT d6 > y, y >= da FROM t1
SELECT CAST(z AS CHAR(3)), CAST(UPPER(z) AS CHAR(2)), CAST(id AS CHAR(1)) FROM (SELECT CAST(bu AS CHAR) AS z, id FROM t1) v
SELECT FORMAT(x * 1e280, 2) FROM t1 WHERE x > 0
SELECT CAST(x AS SIGNED), CAST(x * 1e290 AS SIGNED) FROM t1
SELECT TIME('2020-01-01'), TIME(dt), TIME(tm), TIME(d6), TIME('ab') FROM t1
SELECT '' AS c0 FROM t2 UNION SELECT COALESCE(bc, vb) AS c0 FROM t2
SELECT e FROM t2 UNION ALL SELECT vb FROM t2
SELECT mu FROM t1 UNION SELECT f FROM t2
SELECT s FROM t1 UNION ALL SELECT e FROM t2
SELECT e FROM t1 UNION SELECT c FROM t1
SELECT COUNT(DISTINCT CONCAT(i, REPEAT('a', 70000))), COUNT(DISTINCT bl, vb), COUNT(DISTINCT e, s), COUNT(DISTINCT d6, tm, bt) FROM t1
SELECT COUNT(DISTINCT w, x), GROUP_CONCAT(DISTINCT w, x) FROM (SELECT 'a,' AS w, 'b' AS x UNION ALL SELECT 'a', ',b') v
SELECT id / mi FROM t1 UNION SELECT DATE '2020-02-29' FROM t1
SELECT b / d1 FROM t1 UNION SELECT x FROM t1
SELECT COALESCE(b, 0.0) FROM t1 UNION ALL SELECT dt FROM t1
SELECT d6 FROM t1 UNION SELECT tm + 0 FROM t1
SELECT su FROM t1 UNION SELECT bu + 0 FROM t1
SELECT MOD(65536 / si, POW(0.001, 2)), COALESCE(x, i / si), COALESCE(bt, EXP(10)), CAST(i / -2.25 AS DOUBLE), (-1 / y) * v, IF(i, 2.5e-3, tu / y) FROM t1
SELECT c, VAR_SAMP(65536 / si) FROM t2 GROUP BY c
SELECT SUM(i / si), AVG(i / si), SUM(1 / id) FROM t1
SELECT b, AVG(GREATEST(d2, f)) FROM t1 GROUP BY b
SELECT id, COALESCE(bu, bt), COALESCE(iu, bt, bu), GREATEST(bt, bu), LEAST(b, bu, bt) FROM t2
SELECT p.d3 * p.e, p.s * p.d3, p.e + 0.5, p.i * p.s FROM t2 p JOIN t2 q ON p.id = q.id
SELECT CONCAT(id, 'E999') + 0, CONCAT('-1', 'E999') + 0 FROM t1 WHERE CONCAT(id, 'E999')
SELECT COALESCE(p.bu, q.bt) FROM t2 p JOIN t2 q ON p.id = q.id
SELECT id FROM t2 WHERE CAST(d6 AS DATETIME) = bu
SELECT v.* FROM (SELECT id AS z, id + 2 AS w FROM t1) v
SELECT z FROM (SELECT * FROM (SELECT id AS z, id + 2 AS w FROM t1) u) v
SELECT DISTINCT dt - INTERVAL 10 MONTH FROM t2
SELECT y = DATE '2020-02-29', y IN (DATE '2020-02-29', DATE '2021-02-28'), 7 * y FROM t1
SELECT tx FROM t1 GROUP BY tx HAVING MAX(y) <= 1
SELECT da FROM t1 UNION SELECT DATE '2020-02-29' AS c0 FROM t1
SELECT y << 10 + '-1.5' FROM t1
SELECT TIME(d6), CONCAT(TIME(d6)), MAKETIME(1, 2, 3.50), SEC_TO_TIME(d1), ADDTIME(tm, '00:00:01.5'), TIMEDIFF(tm, SUBTIME('00:00:01', tm)), STR_TO_DATE('1:2:3.5', '%H:%i:%s.%f') FROM t1
SELECT COALESCE(TIME(d6), tm), IF(i, tm, TIME(d6)), CASE WHEN i THEN TIME(d6) ELSE tm END, GREATEST(TIME(d6), tm), DATE_ADD(tm, INTERVAL 1 MICROSECOND), TIMESTAMP(da, TIME '10:00:00.5') FROM t1
SELECT TIME(d6) AS c0 FROM t1 UNION SELECT tm FROM t1
SELECT SUM(TIME(d6)), SUM(d6), AVG(d6), AVG(da), SUM(DISTINCT da), MAX(TIME(d6)) FROM t1
SELECT id, TIME(d6) = CAST(d6 AS TIME(6)), TIME(d6) < tm, TIME(d6) IN (tm, TIME '10:00:00'), d6 < TIME '23:59:59', tm AND 1, NOT tm, IF(tm, 1, 0), CASE WHEN tm THEN 1 END FROM t1
SELECT p.id, q.id AS k FROM t1 p LEFT JOIN t2 q ON q.tm WHERE p.tm OR TIME(p.d6)
SELECT id FROM t1 WHERE FROM_UNIXTIME(su) AND UUID() IS NOT NULL
SELECT MD5('ab') + 0, '187ef' * 1, CONCAT('1', 'e') - 0, 0 + CONCAT_WS(c, v, bc), d2 IN (SELECT MD5('ab')), CAST(CONCAT(c, v) AS DATE) FROM t1
SELECT p.id, q.id AS k, q.e < p.e, q.s < p.s FROM t1 p, t1 q WHERE UUID() IS NOT NULL
SELECT IFNULL(e, NULL) + 0, COALESCE(s, s) * 1 FROM t2
SELECT CONCAT('A', q.f), CONCAT(q.s, q.d6), UPPER(COALESCE(q.d6, q.dt)), SOUNDEX(CASE WHEN q.i THEN q.v ELSE q.vb END) FROM t1 p LEFT JOIN t1 q ON p.c
SELECT DISTINCT CONCAT(s, d6) FROM t2
SELECT HEX(bu), HEX(x), HEX(f), HEX(d4), HEX(d3), BIT_COUNT(bu), bu IN (SELECT i FROM t2), b IN (SELECT ti FROM t2) FROM t2
SELECT tm, BIT_XOR(CEILING(x)), BIT_OR(f) FROM t2 GROUP BY tm
SELECT id FROM t1 WHERE CRC32(s) NOT IN (SELECT DAYOFWEEK(da) FROM t1)
SELECT id FROM t2 WHERE CONV(bu, 10, 16) IN (SELECT CONV(q.bu, 10, 16) FROM t1 q) ORDER BY id
SELECT id FROM t2 WHERE CRC32(bu) = (SELECT CRC32(q.bu) FROM t1 q WHERE q.id = 1) ORDER BY id
SELECT e NOT IN (SELECT q.v FROM t2 q WHERE q.v IS NOT NULL) AS k, GROUP_CONCAT(id ORDER BY id) FROM t1 GROUP BY k
SELECT GROUP_CONCAT((SELECT MAX(q.id) FROM t2 q WHERE q.id <= t1.id) ORDER BY id), GROUP_CONCAT(DISTINCT v ORDER BY v) FROM t1
SELECT id FROM t1 WHERE DATE_ADD('2021-12-31 23:59:59', INTERVAL 2 YEAR) > tx
SELECT JSON_REMOVE(JSON_ARRAY(1.5, d6), '$.a'), JSON_SET(JSON_ARRAY(1.5), '$[1]', 2) FROM t1
SELECT TRUNCATE(0.001, 7), ROUND(10.00, 10), ROUND(d1 / 3, 7) FROM t1 UNION SELECT da, e, v FROM t1
SELECT SIGN(x) FROM t1 UNION SELECT 1 UNION SELECT 5000000000
SELECT DISTINCT SIGN(x) FROM t1 UNION SELECT 1 FROM t1 GROUP BY ti
SELECT TIME '10:00:00' + 0 FROM t2 UNION SELECT 2.5e-3 FROM t2
SELECT tm + 0 FROM t2 UNION ALL SELECT x FROM t2
SELECT d6 + 0, -da, dt / 2 FROM t1 UNION ALL SELECT 1, 2.5e-3, 3 FROM t1
SELECT da FROM t1 UNION ALL SELECT dt FROM t1 UNION ALL SELECT 'x'
SELECT 1 UNION ALL SELECT 1.5 UNION ALL SELECT 'x'
SELECT i FROM t1 UNION ALL (SELECT v FROM t1 UNION SELECT d1 FROM t1)
SELECT 1 / 3 UNION ALL SELECT 'abc'
SELECT tu / b FROM t1 UNION ALL SELECT FROM_DAYS(TO_DAYS(dt)) FROM t1
SELECT MOD(bu, d1) FROM t1 UNION ALL SELECT da FROM t1
SELECT d3 - d6, d1 - d6, -d1 * 0 FROM t2 UNION ALL SELECT dt, da, dt FROM t2
SELECT bt FROM t1 UNION ALL SELECT tx FROM t2
SELECT bt FROM t1 UNION ALL SELECT UPPER(v) FROM t1
SELECT bt FROM t1 UNION ALL SELECT c FROM t1
SELECT tu, d1, da, bc FROM t1 UNION ALL SELECT bc, bc, bc, i FROM t1
SELECT CASE WHEN ti THEN c ELSE x END FROM t1 UNION ALL SELECT bc FROM t1
SELECT tm FROM t1 UNION SELECT vb FROM t1
SELECT y FROM t1 UNION ALL SELECT f FROM t1
SELECT COALESCE(f, ti), IFNULL(f, 1), IF(i, f, si) FROM t1
SELECT su FROM t2 UNION ALL SELECT COALESCE(f, 100) FROM t1
SELECT i FROM t1 UNION ALL SELECT iu FROM t1
SELECT DISTINCT HEX(bu) FROM t2
SELECT id FROM t1 WHERE '12' IN (v, tm)
SELECT JSON_ARRAY(LOG10(i), LN(i), LOG(id), LOG2(1.5)), CONCAT_WS(',', ATAN(d2), SIN(d2), COS(x), TAN(x), ASIN(d2), ACOS(0.1), EXP(d1), POW(id, 3.3)) FROM t1
SELECT HEX(f * 1e9), CONCAT(n), UPPER(n), n, n LIKE '%1', CAST(n AS CHAR(4)) FROM (SELECT f, CAST(f * 1234567 AS FLOAT) AS n FROM t1) q
SELECT CAST(f AS CHAR), CONCAT(f), LENGTH(f), MAX(f), GROUP_CONCAT(f) FROM t2 GROUP BY f
SELECT f FROM t2 WHERE CONCAT(f) LIKE '%e%' OR f = CAST(f AS CHAR)`), "\n")

// mixedOrders are such statements with an order.
var mixedOrders = strings.Split(strings.TrimSpace(`
SELECT DISTINCT id + 1, ABS(i) AS w FROM t1 ORDER BY 1 DESC
SELECT DISTINCT UPPER(v), ABS(i) FROM t1 ORDER BY 2, 1
SELECT z FROM (SELECT DISTINCT HEX(bu) AS z FROM t2 ORDER BY 1 LIMIT 3) q ORDER BY 1
SELECT 1 UNION SELECT id FROM t1 ORDER BY 1 DESC
SELECT NULL UNION SELECT id FROM t1 ORDER BY 1 DESC
SELECT 2, 2 UNION SELECT id, i FROM t1 ORDER BY 2 DESC, 1
SELECT 1, 'a' UNION SELECT id, v FROM t1 ORDER BY 2 DESC, 1 LIMIT 3
SELECT s FROM t1 UNION ALL SELECT s FROM t1 ORDER BY 1
SELECT e FROM t1 UNION SELECT e FROM t2 ORDER BY 1 DESC
SELECT NULL UNION ALL SELECT e FROM t1 ORDER BY 1
SELECT NULL UNION ALL SELECT e FROM t1 UNION ALL SELECT s FROM t1 ORDER BY 1`), "\n")

// TestMixedTypes: their values and types are MySQL's, where MariaDB has the same.
func TestMixedTypes(t *testing.T) {
	i := startWith(t, "", silence, byBytes)
	root, peer := i.root(), mariadb(t)
	root.exec("CREATE DATABASE f", "USE f")
	peer.exec("CREATE DATABASE f", "USE f", mysqlMode, soundNulls)
	for _, c := range []*client{root, peer} {
		c.exec(fuzz.Tables()...)
	}
	root.exec("CALL dp_public('f.t1')", "CALL dp_public('f.t2')")
	f := &fuzzer{peer: peer, ours: root, within: 1e-12}
	for k, q := range append(mixedTypes, mixedOrders...) {
		want, err := peer.answer(q)
		if err != nil {
			t.Fatal(q, err)
		}
		got, err := root.answer(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
		} else if class := f.differ(got, want, k >= len(mixedTypes)); class != "" {
			t.Errorf("%s: %s\ngot  %s\nwant %s", q, class, shown(got, nil), shown(want, nil))
		}
	}
	for q, want := range map[string]string{ // MariaDB has others
		"SELECT GROUP_CONCAT(c0) FROM (SELECT bt AS c0 FROM t2 WHERE id = 3 UNION ALL SELECT x FROM t1 WHERE id = 6) v":                                                            "97,-2.5",
		"SELECT GROUP_CONCAT(c0) FROM (SELECT bt AS c0 FROM t1 WHERE id = 4 UNION ALL SELECT mu FROM t1 WHERE id = 6) v":                                                           "97,100000",
		"SELECT c0 FROM (SELECT f AS c0 FROM t1 WHERE id = 5 UNION ALL SELECT v FROM t1 WHERE id = 100) v":                                                                         "0.1",
		"SELECT GROUP_CONCAT(c0 ORDER BY c0) FROM (SELECT -1.5 * 0 AS c0 UNION ALL SELECT 1.5 * 0 UNION ALL SELECT 1.5 + -1.5 UNION ALL SELECT 0.0 + 0.00 UNION ALL SELECT 'a') v": "0,0,0.0,0.00,a", // decimal_mul; MariaDB has it by its version
		"SELECT GROUP_CONCAT(tm < s, tm < v) FROM t1 WHERE id = 1":                                                                                                                 "11",             // as texts
		"SELECT COUNT(*) FROM t1 WHERE tm = '10:00:00'":                                                                                                                            "5",
		"SELECT COUNT(*) FROM t1 WHERE tm = CONCAT('10:', '00:00')":                                                                                                                "5",
	} {
		if got := root.value(q); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
	for cond, message := range map[string]string{
		"da > 'x'": "Incorrect DATE value: 'x'", "dt = '1.5x'": "Incorrect DATETIME value: '1.5x'", "d6 IN ('2020-01-01', ',')": "Incorrect DATETIME value: ','", "',' <=> da": "Incorrect DATE value: ','",
	} {
		if _, err := root.try("SELECT id FROM t1 WHERE " + cond); errno(err) != 1525 || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", cond, err)
		}
	}
}
