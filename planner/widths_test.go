package planner

import (
	"fmt"
	"strings"
	"testing"

	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/sample"
)

// TestWidths: a scan may read, and the store may add up, as many columns as follow from the store's
// memory limit, and not one more.
func TestWidths(t *testing.T) {
	h := newHarness(t)
	var doubles, wide []string
	for i := range 40 {
		doubles = append(doubles, fmt.Sprintf("x%d DOUBLE", i))
		wide = append(wide, fmt.Sprintf("w%d DECIMAL(30,2)", i))
	}
	for _, unit := range []string{"BIGINT", "BIGINT PRIMARY KEY"} {
		name := "t"
		if unit != "BIGINT" {
			name = "one"
		}
		if out := h.define("CREATE TABLE " + name + " (person " + unit + ", " + strings.Join(doubles, ", ") + ", " + strings.Join(wide, ", ") + ", `a\"b` DOUBLE, k INT)"); out != "ok" {
			t.Fatal(out)
		}
		if out := h.declare("protect shop." + name + " person person"); out != "ok" {
			t.Fatal(out)
		}
	}
	list := func(from, n int, f string) string {
		var l []string
		for i := from; i < from+n; i++ {
			l = append(l, fmt.Sprintf(f, i))
		}
		return strings.Join(l, ", ")
	}
	sum := func(n int, c string) string { return strings.ReplaceAll(list(0, n, c+"%d"), ", ", " + ") }
	for _, c := range []struct {
		query   string
		refused bool
	}{
		// The unit is one of sixteen columns that are read.
		{"SELECT SUM(" + sum(15, "x") + ") FROM t", false},
		{"SELECT SUM(" + sum(16, "x") + ") FROM t", true},
		{"SELECT SUM(" + sum(15, "x") + " + x3 + x4) FROM t WHERE x1 > 0", false},
		{"SELECT SUM(" + sum(15, "x") + ") FROM t WHERE x15 > 0", true},
		{"SELECT SUM(" + sum(14, "x") + " + `a\"b`) FROM t", false},
		{"SELECT SUM(" + sum(15, "x") + " + `a\"b`) FROM t", true},
		{"SELECT SUM(" + sum(7, "w") + ") FROM t", false},
		{"SELECT SUM(" + sum(8, "w") + ") FROM t", true},
		{"SELECT SUM(y) FROM (SELECT person, " + sum(15, "x") + " AS y FROM t) d", false},
		{"SELECT SUM(y) FROM (SELECT person, " + sum(15, "x") + " AS y FROM t UNION ALL SELECT person, x1 FROM t) d", false},
		{"SELECT SUM(y) FROM (SELECT person, " + sum(16, "x") + " AS y FROM t UNION ALL SELECT person, x1 FROM t) d", true},
		{"SELECT SUM(a.x1 * b.x1) FROM t a JOIN t b ON a.person = b.person WHERE " + sum(15, "a.x") + " > " + sum(15, "b.x"), false},
		{"SELECT SUM(a.x1 * b.x1) FROM t a JOIN t b ON a.person = b.person WHERE " + sum(15, "a.x") + " > " + sum(16, "b.x"), true},
		{"SELECT DP_MEAN(DP_VECTOR(" + list(0, 15, "x%d") + ")) FROM t", false},
		{"SELECT DP_MEAN(DP_VECTOR(" + list(0, 16, "x%d") + ")) FROM t", true},
		{"SELECT DP_MEAN(DP_VECTOR(" + list(0, 15, "x%d") + ")) FROM one", false},
		{"SELECT DP_MEAN(DP_VECTOR(" + list(0, 16, "x%d") + ")) FROM one", true},
		// Eight columns are added up, one of the present rows and one of the values for each; where
		// nothing is added up, there may be more.
		{"SELECT " + list(0, 4, "DP_SUM(x%d)") + " FROM t", false},
		{"SELECT " + list(0, 5, "DP_SUM(x%d)") + " FROM t", true},
		{"SELECT " + list(0, 15, "DP_SUM(x%d)") + " FROM one", false},
		{"SELECT /*+ SET_VAR(dp_group_by='vector') */ k, " + list(0, 8, "SUM(x%d)") + " FROM t GROUP BY k", false},
		{"SELECT /*+ SET_VAR(dp_group_by='vector') */ k, " + list(0, 9, "SUM(x%d)") + " FROM t GROUP BY k", true},
		{"SELECT /*+ SET_VAR(dp_group_by='separate') */ k, " + list(0, 9, "SUM(x%d)") + " FROM t GROUP BY k", true},
	} {
		for _, memory := range []int64{16 * rel.ColumnBytes, 0} {
			h.planner.config.StoreMemory = memory
			_, _, err := h.plan(c.query)
			if refused := c.refused && memory > 0; refused != (rule.Of(err) == rule.Memory) || !refused && err != nil {
				t.Errorf("%s, %d MiB: got %v", c.query, memory>>20, err)
			}
		}
	}
	h.planner.config.StoreMemory = 16 * rel.ColumnBytes
	for width, refused := range map[int]bool{32: false, 33: true} {
		for table, unique := range map[string]bool{"t": false, "one": true} {
			query := "SELECT " + strings.TrimSuffix(strings.Repeat("x1, ", width), ", ") + " FROM " + table
			_, err := h.engine.AnalyzeQuery(sample.With(h.context(query), width, 100), query)
			if (err != nil) != (refused && !unique) || err != nil && !strings.Contains(err.Error(), "values of 33 numbers") {
				t.Errorf("a sample of %d numbers of %s: got %v", width, table, err)
			}
		}
	}
}
