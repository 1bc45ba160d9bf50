package parse

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// TestBarsAreParsed compares what error bars become.
func TestBarsAreParsed(t *testing.T) {
	p := sql.NewMysqlParser()
	for q, want := range map[string]string{
		"SELECT DP_LOW(DP_MEAN(x)) FROM t":                             "DP_LOW(x, 'DP_MEAN', 0.95, '')",
		"SELECT DP_AVG(x) AS m, dp_high((M), ?) FROM t":                "dp_high(x, 'DP_MEAN', :v1, 'M')",
		"SELECT DP_STDERR(COUNT(*)) FROM t":                            "DP_STDERR(1, 'COUNT', 0.95, '')",
		"SELECT DP_LOW(DP_COUNT(DISTINCT u)) FROM t":                   "DP_LOW(u, 'DP_COUNT DISTINCT', 0.95, '')",
		"SELECT DP_QUANTILE(x, 0.9, 'weight=row') q, DP_LOW(q) FROM t": "DP_LOW(x, 0.9, 'weight=row', 'DP_QUANTILE', 0.95, 'q')",
		"SELECT a FROM t ORDER BY DP_LOW(SUM(x))":                      "DP_LOW(x, 'SUM', 0.95, '')",
		"EXPLAIN SELECT STD(x) AS s, DP_LOW(s) FROM t":                 "DP_LOW(x, 'STDDEV_POP', 0.95, 's')",
		// An alias is one of its own SELECT list.
		"SELECT DP_MEAN(x) AS m, (SELECT DP_LOW(m) FROM u) FROM t": "wants a DP aggregate or its alias",
		"SELECT DP_MEAN(x) AS m FROM t WHERE DP_LOW(m) > 1":        "wants a DP aggregate or its alias",
	} {
		s, err := p.ParseSimple(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		s = Adapt(s)
		var got []string
		everywhere(func(n ast.SQLNode) (bool, error) {
			if f, ok := n.(*ast.FuncExpr); ok {
				if _, bar := functions.ErrorBarByName(f.Name.Lowered()); bar {
					got = append(got, ast.String(f))
				}
			}
			return true, nil
		}, statementOf(s))
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: got %v, want %s", q, got, want)
		}
	}
}

// statementOf is what an EXPLAIN is of.
func statementOf(s ast.Statement) ast.Statement {
	if e, ok := s.(*ast.Explain); ok {
		return e.Statement
	}
	return s
}

// FuzzBars: whatever is written, every bar has one of the binder's forms after parsing: an
// aggregate's arguments with three more, of which the last is a text, or a refusal of two texts.
func FuzzBars(f *testing.F) {
	for _, q := range []string{
		"SELECT DP_LOW(DP_MEAN(x), 0.9), DP_HIGH(m) FROM t", "SELECT DP_MEAN(x) m, DP_LOW(m), DP_LOW(m, DP_LOW(m)) FROM t GROUP BY DP_LOW(m) HAVING DP_HIGH(m) > 1",
		"WITH c AS (SELECT DP_SUM(x) s, DP_LOW(s) FROM t) SELECT * FROM c UNION SELECT DP_LOW(s), 1 FROM c ORDER BY DP_LOW(1)",
		"INSERT INTO t SELECT DP_LOW(DP_MEAN(x)) FROM t", "SELECT DP_LOW(DISTINCT x), DP_LOW(*), DP_LOW(), DP_LOW(DP_LOW(COUNT(*))), DP_RADIUS(t.m) FROM t",
		"SELECT DP_MEAN(DP_LOW(m)) AS m FROM t", "SELECT DP_MEAN(DP_LOW(n)) AS m, DP_SUM(1 + DP_HIGH(m)) AS n FROM t", "SELECT DP_LOW(a) AS b, DP_LOW(b) AS a FROM t",
		"SELECT x FROM (SELECT DP_LOW(a), COUNT(*) AS a FROM t) d WHERE x IN (SELECT DP_LOW(COUNT(*)) FROM t)", "UPDATE t SET x = DP_LOW(x)", "SELECT CASE WHEN DP_LOW(SUM(x)) THEN 1 END FROM t",
	} {
		f.Add(q)
	}
	p := sql.NewMysqlParser()
	f.Fuzz(func(t *testing.T, q string) {
		s, err := p.ParseSimple(q)
		if err != nil || s == nil {
			return
		}
		s = Adapt(s)
		everywhere(func(n ast.SQLNode) (bool, error) {
			call, ok := n.(*ast.FuncExpr)
			if !ok {
				return true, nil
			}
			if _, bar := functions.ErrorBarByName(call.Name.Lowered()); !bar {
				return true, nil
			}
			last := call.Exprs[len(call.Exprs)-1].(*ast.AliasedExpr).Expr.(*ast.SQLVal)
			if len(call.Exprs) < 2 || last.Type != ast.StrVal {
				t.Errorf("%s: %s is left", q, ast.String(call))
			}
			return true, nil
		}, statementOf(s))
	})
}
