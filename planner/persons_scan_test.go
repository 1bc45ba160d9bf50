package planner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/catalog"
)

// TestPersonScan compares the scans of means of sixteen columns with the files that the benchmark of per-person
// aggregation in engine/exec runs, so that it measures the statements that are planned. SCRIM_REWRITE=1 writes the files.
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

// TestWhoAddsUp: the executor adds up the rows of columns where it can take a unit with each row and all groups of a person are
// kept, and nothing is refused because it could not.
func TestWhoAddsUp(t *testing.T) {
	const few, most = 48 << 10, 4 << 20
	for _, c := range []struct {
		unit, query string
		memory      int64
		rows        bool
	}{
		{"BIGINT", "SELECT DP_MEAN(DP_VECTOR(a, b)) FROM t", most, true},
		{"BIGINT", "SELECT DP_MEAN(DP_VECTOR(a, b)), DP_SUM(DP_VECTOR(a, b)) FROM t", most, true},
		{"BIGINT", "SELECT DP_MEAN(DP_VECTOR(a, b)) FROM t", few, false},
		{"VARCHAR(9)", "SELECT DP_MEAN(DP_VECTOR(a, b)) FROM t", most, false},
		{"DOUBLE", "SELECT DP_MEAN(DP_VECTOR(a, b)) FROM t", most, false},
		{"BIGINT", "SELECT b, DP_MEAN(DP_VECTOR(a, b)) FROM t GROUP BY b", most, false},
		{"BIGINT PRIMARY KEY", "SELECT DP_MEAN(DP_VECTOR(a, b)) FROM t", most, false},
	} {
		h := newHarness(t)
		if out := h.define("CREATE TABLE t (person " + c.unit + ", a DOUBLE, b INTEGER)"); out != "ok" {
			t.Fatal(out)
		}
		h.policies["shop.t"] = catalog.Table{Name: "shop.t", Account: "t", State: catalog.Protected, Entity: "person", Unit: catalog.Unit{Column: "person"}}
		h.planner.config.Memory, h.planner.config.StoreMemory = most, c.memory
		s, n, err := h.plan(c.query)
		if err != nil {
			t.Fatalf("%s, %s: %v", c.unit, c.query, err)
		}
		if err := Verify(s, n); err != nil {
			t.Errorf("%s, %s: %v", c.unit, c.query, err)
		}
		for _, a := range s.Releases[0].Aggregates {
			sc := s.Releases[0].Scans[a.Scan]
			if sc.Rows != c.rows || (a.Vector.Form == Arrays) != c.rows {
				t.Errorf("%s, %s: rows %v, form %v", c.unit, c.query, sc.Rows, a.Vector.Form)
			}
		}
	}
}
