package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// quietStatements tell something besides released values: plans, definitions, refusals.
var quietStatements = []string{
	"SHOW TABLES FROM s", "SHOW TABLE STATUS FROM s", "SHOW FULL COLUMNS FROM s.visits", "SHOW INDEX FROM s.visits", "SHOW CREATE TABLE s.people",
	"SELECT table_name, table_rows, data_length, auto_increment FROM information_schema.tables WHERE table_schema = 's' ORDER BY 1",
	"SELECT * FROM information_schema.statistics WHERE table_schema = 's'",
	"SELECT * FROM information_schema.column_statistics",
	"SELECT * FROM s.visits", "SELECT * FROM s.visits WHERE 0 = 1", "SELECT x FROM s.visits LIMIT 0",
	"SELECT MAX(CONCAT(x)) FROM s.visits", "SELECT DISTINCT g FROM s.visits", "SELECT COUNT(*) FROM s.visits WHERE x > (SELECT AVG(x) FROM s.visits)",
	"SELECT person FROM s.visits GROUP BY person", "SELECT COUNT(*) OVER () FROM s.visits", "ANALYZE TABLE s.visits",
	"SELECT v FROM s.points LIMIT 1", "SELECT DP_VALUE(v, 1) FROM s.points", "SHOW FULL COLUMNS FROM s.points",
	"SELECT COUNT(*) FROM s.visits INTO OUTFILE '/nonexistent'", "SELECT 1 FROM s.visits GROUP BY 1",
}

// hostileQueries evaluate expressions that fail, or would, on some rows of one person. What they
// answer is noisy; that they answer, with so many rows, must not depend on that person.
var hostileQueries = []string{
	"SELECT g, SUM(1 / (x - 1e300)), AVG(LN(x)), DP_MEDIAN(SQRT(-n)) FROM s.visits GROUP BY g",
	"SELECT SUM(x * x * x), AVG(EXP(x)), COUNT(CAST(m AS SIGNED) / (n - 1)) FROM s.visits",
	"SELECT SUM(m * m * m * m * m * m), AVG(POW(m, n * 1000)), COUNT(*) FROM s.visits WHERE 1 / (g - 1) > 0",
	"SELECT COUNT(*) FROM s.visits WHERE DATE_ADD('9999-12-31', INTERVAL n DAY) IS NULL OR STR_TO_DATE(x, '%Y') IS NULL",
	"SELECT CASE WHEN MOD(person, n) = 0 THEN 'a' END AS k, COUNT(*) FROM s.visits GROUP BY k",
	"SELECT COUNT(*), SUM(LENGTH(REPEAT('x', n * 100000))) FROM s.visits WHERE SUBSTRING('abc', n - 100, m) <> CONCAT(x, m)",
	"SELECT city, COUNT(*) FROM (SELECT 'all' AS city, age FROM s.people WHERE age / (person - 1) > 0) d GROUP BY city",
	"SELECT g, DP_QUANTILES(x / 0, '[0.1, 0.5, 0.9]'), STDDEV(m / (n - n)) FROM s.visits GROUP BY g",
	"SELECT g, MIN(x / 0), DP_MAX(x * x * x), MAX(DATE_ADD('9999-12-31', INTERVAL n DAY)), DP_MEAN(FROM_UNIXTIME(m)) FROM s.visits GROUP BY g",
	"SELECT g, CORR(x / 0, n), REGR_SLOPE(m, 1 / (x - 1e300)), DP_COVAR_POP(x * x * x, m) FROM s.visits GROUP BY g",
	"SELECT DP_MEAN(DP_VECTOR(1 / (x - 1e300), LN(n))), DP_SUM(DP_VECTOR(x * x * x, n)) FROM s.visits", "SELECT DP_MEAN(DP_ONEHOT(n - 3, 'dimension=5')) FROM s.visits",
	"SELECT g, DP_MEAN(v), DP_SUM(v) FROM s.points GROUP BY g", "SELECT DP_MEAN(CONCAT('[', x, ',', n, ']'), 'dimension=2') FROM s.visits",
	"SELECT a.g, COUNT(b.x / 0), SUM(a.x * b.x * 1e300), AVG(POW(a.m, b.n * 1000)) FROM s.visits a JOIN s.visits b ON a.n = b.n GROUP BY a.g",
	"SELECT SUM(1 / (a.x - 1e300)), DP_SUM(9223372036854775807 * a.n, 'cap=5'), AVG(b.age / (a.person - 1)) FROM s.visits a JOIN s.people b ON a.person <> b.person",
	"SELECT COUNT(*) FROM s.visits v WHERE x / 0 > (SELECT SUM(1 / (w.x - 1e300)) * 1e300 FROM s.visits w WHERE w.g = v.g) OR m < (SELECT AVG(w.n) / COUNT(*) FROM s.visits w WHERE w.g = v.g AND w.n = 3)",
	"SELECT COUNT(*) FROM s.visits WHERE s.visits.person = 1", "SELECT SUM(-9223372036854775808 - n), SUM(9223372036854775807 * n) FROM s.visits",
}

// told is everything that a client learns of a statement but the released values: the error, and
// for quiet statements the rows, for others their number.
func told(c *client, q string, values bool) string {
	rows, err := c.try(q)
	var e *mysql.MySQLError
	switch {
	case errors.As(err, &e):
		return fmt.Sprintf("error %d %s %s", e.Number, e.SQLState[:], e.Message)
	case err != nil:
		return err.Error()
	case values:
		return fmt.Sprint(rows)
	}
	return fmt.Sprintf("%d rows", len(rows))
}

// TestNothingButReleasesDependsOnRows compares a database with each of two neighbours, one of them
// without the person who owns most rows and every extreme value, and with an empty one.
func TestNothingButReleasesDependsOnRows(t *testing.T) {
	i := startWith(t, "", seeded(t, "silence", 1))
	root := i.root()
	root.exec(soundSchema...)
	ann := i.analyst(root, "ann", "s")
	ann.exec("SET dp_rho = 1")
	listen := func() map[string]string {
		heard := map[string]string{}
		for _, q := range quietStatements {
			heard[q] = told(ann, q, true)
		}
		for _, q := range soundQueries {
			heard["EXPLAIN "+q] = told(ann, "EXPLAIN "+q, true)
			heard[q] = told(ann, q, false)
		}
		for _, q := range hostileQueries {
			heard[q] = told(ann, q, false)
			if strings.HasPrefix(heard[q], "error") && !strings.Contains(heard[q], "45004") {
				t.Errorf("%s: %s", q, heard[q])
			}
		}
		return heard
	}
	root.exec("SET dp_raw = ON")
	fill(root, nil)
	whole := listen()
	everybody := map[int]bool{}
	for p := 1; p <= 8; p++ {
		everybody[p] = true
	}
	for name, without := range map[string]map[int]bool{"person 1": {1: true}, "person 8": {8: true}, "everybody": everybody} {
		root.exec("DELETE FROM s.items", "DELETE FROM s.visits", "DELETE FROM s.people", "DELETE FROM s.points")
		fill(root, without)
		for q, heard := range listen() {
			if heard != whole[q] {
				t.Errorf("%s\nwith all: %s\nwithout %s: %s", q, whole[q], name, heard)
			}
		}
	}
}
