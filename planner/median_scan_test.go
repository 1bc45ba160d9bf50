package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

// TestMedianScans compares the persons' lower medians with those of sorted lists, over persons of
// one row and of many, ties, NULL, the ends of the grid, and a person who owns most rows.
func TestMedianScans(t *testing.T) {
	h := newHarness(t)
	if out := h.define("CREATE TABLE t (person BIGINT NOT NULL, g BIGINT, x BIGINT)"); out != "ok" {
		t.Fatal(out)
	}
	if out := h.declare("protect shop.t person person"); out != "ok" {
		t.Fatal(out)
	}
	db := duckDB(t)
	r := rand.New(rand.NewPCG(7, 8))
	const limit = estimator.MaxUnits
	values := map[string][]int64{} // by group and person
	var items []string
	for range 6000 {
		person, g := r.Int64N(200), r.Int64N(3)
		if r.IntN(2) == 0 {
			person = 7
		}
		x, text := r.Int64N(40)-20, ""
		switch r.IntN(20) {
		case 0:
			text = "NULL"
		case 1:
			x = []int64{limit, -limit, limit + 1, -limit - 1, 1<<63 - 1, -1 << 63}[r.IntN(6)]
		}
		if text == "" {
			key := fmt.Sprint(g, " ", person)
			values[key], text = append(values[key], x), fmt.Sprint(x)
		}
		items = append(items, fmt.Sprintf("(%d, %d, %s)", person, g, text))
	}
	for _, q := range []string{"CREATE SCHEMA shop", "CREATE TABLE shop.t (person BIGINT NOT NULL, g BIGINT, x BIGINT)", "INSERT INTO shop.t VALUES " + strings.Join(items, ", ")} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	for _, v := range values {
		slices.Sort(v)
		want = append(want, fmt.Sprint(len(v), " ", min(max(v[(len(v)-1)/2], -limit), limit)))
	}
	slices.Sort(want)
	s, _, err := h.plan("SELECT g, DP_MEDIAN(x) FROM t GROUP BY g")
	if err != nil {
		t.Fatal(err)
	}
	a := s.Releases[0].Aggregates[0]
	sc := s.Releases[0].Scans[a.Scan]
	if strings.Contains(sc.SQL, "quantile") {
		t.Errorf("a state that grows with a person's rows: %s", sc.SQL)
	}
	var got []string
	for _, row := range runScan(t, db, sc) {
		if n := row[a.Columns[0]].(int64); n > 0 {
			got = append(got, fmt.Sprint(n, " ", row[a.Columns[1]]))
		}
	}
	slices.Sort(got)
	if d := s.Releases[0].MaxGroups; d > 0 && d < 3 {
		t.Fatalf("%d groups a person are kept", d)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d persons, want %d\n%v\n%v", len(got), len(want), got[:min(9, len(got))], want[:9])
	}
}
