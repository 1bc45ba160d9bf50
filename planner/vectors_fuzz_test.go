package planner

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// TestVectorsArePlannedOrRefused writes random queries of functions, arguments, options, groups and
// filters: each is refused in public words, or planned so that the invariants hold.
func TestVectorsArePlannedOrRefused(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	argument := map[string]func() string{
		"profiles": func() string {
			return pick("embedding", "small", "counts", "trail", "tags", "doc", "note", "age", "city", "height", "NULL", "DP_VECTOR(age, height)", "DP_VECTOR(age, city)",
				"DP_VECTOR(NULL, 1)", "DP_VECTOR(income)", "DP_VECTOR(embedding, age)", "DP_ONEHOT(age, 'dimension=9')", "DP_ONEHOT(city, 'dimension=9')", "DP_ONEHOT(age, NULL)",
				"DP_VALUE(embedding, 2)", "DP_VALUE(embedding, 0)", "DP_VALUE(trail, 5)", "DP_VALUE(DP_VECTOR(age, height), 1)", "DISTINCT embedding", "IF(age > 3, embedding, small)", "CONCAT(doc, note)")
		},
		"clicks": func() string {
			return pick("vec", "x", "DP_VECTOR(x, y)", "DP_VECTOR(x / y, SQRT(x), CAST(kind AS DOUBLE))", "DP_ONEHOT(page, 'dimension=50')", "DP_ONEHOT(upage, 'dimension=1048576')",
				"DP_ONEHOT(page + y, 'dimension=3')", "DP_VALUE(vec, 1)", "DP_ONEHOT(y > 3, 'dimension=2')")
		},
	}
	option := func() string {
		return pick("method=auto", "method=clipped", "method=shifted", "method=plan", "method=coinpress", "p=1.5", "tail=sqrt_n", "rotate=on", "quantile=em", "scale=none", "scale=pairs",
			"scale=binary", "pairs=2", "radius=5", "sigma=[1, 2]", "sigma=3", "sigma_max=2", "rounds=2", "relative=on", "dimension=4", "dimension=3", "answer=vector", "lower=0, upper=1",
			"lower=-5, upper=5", "weight=row", "epsilon=0.1", "rho=0.01")
	}
	planned, refused := 0, 0
	for range 500 {
		table := pick("profiles", "clicks")
		var items []string
		for range 1 + r.IntN(2) {
			args := argument[table]()
			f := pick("DP_MEAN", "DP_SUM", "DP_VARIANCE", "DP_STDDEV", "AVG", "SUM", "VAR_POP", "STDDEV", "DP_MEAN", "DP_COUNT", "COUNT", "DP_MEDIAN")
			if strings.HasPrefix(f, "DP_") && r.IntN(2) == 0 {
				var options []string
				for range r.IntN(4) {
					options = append(options, option())
				}
				args += ", '" + strings.Join(options, ", ") + "'"
			}
			items = append(items, f+"("+args+")")
		}
		key := map[string][]string{"profiles": {"city", "age", "note"}, "clicks": {"kind", "page", "x > 1"}}[table][r.IntN(3)]
		q := "SELECT " + strings.Join(items, ", ") + " FROM " + table
		if r.IntN(3) == 0 {
			q += " WHERE " + map[string]string{"profiles": "DP_VALUE(embedding, 1) > 0 AND embedding IS NOT NULL", "clicks": "page < 5"}[table]
		}
		if r.IntN(2) == 0 {
			q += " GROUP BY " + key
		}
		if _, err := h.ddlBind(q); err != nil {
			continue // what does not bind is none of the planner's
		}
		s, n, err := h.plan(q)
		if err != nil {
			if e, ok := refuse.As(err); !ok || len(e.Error()) > 1000 {
				t.Fatalf("%s: %v is no refusal", q, err)
			}
			refused++
			continue
		}
		planned++
		if s == nil {
			t.Fatalf("%s has no private part", q)
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if text := plan.Format(s); text == "" || strings.Contains(text, "%!") {
			t.Fatalf("%s: %s", q, text)
		}
		for _, sc := range s.Releases[0].Scans {
			if strings.Contains(fmt.Sprint(sc), "\x00") {
				t.Fatalf("%s: %s", q, sc.SQL)
			}
		}
	}
	if planned < 60 || refused < 60 {
		t.Errorf("%d planned, %d refused", planned, refused)
	}
}
