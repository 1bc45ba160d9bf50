package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"scrim/internal/sqltext"
	values "scrim/test/testenv/hostile"
)

// fileTypes are the types of columns that files bring into tables.
var fileTypes = []string{"BOOLEAN", "TINYINT", "INTEGER", "BIGINT", "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL(4,1)", "DECIMAL(18,4)", "DECIMAL(38,0)", "DECIMAL(38,10)", "DECIMAL(38,38)",
	"VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIME"}

// typeStatements ask of a column c of any type of table t. Where a type does not go with a
// statement, it is refused.
var typeStatements = []string{
	"SELECT COUNT(c), COUNT(*) FROM t WHERE c IS NOT NULL", "SELECT SUM(c), AVG(c) FROM t", "SELECT MIN(c), MAX(c) FROM t", "SELECT DP_MEDIAN(c), DP_VARIANCE(c) FROM t", "SELECT DP_COUNT(DISTINCT c, 'values=3') FROM t",
	"SELECT c, COUNT(*) FROM t GROUP BY c", "SELECT g, SUM(c), AVG(c * c), COUNT(*) FROM t GROUP BY g", "SELECT g, CORR(c, g), COUNT(c) FROM t GROUP BY g",
	"SELECT SUM(c + c), SUM(c * c), SUM(c - 1), SUM(-c) FROM t", "SELECT SUM(c / g), SUM(c DIV 3), SUM(c % 7), SUM(1 / c) FROM t", "SELECT SUM(ABS(c)), SUM(ROUND(c, 1)), SUM(FLOOR(c)), SUM(TRUNCATE(c, -2)) FROM t",
	"SELECT SUM(CAST(c AS SIGNED)), SUM(CAST(c AS UNSIGNED)), SUM(CAST(c AS DECIMAL(38,10))), SUM(CAST(c AS DOUBLE)) FROM t", "SELECT SUM(LENGTH(CAST(c AS CHAR))), SUM(LENGTH(CONCAT(c, c))), SUM(LENGTH(REPEAT(c, g * 1000000000))) FROM t",
	"SELECT SUM(LENGTH(UPPER(c))), SUM(LENGTH(HEX(c))), SUM(LENGTH(LPAD(c, 70000, c))), SUM(LOCATE('a', c)), SUM(LENGTH(REVERSE(SUBSTRING(c, -2)))) FROM t",
	"SELECT SUM(YEAR(c)), SUM(WEEK(c, 3)), SUM(DATEDIFF(c, '2020-01-01')), SUM(UNIX_TIMESTAMP(c)), SUM(TIMESTAMPDIFF(MONTH, c, '2020-01-01')) FROM t", "SELECT SUM(YEAR(DATE_ADD(c, INTERVAL 9000 YEAR))), SUM(DAY(LAST_DAY(c))), SUM(DAY(STR_TO_DATE(c, '%Y-%m-%d'))) FROM t",
	"SELECT SUM(HOUR(c)), SUM(MICROSECOND(c)) FROM t", "SELECT SUM(LN(c)), SUM(EXP(c)), SUM(POW(c, c)), SUM(SQRT(c)), SUM(ASIN(c)), SUM(TAN(c)) FROM t", "SELECT COUNT(*) FROM t WHERE c > 0 OR c = 'a' OR c < '2020-01-01' OR c IN (1, 'x', NULL)",
	"SELECT COUNT(*) FROM t WHERE c LIKE '1%' OR c REGEXP '^(a|b)*$' OR c", "SELECT COUNT(*), SUM(GREATEST(c, 1)), SUM(IFNULL(c, 0)), SUM(CASE c WHEN 1 THEN 2 ELSE c END) FROM t", "SELECT DP_MEAN(DP_VECTOR(c, g, c * 2)) FROM t", "SELECT DP_MEAN(c, 'dimension=3') FROM t",
	"SELECT DP_MEAN(DP_ONEHOT(c, 'dimension=5')) FROM t", "SELECT AVG(a), AVG(b), AVG(d), COUNT(*) FROM (SELECT person, SUM(c) AS a, AVG(c) AS b, COUNT(DISTINCT c) AS d FROM t GROUP BY person) p", "SELECT COUNT(a), COUNT(b) FROM (SELECT person, MIN(c) AS a, MAX(c) AS b FROM t GROUP BY person) p",
	"SELECT COUNT(*), COUNT(d) FROM (SELECT person, c, LAG(c) OVER (PARTITION BY person ORDER BY c) AS d, RANK() OVER (PARTITION BY person ORDER BY c DESC) AS k FROM t) w WHERE k < 9", "SELECT COUNT(*) FROM (SELECT DISTINCT person, c FROM t) d", "SELECT COUNT(*) FROM t a JOIN t b ON a.person = b.person AND a.c = b.c",
	"SELECT DP_COUNT(1, 'cap=5') FROM t a JOIN t b ON a.c = b.c AND a.person < b.person", "SELECT COUNT(*) FROM t WHERE c > (SELECT AVG(c) FROM t)",
}

var columnC = regexp.MustCompile(`\bc\b`)

// TestTypesAreSilent asks of two tables of all types that files bring: one of plain rows, and one
// where one person has rows of hostile values, too. Nothing but released values tells them apart,
// and no statement fails but by a refusal.
func TestTypesAreSilent(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	row := func(person, n int, value func(typ string) string) string {
		items := []string{fmt.Sprintf("%d AS person, %d AS g", person, 1+n%3)}
		for i, typ := range fileTypes {
			items = append(items, fmt.Sprintf("CAST(%s AS %s) AS c%d", value(typ), typ, i))
		}
		return "SELECT " + sqltext.List(items)
	}
	var plain, hard []string
	for n := range 60 {
		plain = append(plain, row(2+n%20, n, func(typ string) string { return values.Values(typ)[len(values.Values(typ))-1] }))
	}
	for n := range len(values.Values("VARCHAR")) {
		hard = append(hard, row(1, n, func(typ string) string { return values.Value(typ, n) }))
	}
	i := startWith(t, "", seeded(t, "types", 1), underLake(root))
	dba := i.root()
	for name, rows := range map[string][]string{"a": plain, "b": append(hard, plain...)} {
		file := filepath.Join(root, name+".parquet")
		parquet(t, "COPY ("+strings.Join(rows, " UNION ALL ")+") TO '"+file+"'")
		dba.exec("CREATE DATABASE "+name, "CALL dp_attach('"+name+".t', 'parquet', '{\"path\": \""+file+"\"}')", "CALL dp_protect('"+name+".t', 'person', '"+name+"')",
			"CALL dp_set_domain('"+name+".t', 'g', '[1,2,3]')", "CALL dp_set_budget('"+name+".t', '*', 'rho=1000000', 1e-3, 'never')")
	}
	dba.exec("USE a")
	ann := i.analyst(dba, "ann", "a")
	dba.exec("GRANT SELECT ON b.* TO 'ann'@'%'")
	ann.exec("SET dp_rho = 2")
	answered := 0
	for c, typ := range fileTypes {
		if c > 3 && testing.Short() {
			break
		}
		for _, q := range typeStatements {
			q = columnC.ReplaceAllString(q, fmt.Sprintf("c%d", c))
			var heard [2]string
			for k, name := range []string{"a", "b"} {
				ann.exec("USE " + name)
				rows, err := ann.try(q)
				var e *mysql.MySQLError
				switch {
				case errors.As(err, &e):
					heard[k] = fmt.Sprintf("error %d %s %s", e.Number, e.SQLState[:], e.Message)
					if e.Number != 1644 && !strings.HasPrefix(e.Message, "unsupported type") {
						t.Errorf("%s, %s: %s", typ, q, heard[k])
					}
				case err != nil:
					t.Fatal(err)
				case strings.Contains(q, "GROUP BY c"): // keys are released
					answered++
				default:
					answered++
					heard[k] = fmt.Sprintf("%d rows", len(rows))
				}
			}
			if a := strings.ReplaceAll(heard[0], "a.t", "b.t"); a != heard[1] {
				t.Errorf("%s, %s\nplain: %s\nhostile: %s", typ, q, heard[0], heard[1])
			}
		}
	}
	t.Logf("%d answers", answered)
	if answered < 900 && !testing.Short() {
		t.Errorf("%d answers, want 900 and more: the others are refused", answered)
	}
}
