package parse

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// TestAggregatesOfSubqueriesAreTheirOwn compares what becomes of tables that a subquery names as
// the query around it does.
func TestAggregatesOfSubqueriesAreTheirOwn(t *testing.T) {
	p := sql.NewMysqlParser()
	for q, want := range map[string]string{
		"select g from t group by g having SUM(x) > (select SUM(t.x) / 10 from t where t.x > 1)":                                               "select g from t group by g having SUM(x) > (select SUM(t_2.x) / 10 from t as t_2 where t_2.x > 1)",
		"select SUM(x), (select sum(x) from t) from t":                                                                                         "select SUM(x), (select sum(x) from t as t_2) from t",
		"select g from t, t as t_2 group by g having SUM(t.x) > (select SUM(x) from d.t)":                                                      "select g from t, t as t_2 group by g having SUM(t.x) > (select SUM(x) from d.t as t_3)",
		"select g from t group by g having SUM(x) > (select MAX(s) from (select SUM(x) s from t group by t.g) as u)":                           "select g from t group by g having SUM(x) > (select MAX(s) from (select SUM(x) s from t as t_2 group by t_2.g) as u)",
		"select g from t group by g having SUM(x) > (select SUM(x) from t where exists (select 1 from t where t.x = 1))":                       "select g from t group by g having SUM(x) > (select SUM(x) from t as t_2 where exists (select 1 from t where t.x = 1))",
		"select COUNT(*) from t having COUNT(*) > (select COUNT(1) from u)":                                                                    "select COUNT(*) from t having COUNT(*) > (select COUNT(*) from u)",
		"select g from t group by g having SUM(x) > (select AVG(x) from t)":                                                                    "select g from t group by g having SUM(x) > (select AVG(x) from t)",
		"select SUM(x) from (select SUM(x) x from t group by g) as t":                                                                          "select SUM(x) from (select SUM(x) x from t group by g) as t",
		"select g from t group by g having SUM(x) > (select SUM(u.x) from u where u.g = t.g)":                                                  "select g from t group by g having SUM(x) > (select SUM(u.x) from u where u.g = t.g)",
		"with t as (select SUM(x) as x from u) select SUM(x) from t union select g from v group by g having MIN(v.x) < (select MIN(x) from v)": "with t as (select SUM(x) as x from u) select SUM(x) from t union select g from v group by g having MIN(v.x) < (select MIN(x) from v as v_2)",
	} {
		s, err := p.ParseSimple(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if got := ast.String(Adapt(s)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
