package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"scrim/test/stattest"
)

// shopOfMoments fills k.calls, of 60 persons with five rows each over two years, and the public
// tables k.films, k.nations and k.regions.
func shopOfMoments(t *testing.T, root *client) {
	t.Helper()
	root.exec("CREATE DATABASE k",
		"CREATE TABLE k.calls (person INT NOT NULL, at DATETIME NOT NULL, seen DATETIME, day DATE NOT NULL, stamp INT NOT NULL, film INT NOT NULL, nation INT NOT NULL, kind VARCHAR(9), paid BOOLEAN, price DECIMAL(6,2) NOT NULL, size ENUM('s','m','l'))",
		"CREATE TABLE k.films (id INT PRIMARY KEY, title VARCHAR(20), genre VARCHAR(9))",
		"CREATE TABLE k.nations (id INT PRIMARY KEY, name VARCHAR(9), region INT)",
		"CREATE TABLE k.regions (id INT PRIMARY KEY, name VARCHAR(9))")
	var films, nations, rows []string
	for i := range 40 {
		films = append(films, fmt.Sprintf("(%d,'film %d','%s')", i, i, []string{"war", "love", "space"}[i%3]))
	}
	for i := range 10 {
		nations = append(nations, fmt.Sprintf("(%d,'nation %d',%d)", i, i, i%3))
	}
	root.exec("INSERT INTO k.films VALUES "+strings.Join(films, ","), "INSERT INTO k.nations VALUES "+strings.Join(nations, ","), "INSERT INTO k.regions VALUES (0,'ASIA'),(1,'EUROPE'),(2,'AFRICA')")
	for p := range 60 {
		for i := range 5 {
			n := p*5 + i
			at := fmt.Sprintf("'20%02d-%02d-%02d %02d:%02d:%02d'", 19+n%2, 1+n%12, 1+n%28, n%24, n*7%60, n*11%60)
			seen := at
			if n%9 == 0 {
				seen = "NULL"
			}
			rows = append(rows, fmt.Sprintf("(%d,%s,%s,DATE(%s),UNIX_TIMESTAMP(%s),%d,%d,'%s',%d,%d.25,'%s')", p, at, seen, at, at, n%40, n%10, []string{"a", "b", "c"}[n%3], n%2, n%40, []string{"s", "m", "l"}[n%3]))
		}
	}
	root.exec("INSERT INTO k.calls VALUES "+strings.Join(rows, ","),
		"CALL dp_protect('k.calls', 'person', 'person')", "CALL dp_set_budget('k.calls', '*', 100000, 0.01, 'never')",
		"CALL dp_public('k.films')", "CALL dp_public('k.nations')", "CALL dp_public('k.regions')")
}

// Keys whose values are public are all answered, on a table where selection would show none.
func TestPublicKeys(t *testing.T) {
	i := start(t, "")
	root := i.root()
	shopOfMoments(t, root)
	root.exec(`CALL dp_set_domain('k.calls', 'at', '{"min":"2019-01-01","max":"2020-12-31"}')`, `CALL dp_set_domain('k.calls', 'price', '{"min":0,"max":100}')`)
	ann := i.analyst(root, "ann", "k")
	ann.exec("USE k", "SET dp_epsilon = 1")
	root.exec("USE k", "SET dp_raw = ON")
	for _, c := range []struct {
		query string
		keys  int
	}{
		// Nothing declared, and what may be NULL has a key for it.
		{"SELECT HOUR(seen), COUNT(*) FROM calls GROUP BY 1", 25},
		{"SELECT HOUR(seen), COUNT(*) FROM calls WHERE seen IS NOT NULL GROUP BY 1", 24},
		{"SELECT HOUR(seen), COUNT(*) FROM calls WHERE HOUR(seen) < 12 GROUP BY 1", 12},
		{"SELECT WEEKDAY(seen), COUNT(*) FROM calls WHERE seen > '2001-01-01' GROUP BY 1", 7},
		{"SELECT DAYNAME(FROM_UNIXTIME(stamp)), COUNT(*) FROM calls GROUP BY 1", 8},
		{"SELECT WEEKDAY(FROM_UNIXTIME(stamp)), COUNT(*) FROM calls WHERE WEEKDAY(FROM_UNIXTIME(stamp)) < 5 GROUP BY 1", 5},
		{"SELECT MONTH(day), COUNT(*) FROM calls GROUP BY 1", 12},
		{"SELECT MONTHNAME(day), COUNT(*) FROM calls GROUP BY 1", 12},
		{"SELECT QUARTER(day), COUNT(*) FROM calls GROUP BY 1", 4},
		{"SELECT DAYOFMONTH(day), COUNT(*) FROM calls GROUP BY 1", 31},
		{"SELECT DAYOFYEAR(day), COUNT(*) FROM calls GROUP BY 1", 366},
		{"SELECT WEEK(day, 0), COUNT(*) FROM calls GROUP BY 1", 54},
		{"SELECT WEEK(day, 3), COUNT(*) FROM calls GROUP BY 1", 53},
		{"SELECT MONTH(day), DAY(day), COUNT(*) FROM calls GROUP BY 1, 2", 366},
		{"SELECT EXTRACT(HOUR_MINUTE FROM seen), COUNT(*) FROM calls WHERE seen IS NOT NULL GROUP BY 1", 1440},
		{"SELECT DATE_FORMAT(day, '%m-%d'), COUNT(*) FROM calls GROUP BY 1", 366},
		{"SELECT h, COUNT(*) FROM (SELECT HOUR(seen) AS h FROM calls WHERE seen IS NOT NULL) AS x GROUP BY h", 24},
		{"SELECT kind LIKE 'a%', COUNT(*) FROM calls GROUP BY 1", 3},
		{"SELECT kind IS NULL, COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT film > 10, COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT film IN (1, 2, 3), COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT CASE WHEN film < 10 THEN 'few' WHEN film < 20 THEN 'some' ELSE 'many' END, COUNT(*) FROM calls GROUP BY 1", 3},
		{"SELECT CASE film WHEN 1 THEN 'one' WHEN 2 THEN 'two' WHEN 3 THEN 'three' WHEN 4 THEN 'four' WHEN 5 THEN 'five' WHEN 6 THEN 'six' WHEN 7 THEN 'seven' END, COUNT(*) FROM calls GROUP BY 1", 8},
		{"SELECT IF(film > 3, 'x', 'y'), COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT COALESCE(kind = 'a', FALSE), COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT paid = 1, COUNT(*) FROM calls GROUP BY 1", 3},
		{"SELECT size, COUNT(*) FROM calls GROUP BY 1", 4},
		{"SELECT paid, COUNT(*) FROM calls GROUP BY 1", 3},
		{"SELECT paid, COUNT(*) FROM (SELECT DISTINCT person, paid FROM calls WHERE paid IS NOT NULL) AS x GROUP BY 1", 2},
		// Of an aggregate of a person's rows.
		{"SELECT t > 80, COUNT(*) FROM (SELECT person, SUM(price) AS t FROM calls GROUP BY person) AS x GROUP BY 1", 2},
		{"SELECT DP_BUCKET(t, 0, 400, 4), COUNT(*) FROM (SELECT person, AVG(price) AS t FROM calls GROUP BY person) AS x GROUP BY 1", 5},
		{"SELECT MONTH(t), COUNT(*) FROM (SELECT person, MAX(day) AS t FROM calls GROUP BY person) AS x GROUP BY 1", 13},
		{"SELECT n, COUNT(*) FROM (SELECT person, COUNT(DISTINCT film) AS n FROM calls GROUP BY person) AS x WHERE n BETWEEN 3 AND 6 GROUP BY 1", 4},
		{"SELECT t, COUNT(*) FROM (SELECT person, MAX(day) AS t FROM calls GROUP BY person) AS x WHERE t BETWEEN '2020-12-01' AND '2020-12-10' GROUP BY 1", 10},
		{"SELECT n, COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM calls GROUP BY person HAVING n > 2) AS x WHERE n IN (3, 5) GROUP BY 1", 2},
		{"SELECT IF(n < 5, 'few', 'many'), COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM calls GROUP BY person) AS x GROUP BY 1", 2},
		{"SELECT kind, COUNT(*) FROM calls WHERE kind IN ('a', 'b') GROUP BY 1", 2},
		{"SELECT film, COUNT(*) FROM calls WHERE film BETWEEN 5 AND 9 GROUP BY 1", 5},
		{"SELECT film DIV 10, COUNT(*) FROM calls WHERE film BETWEEN 0 AND 39 GROUP BY 1", 4},
		{"SELECT day, COUNT(*) FROM calls WHERE day >= '2019-03-01' AND day < '2019-04-01' GROUP BY 1", 31},
		{"SELECT DATE(seen), COUNT(*) FROM calls WHERE seen >= '2019-03-01' AND seen < '2019-04-01' GROUP BY 1", 31},
		{"SELECT DATE_FORMAT(seen, '%Y-%m'), COUNT(*) FROM calls WHERE YEAR(seen) = 2019 GROUP BY 1", 12},
		{"SELECT UNIX_TIMESTAMP(seen) DIV 3600 * 3600, COUNT(*) FROM calls WHERE seen BETWEEN FROM_UNIXTIME(1546300800) AND FROM_UNIXTIME(1546387199) GROUP BY 1", 24},
		{"SELECT YEAR(FROM_UNIXTIME(stamp)), COUNT(*) FROM calls WHERE stamp BETWEEN 1546300800 AND 1609459199 GROUP BY 1", 2},
		{"SELECT FLOOR(price / 10), COUNT(*) FROM calls WHERE price BETWEEN 0 AND 39 GROUP BY 1", 4},
		// A declared range.
		{"SELECT FLOOR(price), COUNT(*) FROM calls GROUP BY 1", 101},
		{"SELECT ROUND(price / 10), COUNT(*) FROM calls GROUP BY 1", 11},
		{"SELECT CEIL(price / 10) * 10, COUNT(*) FROM calls WHERE price < 25 AND price > 10 GROUP BY 1", 3},
		{"SELECT FLOOR(price / 10), COUNT(*) FROM calls WHERE FLOOR(price / 10) IN (1, 2) GROUP BY 1", 2},
		{"SELECT YEAR(at), COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT DATE(at), COUNT(*) FROM calls GROUP BY 1", 731},
		{"SELECT CAST(at AS DATE), COUNT(*) FROM calls WHERE at < '2019-02-01 00:00:00' GROUP BY 1", 31},
		{"SELECT DATE(at), COUNT(*) FROM calls WHERE YEAR(at) = 2019 GROUP BY 1", 365},
		{"SELECT LAST_DAY(at), COUNT(*) FROM calls GROUP BY 1", 24},
		{"SELECT YEARWEEK(at, 3), COUNT(*) FROM calls GROUP BY 1", 105},
		{"SELECT EXTRACT(YEAR_MONTH FROM at), COUNT(*) FROM calls GROUP BY 1", 24},
		{"SELECT YEAR(at), MONTH(at), COUNT(*) FROM calls WHERE at < '2020-03-01' GROUP BY 1, 2", 14},
		{"SELECT YEAR(at), HOUR(at), COUNT(*) FROM calls GROUP BY 1, 2", 48},
		{"SELECT DATE(DATE_SUB(at, INTERVAL DAYOFWEEK(at)-1 DAY)), COUNT(*) FROM calls GROUP BY 1", 105},
		{"SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(at, '%Y-%m'), '-01'), '%Y-%m-%d'), COUNT(*) FROM calls GROUP BY 1", 24},
		{"SELECT MAKEDATE(YEAR(at), 1) + INTERVAL QUARTER(at) QUARTER - INTERVAL 1 QUARTER, COUNT(*) FROM calls GROUP BY 1", 8},
		{"SELECT CAST(DATE_FORMAT(at, '%Y-%m-01') AS DATETIME), COUNT(*) FROM calls GROUP BY 1", 24},
		{"SELECT DATE_ADD(DATE(at), INTERVAL HOUR(at) HOUR), COUNT(*) FROM calls GROUP BY 1", 17544},
		{"SELECT DATE(CONVERT_TZ(at, 'UTC', 'Europe/Berlin')), COUNT(*) FROM calls GROUP BY 1", 732},
		{"SELECT FROM_UNIXTIME(UNIX_TIMESTAMP(at) - UNIX_TIMESTAMP(at) % 86400), COUNT(*) FROM calls GROUP BY 1", 731},
		// As BI tools write them: Superset, Metabase, Cube, Grafana, Tableau.
		{"SELECT DATE_ADD(DATE(at), INTERVAL (HOUR(at)*60 + MINUTE(at)) MINUTE), COUNT(*) FROM calls WHERE at >= '2019-03-01' AND at < '2019-03-02' GROUP BY 1", 1440},
		{"SELECT DATE(DATE_SUB(at, INTERVAL DAYOFMONTH(at) - 1 DAY)), COUNT(*) FROM calls GROUP BY 1", 24},
		{"SELECT DATE(DATE_SUB(at, INTERVAL DAYOFYEAR(at) - 1 DAY)), COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT DATE(DATE_SUB(at, INTERVAL DAYOFWEEK(DATE_SUB(at, INTERVAL 1 DAY)) - 1 DAY)), COUNT(*) FROM calls GROUP BY 1", 105},
		{"SELECT STR_TO_DATE(DATE_FORMAT(at, '%Y-%m-%d %H:%i'), '%Y-%m-%d %H:%i'), COUNT(*) FROM calls WHERE DATE(at) = '2019-03-01' GROUP BY 1", 1440},
		{"SELECT STR_TO_DATE(CONCAT(YEARWEEK(at), ' Sunday'), '%X%V %W'), COUNT(*) FROM calls GROUP BY 1", 105},
		{"SELECT STR_TO_DATE(CONCAT(YEAR(at), '-', ((QUARTER(at) * 3) - 2), '-01'), '%Y-%m-%d'), COUNT(*) FROM calls GROUP BY 1", 8},
		{"SELECT MAKEDATE(YEAR(at), 1), COUNT(*) FROM calls GROUP BY 1", 2},
		{"SELECT FLOOR(((price - 0.0) / 12.5)) * 12.5 + 0.0, COUNT(*) FROM calls WHERE price < 50 GROUP BY 1", 5},
		{"SELECT CAST(DATE_FORMAT(CONVERT_TZ(at, @@session.time_zone, '+00:00'), '%Y-%m-%dT00:00:00.000') AS DATETIME), COUNT(*) FROM calls GROUP BY 1", 731},
		{"SELECT CAST(DATE_FORMAT(DATE_ADD('1900-01-01', INTERVAL TIMESTAMPDIFF(WEEK, '1900-01-01', at) WEEK), '%Y-%m-%dT00:00:00.000') AS DATETIME), COUNT(*) FROM calls GROUP BY 1", 105},
		{"SELECT CAST(DATE_FORMAT(DATE_ADD('1900-01-01', INTERVAL TIMESTAMPDIFF(QUARTER, '1900-01-01', at) QUARTER), '%Y-%m-%dT00:00:00.000') AS DATETIME), COUNT(*) FROM calls GROUP BY 1", 8},
		{"SELECT UNIX_TIMESTAMP(at) DIV 300 * 300, COUNT(*) FROM calls WHERE at BETWEEN FROM_UNIXTIME(1551398400) AND FROM_UNIXTIME(1551484799) GROUP BY 1", 288},
		{"SELECT CAST(UNIX_TIMESTAMP(at)/300 AS SIGNED)*300 AS time, COUNT(*) FROM calls WHERE at BETWEEN FROM_UNIXTIME(1551398400) AND FROM_UNIXTIME(1551484799) GROUP BY 1", 289},
		{"SELECT CAST(UNIX_TIMESTAMP(at)/3600 AS SIGNED)*3600 AS time, COUNT(*) FROM calls WHERE at BETWEEN FROM_UNIXTIME(1551398400) AND FROM_UNIXTIME(1552003199) GROUP BY 1", 169},
		{"SELECT CAST(UNIX_TIMESTAMP(at)/7 AS SIGNED)*7 AS time, COUNT(*) FROM calls WHERE at BETWEEN FROM_UNIXTIME(1551398400) AND FROM_UNIXTIME(1551401999) GROUP BY 1", 515},
		{"SELECT ADDDATE(CONCAT(DATE_FORMAT(at, '%Y-'), (3*(QUARTER(at)-1)+1), '-01 00:00:00'), INTERVAL 0 SECOND), COUNT(*) FROM calls GROUP BY 1", 8},
		{"SELECT ADDDATE(DATE_FORMAT(at, '%Y-%m-01 00:00:00'), INTERVAL 0 SECOND), COUNT(*) FROM calls GROUP BY 1", 24},
		{"SELECT YEAR(at) * 100 + MONTH(at), COUNT(*) FROM calls GROUP BY 1", 24},
		// Public tables.
		{"SELECT f.title, COUNT(*) FROM calls c JOIN films f ON c.film = f.id GROUP BY 1", 40},
		{"SELECT f.title, COUNT(*) FROM calls c JOIN films f ON c.film = f.id WHERE f.id IN (3, 5, 39, 77) GROUP BY 1", 3},
		{"SELECT f.title, COUNT(*) FROM calls c JOIN films f ON c.film = f.id WHERE c.film IN (3, 5) GROUP BY 1", 2},
		{"SELECT f.title, COUNT(*) FROM calls c JOIN films f ON c.film = f.id WHERE f.genre = 'war' GROUP BY 1", 14},
		{"SELECT c.film, COUNT(*) FROM calls c JOIN films f ON c.film = f.id WHERE f.genre = 'war' GROUP BY 1", 14},
		{"SELECT f.genre, f.title, COUNT(*) FROM calls c JOIN films f ON c.film = f.id GROUP BY 1, 2", 40},
		{"SELECT f.title, COUNT(*) FROM calls c JOIN films f ON c.film = f.id WHERE f.id = 77 GROUP BY 1", 0},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id JOIN regions r ON n.region = r.id WHERE r.name = 'ASIA' GROUP BY 1", 4},
		{"SELECT f.title, COUNT(*) FROM calls c LEFT JOIN films f ON c.film = f.id GROUP BY 1", 41},
		{"SELECT f.title, n.name, COUNT(*) FROM calls c JOIN films f ON c.film = f.id JOIN nations n ON c.nation = n.id WHERE f.title = 'film 3' AND n.name = 'nation 1' OR f.title = 'film 5' AND n.name = 'nation 2' GROUP BY 1, 2", 2},
		{"SELECT f.genre, WEEKDAY(c.day), COUNT(*) FROM calls c JOIN films f ON c.film = f.id GROUP BY 1, 2", 21},
		{"SELECT n.name, COUNT(*) FROM calls c, nations n, regions r WHERE c.nation = n.id AND n.region = r.id AND r.name IN ('ASIA', 'AFRICA') GROUP BY 1", 7},
		{"SELECT c.nation, COUNT(*) FROM calls c, nations n, regions r WHERE c.nation = n.id AND n.region = r.id AND r.name LIKE 'A%' GROUP BY 1", 7},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id WHERE n.region = 1 GROUP BY 1", 3},
		// Expressions whose values a condition lists.
		{"SELECT SUBSTRING(kind, 1, 1), COUNT(*) FROM calls WHERE SUBSTRING(kind, 1, 1) IN ('a', 'z') GROUP BY 1", 2},
		{"SELECT c, COUNT(*) FROM (SELECT SUBSTRING(kind, 1, 1) AS c FROM calls WHERE SUBSTRING(kind, 1, 1) IN ('a', 'z') AND price > 3) d GROUP BY c", 2},
		{"SELECT c, COUNT(*) FROM (SELECT SUBSTRING(kind, 1, 1) AS c FROM calls) d WHERE c IN ('a', 'b', 'c') AND c <> 'b' GROUP BY c", 2},
		{"SELECT LEFT(kind, 1), COUNT(*) FROM calls WHERE LEFT(kind, 1) = 'a' OR 'b' = LEFT(kind, 1) OR LEFT(kind, 1) IN ('c', 'a') GROUP BY 1", 3},
		{"SELECT CONCAT(UPPER(SUBSTRING(kind, 1, 1)), '!') COLLATE utf8mb4_0900_bin, COUNT(*) FROM calls WHERE SUBSTRING(kind, 1, 1) COLLATE utf8mb4_0900_bin IN ('a', 'z', NULL) GROUP BY 1", 2},
		{"SELECT nation % 5, COUNT(*) FROM calls WHERE nation % 5 IN (1, 2) GROUP BY 1", 2},
		{"SELECT YEAR(seen), COUNT(*) FROM calls WHERE YEAR(seen) = 2019 OR YEAR(seen) = 2020 GROUP BY 1", 2},
		{"SELECT DATE(FROM_UNIXTIME(stamp)), COUNT(*) FROM calls WHERE DATE(FROM_UNIXTIME(stamp)) IN ('2019-02-02', '2019-03-03') GROUP BY 1", 2},
		{"SELECT LEFT(kind, 1), YEAR(seen), COUNT(*) FROM calls WHERE LEFT(kind, 1) = 'a' AND YEAR(seen) = 2019 OR LEFT(kind, 1) = 'b' AND YEAR(seen) = 2020 GROUP BY 1, 2", 2},
		{"SELECT kind, COUNT(*) FROM calls WHERE kind = 'a' OR kind = 'b' GROUP BY 1", 2},
		// Subqueries on public tables.
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id WHERE n.region IN (SELECT id FROM regions WHERE name = 'ASIA') GROUP BY 1", 4},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id WHERE EXISTS (SELECT 1 FROM regions r WHERE r.id = n.region AND r.name = 'ASIA') GROUP BY 1", 4},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id AND EXISTS (SELECT 1 FROM regions r WHERE r.id = n.region AND r.name = 'ASIA') GROUP BY 1", 4},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id WHERE NOT EXISTS (SELECT 1 FROM regions r WHERE r.id = n.region AND r.name = 'ASIA') GROUP BY 1", 10},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id WHERE n.region NOT IN (SELECT id FROM regions WHERE name = 'ASIA') GROUP BY 1", 10},
		{"SELECT n.name, COUNT(*) FROM calls c JOIN nations n ON c.nation = n.id WHERE n.region IN (SELECT id FROM regions WHERE name = 'ASIA') OR n.id = 5 GROUP BY 1", 10},
		{"SELECT nation, COUNT(*) FROM calls WHERE nation IN (SELECT id FROM nations WHERE region = 1) GROUP BY 1", 3},
		{"SELECT nation, COUNT(*) FROM calls WHERE nation IN (SELECT n.id FROM nations n JOIN regions r ON n.region = r.id WHERE r.name = 'ASIA' AND n.id > 3) GROUP BY 1", 2},
		{"SELECT nation, film, COUNT(*) FROM calls WHERE (nation, film) IN (SELECT n.id, f.id FROM nations n JOIN films f ON n.id = f.id WHERE f.genre = 'war') GROUP BY 1, 2", 4},
		{"SELECT n.name, COUNT(*) FROM calls c LEFT JOIN (SELECT * FROM nations WHERE region IN (SELECT id FROM regions WHERE name = 'ASIA')) n ON c.nation = n.id GROUP BY 1", 11},
	} {
		got := ann.query(c.query)
		if len(got) != c.keys {
			t.Errorf("%s: got %d keys, want %d: %.300s", c.query, len(got), c.keys, fmt.Sprint(got))
		}
		holdsKeys(t, root, c.query, got, 1)
	}
}

// holdsKeys compares the keys of an answer with those of the rows: all of them are among the first.
// A last column that is a count is no key.
func holdsKeys(t *testing.T, root *client, query string, answer [][]string, counts int) {
	t.Helper()
	keys := map[string]bool{}
	for _, row := range answer {
		keys[strings.Join(row[:len(row)-counts], "|")] = true
	}
	for _, row := range root.query(query) {
		if key := strings.Join(row[:len(row)-counts], "|"); !keys[key] {
			t.Errorf("%s: rows have the key %s, and the answer has not", query, key)
		}
	}
}

// Random expressions over columns with and without a range: where EXPLAIN says that the keys are
// public, those of all rows are among them.
func TestPublicKeysHoldThoseOfRows(t *testing.T) {
	i := start(t, "")
	root := i.root()
	shopOfMoments(t, root)
	root.exec(`CALL dp_set_domain('k.calls', 'at', '{"min":"2019-01-01","max":"2020-12-31"}')`, `CALL dp_set_domain('k.calls', 'film', '{"min":0,"max":39}')`,
		`CALL dp_set_domain('k.calls', 'price', '{"min":0,"max":100}')`)
	ann := i.analyst(root, "ann", "k")
	ann.exec("USE k", "SET dp_epsilon = 1")
	root.exec("USE k", "SET dp_raw = ON")
	r := rand.New(rand.NewPCG(7, 3))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	moment := func() string {
		m := pick("at", "at", "seen", "FROM_UNIXTIME(stamp)", "CONVERT_TZ(at, 'UTC', 'Asia/Kolkata')")
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf("DATE_ADD(%s, INTERVAL %d %s)", m, r.IntN(40)-20, pick("DAY", "MONTH", "HOUR", "MINUTE", "SECOND", "WEEK"))
		case 1:
			return fmt.Sprintf("(%s - INTERVAL WEEKDAY(%s) DAY)", m, m)
		}
		return m
	}
	part := func() string {
		m := moment()
		return fmt.Sprintf(pick("YEAR(%s)", "MONTH(%s)", "DATE(%s)", "HOUR(%s)", "DAYNAME(%s)", "QUARTER(%s)", "LAST_DAY(%s)", "WEEK(%s, 5)", "YEARWEEK(%s, 3)", "EXTRACT(DAY_HOUR FROM %s)",
			"DATE_FORMAT(%s, '%%Y-%%m')", "DATE_FORMAT(%s, '%%a %%H')", "UNIX_TIMESTAMP(%s) DIV 86400 * 86400", "FLOOR(UNIX_TIMESTAMP(%s) / 7200)", "CAST(UNIX_TIMESTAMP(%s) / 3600 AS SIGNED)",
			"UNIX_TIMESTAMP(%s) - UNIX_TIMESTAMP(at) %% 3600", "%s < '2020-03-04 05:06:07'", "DATEDIFF(%s, '2020-01-01')", "TO_DAYS(%s)", "DATE_FORMAT(%s, '%%x-%%v')"), m)
	}
	key := func() string {
		switch r.IntN(7) {
		case 4:
			return fmt.Sprintf("%s(price %s %d)", pick("FLOOR", "CEIL"), pick("/", "*"), 1+r.IntN(30))
		case 0:
			return fmt.Sprintf("CASE WHEN %s = %d THEN %s ELSE %d END", part(), r.IntN(30), pick("NULL", "film", "'x'"), r.IntN(9))
		case 1:
			return fmt.Sprintf("CONCAT(%s, '-', %s)", part(), part())
		case 2:
			return fmt.Sprintf("film %s %d", pick("DIV", "%", "+", "*", "/", "-"), 1+r.IntN(9))
		case 3:
			return fmt.Sprintf("IF(%s IN (1, 5, 2019), kind LIKE 'a%%', %s > 3)", part(), pick("film", "nation"))
		}
		return part()
	}
	condition := func() string {
		switch r.IntN(4) {
		case 0:
			return " WHERE " + part() + pick(" = ", " < ", " >= ") + fmt.Sprint(r.IntN(30))
		case 1:
			return fmt.Sprintf(" WHERE %s BETWEEN '2019-0%d-11 10:11:12' AND '2020-0%d-10'", pick("at", "seen", "day", "DATE(at)"), 1+r.IntN(9), 1+r.IntN(9))
		case 2:
			return fmt.Sprintf(" WHERE YEAR(%s) %s 2019 AND HOUR(at) %s %d", pick("at", "seen", "day"), pick("=", "<=", ">"), pick("<", ">="), r.IntN(24))
		}
		return ""
	}
	public := 0
	runs := stattest.Runs(60, 150)
	for n := range runs {
		if n == runs/2 {
			ann.exec("SET time_zone = 'America/New_York'")
			root.exec("SET time_zone = 'America/New_York'")
		}
		keys := key()
		if r.IntN(3) == 0 {
			keys += ", " + key()
		}
		by := "1"
		if strings.Contains(keys, ", ") {
			by = keys
		}
		where := condition()
		if by == "1" && r.IntN(3) == 0 {
			where = fmt.Sprintf(" WHERE %[1]s IN (1, %[2]d, 2019, 2020) OR %[1]s = %[3]d AND kind <> 'b'", keys, r.IntN(30), r.IntN(60))
		}
		rest := " FROM calls" + where + " GROUP BY " + by
		plan, err := ann.try("EXPLAIN SELECT " + keys + ", COUNT(*)" + rest)
		if err != nil || !strings.Contains(fmt.Sprint(plan), "public keys") {
			continue
		}
		public++
		query := "SELECT " + keys + rest // which is answered from the public keys alone
		holdsKeys(t, root, query, ann.query(query), 0)
	}
	if public < runs*2/5 {
		t.Errorf("%d of %d questions have public keys; want most", public, runs)
	}
	t.Logf("%d of %d questions have public keys", public, runs)
}

// Planning takes no time that grows faster than the expression, however it is nested.
func TestPublicKeysOfNestedExpressions(t *testing.T) {
	i := start(t, "")
	root := i.root()
	shopOfMoments(t, root)
	root.exec(`CALL dp_set_domain('k.calls', 'at', '{"min":"2019-01-01","max":"2020-12-31"}')`)
	ann := i.analyst(root, "ann", "k")
	ann.exec("USE k")
	nested := func(depth int, f func(inside string) string) string {
		s := "at"
		for range depth {
			s = f(s)
		}
		return s
	}
	for _, key := range []string{
		nested(30, func(s string) string { return "DATE_ADD(" + s + ", INTERVAL 1 SECOND)" }),
		nested(7, func(s string) string { return "FROM_UNIXTIME(UNIX_TIMESTAMP(" + s + ") DIV 7 * 7)" }),
		nested(12, func(s string) string {
			return "CASE " + s + " WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 WHEN 4 THEN 5 WHEN 5 THEN 6 ELSE 0 END"
		}),
		nested(12, func(s string) string {
			return "CASE WHEN film > 1 THEN " + s + " WHEN film > 2 THEN 3 WHEN 3 THEN 4 WHEN 4 THEN 5 WHEN film > 5 THEN 6 ELSE 0 END"
		}),
	} {
		done := make(chan error, 1)
		go func() {
			_, err := ann.try("EXPLAIN SELECT COUNT(*) FROM calls GROUP BY " + key)
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Logf("%.60s…: %v", key, err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%.60s… takes more than two minutes to plan", key)
		}
	}
}
