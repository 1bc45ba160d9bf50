package planner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// TestPersonScan compares the scans of means of sixteen columns with the files that the benchmark
// of per-person aggregation in engine/exec runs, so that it measures the statements that are
// planned. SCRIM_REWRITE=1 writes the files.
func TestPersonScan(t *testing.T) {
	for _, typ := range []string{"INTEGER", "DOUBLE"} {
		h := newHarness(t)
		var columns, names []string
		for j := 1; j <= 16; j++ {
			names = append(names, fmt.Sprintf("c%d", j))
			columns = append(columns, names[j-1]+" "+typ)
		}
		if out := h.define("CREATE TABLE t (person BIGINT, " + strings.Join(columns, ", ") + ")"); out != "ok" {
			t.Fatal(out)
		}
		if out := h.declare("protect shop.t person person"); out != "ok" {
			t.Fatal(out)
		}
		s, _, err := h.plan("SELECT DP_MEAN(DP_VECTOR(" + strings.Join(names, ", ") + ")) FROM t")
		if err != nil {
			t.Fatal(err)
		}
		a := s.Releases[0].Aggregates[0]
		got := s.Releases[0].Scans[a.Scan].SQL + "\n"
		file := filepath.Join("testdata", "persons", strings.ToLower(typ)+".sql")
		if os.Getenv("SCRIM_REWRITE") != "" {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s: the scan is now %s(%v)", typ, got, err)
		}
	}
}

// TestWhoAddsUp: the executor adds up the rows of columns where it can take a unit with each row
// and all groups of a person are kept, and where the store has no memory for the sums. What neither
// can add up is refused, by public facts alone.
func TestWhoAddsUp(t *testing.T) {
	// The store adds up 8 coordinates, and orders arrays of 32; the executor takes rows of 32.
	const store, query = 8 * rel.StateBytes, 32 * 2 * plan.ChunkVectors * plan.ChunkRows * 8
	sums := func(n int) string { return "DP_VECTOR(a, b" + strings.Repeat(", a + b", n-2) + ")" }
	for _, c := range []struct {
		unit, query string
		memory      int64
		rows        bool
		refused     string
	}{
		{"BIGINT", "SELECT DP_MEAN(" + sums(2) + ") FROM t", query, true, ""},
		{"BIGINT", "SELECT DP_MEAN(" + sums(2) + "), DP_SUM(" + sums(2) + ") FROM t", query, true, ""},
		{"BIGINT", "SELECT DP_MEAN(" + sums(8) + ") FROM t", query/4 - 1, false, ""},
		{"VARCHAR(9)", "SELECT DP_MEAN(" + sums(8) + ") FROM t", query, false, ""},
		{"DOUBLE", "SELECT DP_MEAN(" + sums(8) + ") FROM t", query, false, ""},
		{"BIGINT", "SELECT b, DP_MEAN(" + sums(8) + ") FROM t GROUP BY b", query, false, ""},
		{"BIGINT PRIMARY KEY", "SELECT DP_MEAN(" + sums(2) + ") FROM t", query, false, ""},
		{"BIGINT PRIMARY KEY", "SELECT DP_MEAN(" + sums(1024) + ") FROM t", 100 * query, false, ""},

		{"BIGINT", "SELECT DP_MEAN(" + sums(9) + ") FROM t", query, true, ""},
		{"VARCHAR(9)", "SELECT DP_MEAN(" + sums(9) + ") FROM t", query, true, ""},
		{"DOUBLE", "SELECT DP_MEAN(" + sums(32) + ") FROM t", query, true, ""},
		{"VARCHAR(9)", "SELECT DP_MEAN(" + sums(33) + ") FROM t", query, false, "raise --query-memory"},
		{"VARCHAR(9)", "SELECT DP_MEAN(" + sums(1024) + ") FROM t", 100 * query, true, ""},
		{"BIGINT", "SELECT b, DP_MEAN(" + sums(32) + ") FROM t GROUP BY b", query, true, ""},
		{"BIGINT", "SELECT b, DP_MEAN(" + sums(33) + ") FROM t GROUP BY b", 2 * query, false, "raise --memory-limit"},
		{"BIGINT", "SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ g, DP_MEAN(" + sums(33) + ") FROM t GROUP BY g", 2 * query, false, "Set dp_max_groups_contributed = 3,"},
		{"BIGINT", "SELECT /*+ SET_VAR(dp_max_groups_contributed=3) */ g, DP_MEAN(" + sums(33) + ") FROM t GROUP BY g", 2 * query, true, ""},
		// Arrays are ordered where groups are bounded.
		{"BIGINT", "SELECT b, DP_MEAN(j, 'dimension=32') FROM t GROUP BY b", query, true, ""},
		{"BIGINT", "SELECT b, DP_MEAN(j, 'dimension=33') FROM t GROUP BY b", 2 * query, false, "raise --memory-limit"},
		{"BIGINT", "SELECT g, DP_MEAN(j, 'dimension=33') FROM t GROUP BY g", 2 * query, true, ""},
		{"BIGINT", "SELECT DP_MEAN(j, 'dimension=33') FROM t", 2 * query, true, ""},
		{"BIGINT", "SELECT b, DP_SUM(DP_ONEHOT(b, 'dimension=1000')) FROM t GROUP BY b", query, true, ""},
	} {
		h := newHarness(t)
		if out := h.define("CREATE TABLE t (person " + c.unit + ", a DOUBLE, b INTEGER, g INTEGER, j TEXT)"); out != "ok" {
			t.Fatal(out)
		}
		if out := h.declare("protect shop.t person person\ndomain shop.t g [1,2,3]"); out != "ok" {
			t.Fatal(out)
		}
		h.planner.config.Memory, h.planner.config.StoreMemory = c.memory, store
		s, n, err := h.plan(c.query)
		if c.refused != "" {
			if rule.Of(err) != rule.Memory || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s, %.60s: got %v, want a refusal that says %s", c.unit, c.query, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %.60s: %v", c.unit, c.query, err)
			continue
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Errorf("%s, %.60s: %v", c.unit, c.query, err)
		}
		for _, a := range s.Releases[0].Aggregates {
			if sc := s.Releases[0].Scans[a.Scan]; sc.Rows != c.rows || (a.Vector.Form == plan.Coordinates) == c.rows {
				t.Errorf("%s, %.60s: rows %v, form %v", c.unit, c.query, sc.Rows, a.Vector.Form)
			}
		}
	}
}

// TestWhoAddsUpGroups: the executor adds up few numbers of rows whose unit is an integer and whose
// keys are public, of groups that are answered at once and of a few thousand of them that are
// answered each by itself. Whether a unit is present is no sum.
func TestWhoAddsUpGroups(t *testing.T) {
	for _, c := range []struct {
		unit, query string
		rows        bool
	}{
		{"BIGINT", "SELECT g, COUNT(*), AVG(a) FROM t GROUP BY g", true},
		{"BIGINT", "SELECT g, SUM(a), COUNT(*) FROM t GROUP BY g", true},
		{"BIGINT", "SELECT g, AVG(b) FROM t GROUP BY g", true},
		{"BIGINT", "SELECT g, AVG(a), AVG(b) FROM t GROUP BY g", false},
		{"BIGINT", "SELECT g, COUNT(*), COUNT(DISTINCT person) FROM t GROUP BY g", false},
		{"BIGINT", "SELECT b, COUNT(*) FROM t GROUP BY b", false},
		{"VARCHAR(9)", "SELECT g, COUNT(*), AVG(a) FROM t GROUP BY g", false},
		{"DOUBLE", "SELECT g, COUNT(*), AVG(a) FROM t GROUP BY g", false},
	} {
		h := newHarness(t)
		if out := h.define("CREATE TABLE t (person " + c.unit + ", a DOUBLE, b INTEGER, g INTEGER)"); out != "ok" {
			t.Fatal(out)
		}
		if out := h.declare("protect shop.t person person\ndomain shop.t g [1,2,3]"); out != "ok" {
			t.Fatal(out)
		}
		for way, hint := range map[string]string{
			"vector": "SET_VAR(dp_group_by='vector')", "separate": "SET_VAR(dp_group_by='separate') SET_VAR(dp_max_groups_contributed=3)",
			"bounded": "SET_VAR(dp_group_by='separate') SET_VAR(dp_max_groups_contributed=2)",
		} {
			s, n, err := h.plan(strings.Replace(c.query, "SELECT", "SELECT /*+ "+hint+" */", 1))
			if err == nil {
				err = plan.Verify(sql.NewEmptyContext(), s, n)
			}
			if err != nil {
				t.Errorf("%s, %s, %s: %v", c.unit, c.query, way, err)
				continue
			}
			r := s.Releases[0]
			sc, rows := r.Scans[r.Aggregates[0].Scan], c.rows && way != "bounded"
			if sc.Units != (way == "vector") || sc.Adds != (rows && way == "separate") || strings.Contains(sc.SQL, "GROUP BY") == rows {
				t.Errorf("%s, %s, %s: rows %v expected of %+v", c.unit, c.query, way, rows, sc)
			}
		}
	}
}
