package planner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
