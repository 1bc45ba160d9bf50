package dialect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/test/testenv"
)

// shapes write statements that are as large as a number says.
var shapes = []struct {
	name           string
	write          func(n int) string
	taken, refused int // numbers
	errno          int // 0: none is refused
}{
	{"sum", func(n int) string { return "SELECT 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum of a column", func(n int) string { return "SELECT a" + strings.Repeat("+a", n) + " FROM t" }, 1900, 2100, 1436},
	{"sum in EXPLAIN", func(n int) string { return "EXPLAIN SELECT 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum in a view", func(n int) string { return "CREATE VIEW v AS SELECT 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum in a copy", func(n int) string { return "CREATE TABLE c AS SELECT 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum in a part of a union", func(n int) string { return "SELECT 1 UNION SELECT 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum in a common table", func(n int) string {
		return "WITH c AS (SELECT 1" + strings.Repeat("+1", n) + ") SELECT 1 UNION SELECT * FROM c"
	}, 1900, 2100, 1436},
	{"sum in an order", func(n int) string { return "SELECT 1 UNION SELECT 2 ORDER BY 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum in SET", func(n int) string { return "SET @a = 1" + strings.Repeat("+1", n) }, 1900, 2100, 1436},
	{"sum in VALUES", func(n int) string { return "INSERT INTO t VALUES (1" + strings.Repeat("+1", n) + ")" }, 1900, 2100, 1436},
	{"sums", func(n int) string { return "SELECT 1" + strings.Repeat(", 1"+strings.Repeat("+1", 100), n) }, 400, 800, 1436},
	{"NOT", func(n int) string { return "SELECT " + strings.Repeat("NOT ", n) + "1" }, 2700, 2900, 1436},
	{"CASE", func(n int) string {
		return "SELECT " + strings.Repeat("CASE WHEN 1 THEN 2 ELSE ", n) + "1" + strings.Repeat(" END", n)
	}, 1600, 2000, 1436},
	{"AND", func(n int) string { return "SELECT 1 FROM t WHERE a=1" + strings.Repeat(" AND a=1", n) }, maxOperands - 1, maxOperands, 1436},
	{"OR", func(n int) string { return "SELECT 1 FROM t WHERE a=1" + strings.Repeat(" OR a=1", n) }, maxOperands - 1, maxOperands, 1436},
	{"AND and OR", func(n int) string { return "SELECT 1 FROM t WHERE a=1" + strings.Repeat(" AND a=1 OR a=2", n) }, maxOperands/2 - 1, maxOperands / 2, 1436},
	{"UNION", func(n int) string { return "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", n) }, maxUnions - 1, maxUnions, 1473},
	{"levels", func(n int) string { return "SELECT" + strings.Repeat("(SELECT ", n) + "1" + strings.Repeat(")", n) }, maxLevels - 1, maxLevels, 1473},
	{"tables", func(n int) string { return "SELECT 1 FROM t" + strings.Repeat(", t", n) }, maxTables - 1, maxTables, 1116},
	{"joins", func(n int) string { return "SELECT 1 FROM t" + strings.Repeat(" LEFT JOIN t USING (a)", n) }, maxTables - 1, maxTables, 1116},
	{"EXISTS", func(n int) string {
		return "SELECT 1 FROM t WHERE 1" + strings.Repeat(" AND EXISTS (SELECT 1 FROM u)", n)
	}, maxTables - 1, maxTables, 1116},
	{"tables of subqueries", func(n int) string { return "SELECT 1" + strings.Repeat(", (SELECT 1 FROM t, t t2)", n) }, allTables / 2, allTables/2 + 1, 1116},
	{"common tables of common tables", func(n int) string { return doubled(n) + "SELECT 1 FROM c" + strconv.Itoa(n) }, 6, 7, 1116},
	{"and in unions", func(n int) string { return doubled(n) + "SELECT 1 UNION SELECT 1 FROM c" + strconv.Itoa(n) }, 6, 7, 1116},
	{"and in UPDATE", func(n int) string {
		return doubled(n) + "UPDATE t SET a = (SELECT COUNT(*) FROM c" + strconv.Itoa(n) + ")"
	}, 6, 7, 1116},
	{"unions of common tables", func(n int) string {
		return "WITH c AS (SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 49) + ") SELECT 1 FROM c a" + strings.Repeat(", c", n)
	}, 7, 8, 1473},
	{"conditions of common tables", func(n int) string {
		return "WITH c AS (SELECT 1 FROM t WHERE a=1" + strings.Repeat(" AND a=1", 500) + ") SELECT 1 FROM c a" + strings.Repeat(", c", n)
	}, 8, 9, 1436},
	{"columns", func(n int) string { return "SELECT a" + strings.Repeat(", a", n) + " FROM t" }, maxColumns - 1, maxColumns, 1117},
	{"keys", func(n int) string { return "SELECT 1 FROM t GROUP BY a" + strings.Repeat(", a", n) }, maxColumns - 1, maxColumns, 1117},
	{"an order", func(n int) string { return "SELECT a FROM t ORDER BY a" + strings.Repeat(", a", n) }, maxColumns - 1, maxColumns, 1117},
	{"IN", func(n int) string { return "SELECT 1 FROM t WHERE a IN (1" + strings.Repeat(", 1", n) + ")" }, 50_000, 0, 0},
	{"rows", func(n int) string { return "INSERT INTO t VALUES (1, 'a', -1)" + strings.Repeat(", (1, 'a', -1)", n) }, 50_000, 0, 0},
	{"arguments", func(n int) string { return "SELECT CONCAT('a'" + strings.Repeat(", 'a'", n) + ")" }, 50_000, 0, 0},
	{"WHEN", func(n int) string { return "SELECT CASE a" + strings.Repeat(" WHEN 1 THEN 2", n) + " END FROM t" }, 50_000, 0, 0},
}

// doubled writes common table expressions, each of which joins the one before it with itself.
func doubled(n int) string {
	text := "WITH c0 AS (SELECT 1 AS x)"
	for i := range n {
		text += fmt.Sprintf(", C%d AS (SELECT p.x FROM c%d p, `c%d` q)", i+1, i, i)
	}
	return text + " "
}

func errnoOf(err error) int {
	var e *mysql.SQLError
	if errors.As(err, &e) {
		return e.Num
	}
	return 0
}

func TestLimitsOfStatements(t *testing.T) {
	p, ctx := Parser(sql.NewMysqlParser()), sql.NewEmptyContext()
	for _, s := range shapes {
		if _, _, _, err := p.Parse(ctx, s.write(s.taken), false); err != nil {
			t.Errorf("%s, %d: %v", s.name, s.taken, err)
		}
		if s.errno == 0 {
			continue
		}
		for _, n := range []int{s.refused, 2 * s.refused} {
			query := s.write(n)
			_, _, _, err := p.Parse(ctx, query, false)
			_, _, _, multi := p.Parse(ctx, query+"; SELECT 1", true)
			_, _, one := p.ParseOneWithOptions(ctx, query, sql.LoadSqlMode(ctx).ParserOptions())
			for _, err := range []error{err, multi, one} {
				if errnoOf(err) != s.errno {
					t.Errorf("%s, %d: got %v, want error %d", s.name, n, err, s.errno)
				}
			}
		}
	}
}

// The measure must not take longer than what it bounds.
func TestMeasureIsQuick(t *testing.T) {
	p, ctx := Parser(sql.NewMysqlParser()), sql.NewEmptyContext()
	query := "INSERT INTO t VALUES (1, 'a', -1)" + strings.Repeat(", (1, 'a', -1)", 100_000)
	var s ast.Statement
	var err error
	parsed := testenv.Computes(t, func() { s, _, _, err = p.Parser.Parse(ctx, query, false) })
	if err != nil {
		t.Fatal(err)
	}
	took := testenv.Computes(t, func() { err = bounded(s, query) })
	if err != nil {
		t.Fatal(err)
	}
	if took > parsed {
		t.Errorf("measured in %v what was parsed in %v", took, parsed)
	}
}
