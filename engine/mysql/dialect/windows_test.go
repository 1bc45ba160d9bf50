package dialect

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// TestWindowsOverGroups compares what statements with window functions become.
func TestWindowsOverGroups(t *testing.T) {
	p, ctx := Parser(sql.NewMysqlParser()), sql.NewEmptyContext()
	const inner, end = " from (select ", ") as `window`"
	for query, want := range map[string]string{
		"SELECT g, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) FROM t GROUP BY g HAVING n > 5 ORDER BY n, SUM(x) LIMIT 3": "select g as g, n as n, rank over(0) over ( order by `window 1` asc) as `RANK() OVER (ORDER BY COUNT(*))`" +
			inner + "g as g, COUNT(*) as n, COUNT(*) as `window 1`, SUM(x) as `window 2` from t group by g having n > 5" + end + " order by 2 asc, `window 2` asc limit 3",
		"SELECT DISTINCT COUNT(*) / SUM(COUNT(*)) OVER w AS s FROM t GROUP BY g + 1, h WINDOW w AS (PARTITION BY t.g + 1)": "select distinct `window 1` / sum over(0, `window 1`) over w as s" +
			inner + "COUNT(*) as `window 1`, t.g + 1 as `window 2` from t group by g + 1, h" + end + " window w as (partition by `window 2`)",
		"SELECT SUM(x) OVER () AS s, g, SUM(y) FROM t GROUP BY 2": "select sum over(0, `window 1`) over () as s, g as g, `window column 3` as `SUM(y)`" +
			inner + "g as g, SUM(y) as `window column 3`, x as `window 1` from t group by 1" + end,
		"SELECT ROW_NUMBER() OVER () AS k FROM t GROUP BY g ORDER BY k + 1": "select row_number over(0) over () as k" + inner + "1 as `window 1` from t group by g" + end + " order by k + 1 asc",
		"SELECT (SELECT a FROM u) + RANK() OVER (ORDER BY COUNT(*)) AS r, @x AS x FROM t": "select `window 1` + rank over(0) over ( order by `window 2` asc) as r, x as x" +
			inner + "@x as x, (select a from u) as `window 1`, COUNT(*) as `window 2` from t" + end,
		// the names of the list's columns count in ORDER BY only
		"SELECT UPPER(g) AS g, RANK() OVER (PARTITION BY g) AS r, COUNT(*) FROM t GROUP BY g ORDER BY -g": "select g as g, rank over(0) over (partition by `window 1`) as r, `window column 3` as `COUNT(*)`" +
			inner + "UPPER(g) as g, COUNT(*) as `window column 3`, g as `window 1` from t group by g" + end + " order by -g asc",
		"SELECT t.g, RANK() OVER (ORDER BY COUNT(*)) AS g FROM t GROUP BY g": "select g as g, rank over(0) over ( order by `window 1` asc) as g" +
			inner + "t.g as g, COUNT(*) as `window 1` from t group by g" + end,
		// others stay as they are
		"SELECT g, SUM(x) OVER (PARTITION BY g) AS s FROM t":                                         "select g, sum over(0, x) over (partition by g) s from t",
		"SELECT g, COUNT(*) AS over_ FROM t GROUP BY g":                                              "select g, COUNT(*) over_ from t group by g",
		"SELECT *, RANK() OVER (ORDER BY COUNT(*)) AS r FROM t GROUP BY g":                           "select *, rank over(0) over ( order by COUNT(*) asc) r from t group by g",
		"SELECT COUNT(*) FROM (SELECT RANK() OVER (ORDER BY x) AS r FROM t) d WHERE r IN (SELECT 1)": "select COUNT(*) from (select rank over(0) over ( order by x asc) r from t) as d where r in (select 1)",
	} {
		s, _, _, err := p.Parse(ctx, query, false)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		} else if got := ast.String(s); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
		}
	}
}
