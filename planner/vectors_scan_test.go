package planner

import (
	stdsql "database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	_ "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
	"scrim/planner/plan"
	"scrim/planner/rel"
)

// click is a row of shop.clicks; nil is NULL.
type click struct {
	visitor, page, upage, kind, vec, x, y any
}

// oddClicks makes rows that hold everything that a row must not fail on: NULL, NaN, infinities,
// both zeros as a unit, items outside the range.
func oddClicks(r *rand.Rand, n int) []click {
	pick := func(list ...any) any { return list[r.IntN(len(list))] }
	number := func() any {
		return pick(r.NormFloat64(), r.NormFloat64()*100, nil, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 0.0)
	}
	rows := make([]click, n)
	for i := range rows {
		rows[i] = click{
			visitor: pick(1.0, 2.0, 3.5, 0.0, math.Copysign(0, -1), nil, math.NaN(), 7.0, -1e9),
			page:    pick(0, 1, 2, 3, 9, 10, -1, nil, math.MaxInt32), upage: pick(uint64(0), uint64(5), uint64(9), uint64(10), uint64(math.MaxUint64), nil),
			kind: pick("a", "b", "c", nil), x: number(), y: pick(1, -7, nil, math.MinInt32),
			vec: pick([]any{number(), number()}, []any{r.NormFloat64(), r.NormFloat64()}, []any{r.NormFloat64(), r.NormFloat64()}, nil),
		}
	}
	return rows
}

// literal writes a value for the store.
func literal(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case float64:
		return fmt.Sprintf("'%v'::DOUBLE", x)
	case string:
		return "'" + x + "'"
	case []any:
		return "[" + literal(x[0]) + ", " + literal(x[1]) + "]"
	}
	return fmt.Sprint(v)
}

// duckDB is an empty store in memory.
func duckDB(t *testing.T) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// clicksStore is a store with the rows.
func clicksStore(t *testing.T, rows []click) *stdsql.DB {
	t.Helper()
	db := duckDB(t)
	items := make([]string, len(rows))
	for i, c := range rows {
		items[i] = "(" + strings.Join([]string{fmt.Sprint(i), literal(c.visitor), literal(c.page), literal(c.upage), literal(c.kind), "NULL", literal(c.vec), literal(c.x), literal(c.y)}, ", ") + ")"
	}
	for _, q := range []string{
		"CREATE SCHEMA shop",
		`CREATE TABLE shop.clicks (cid INTEGER, visitor DOUBLE, page INTEGER, upage UBIGINT, kind VARCHAR, "at" DATE, vec DOUBLE[2], x DOUBLE, y INTEGER)`,
		"INSERT INTO shop.clicks VALUES " + strings.Join(items, ", "),
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// runScan runs a scan with one secret for all.
func runScan(t *testing.T, db *stdsql.DB, sc plan.Scan) [][]any {
	t.Helper()
	args := make([]any, len(sc.Args))
	for i, a := range sc.Args {
		if args[i] = a; a == any(plan.SecretArg{Index: 0}) {
			args[i] = int64(4711)
		}
	}
	rs, err := db.Query(sc.SQL, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, sc.SQL)
	}
	defer rs.Close()
	types, err := rs.ColumnTypes()
	if err != nil || len(types) != len(sc.Types) {
		t.Fatalf("%d columns, want %d (%v)", len(types), len(sc.Types), err)
	}
	for i, c := range types {
		want := map[store.ScanType]string{store.ScanInt64: "BIGINT", store.ScanText: "VARCHAR", store.ScanVector: "DOUBLE[2]"}[sc.Types[i]]
		if c.DatabaseTypeName() != want {
			t.Fatalf("column %d has type %s, want %s\n%s", i, c.DatabaseTypeName(), want, sc.SQL)
		}
	}
	var out [][]any
	for rs.Next() {
		row, to := make([]any, len(types)), make([]any, len(types))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rs.Scan(to...); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := rs.Err(); err != nil {
		t.Fatalf("%v\n%s", err, sc.SQL)
	}
	return out
}

// vectorQueries lists queries on clicks whose only aggregate is one of vectors; the last scan is
// its own.
var vectorQueries = []string{
	"SELECT DP_MEAN(vec) FROM clicks",
	"SELECT kind, DP_MEAN(vec) FROM clicks GROUP BY kind",
	"SELECT page, DP_MEAN(vec) FROM clicks GROUP BY page",
	"SELECT /*+ SET_VAR(dp_max_groups_contributed=1) */ kind, DP_MEAN(vec) FROM clicks WHERE x > 0 GROUP BY kind",
	"SELECT DP_SUM(DP_VECTOR(x, y)) FROM clicks",
	"SELECT kind, DP_MEAN(DP_VECTOR(x, y, x + y)) FROM clicks GROUP BY kind",
	"SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ page, DP_MEAN(DP_VECTOR(x, y)) FROM clicks GROUP BY page",
	"SELECT DP_MEAN(DP_ONEHOT(page, 'dimension=10')) FROM clicks",
	"SELECT /*+ SET_VAR(dp_max_groups_contributed=1) */ kind, DP_MEAN(DP_ONEHOT(upage, 'dimension=10')) FROM clicks GROUP BY kind",
	"SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ page, DP_MEAN(DP_ONEHOT(page, 'dimension=10')) FROM clicks GROUP BY page",
	"SELECT DP_MEAN(v) FROM (SELECT DP_VECTOR(x, y) AS v FROM clicks WHERE page > 0) d",
	"SELECT DP_MEAN(DP_VECTOR(DP_VALUE(vec, 1), DP_VALUE(v, 2))) FROM (SELECT vec, DP_VECTOR(x, y) AS v FROM clicks WHERE DP_VALUE(vec, 2) > 0) d",
	"SELECT DP_MEAN(vec) FROM (SELECT vec FROM clicks WHERE page > 0 UNION ALL SELECT vec FROM clicks WHERE y = 1) d",
	"SELECT kind, DP_MEAN(j, 'dimension=2') FROM (SELECT kind, CONCAT('[', x, ', ', y, IF(page > 3, '', ']')) AS j FROM clicks) d GROUP BY kind",
}

// narrowQuery reads as many columns as the store of TestVectorScansAreSound has memory for, which
// cannot add up its two coordinates.
const narrowQuery = "SELECT /*+ SET_VAR(dp_max_groups_contributed=2) */ page, DP_MEAN(DP_VECTOR(x, x)) FROM clicks GROUP BY page"

// TestVectorScansAreSound drops each person in turn: of what a scan returns only that person's rows
// may go, and they are in no more groups than the loss is multiplied by.
func TestVectorScansAreSound(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	rows := oddClicks(rand.New(rand.NewPCG(1, 2)), 400)
	units := map[float64]bool{}
	for _, c := range rows {
		if v, ok := c.visitor.(float64); ok && !math.IsNaN(v) {
			units[v+0] = true // +0: both zeros are one person
		}
	}
	all := clicksStore(t, rows)
	without := map[float64]*stdsql.DB{}
	for u := range units {
		without[u] = clicksStore(t, slices.DeleteFunc(slices.Clone(rows), func(c click) bool { return c.visitor == any(u) }))
	}
	for _, q := range append(vectorQueries, narrowQuery) {
		h.planner.config.StoreMemory = 0
		if q == narrowQuery {
			h.planner.config.StoreMemory = 3 * rel.ColumnBytes
		}
		s, n, err := h.plan(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		r := s.Releases[0]
		sc := r.Scans[len(r.Scans)-1]
		whole := runScan(t, all, sc)
		gone := 0
		for u, db := range without {
			lost := difference(t, q, whole, runScan(t, db, sc))
			groups, names := map[string]bool{}, map[any]bool{}
			for _, row := range lost {
				groups[fmt.Sprint(row[:groupColumns(r)]...)] = true
				if sc.Rows {
					names[row[groupColumns(r)]] = true
				}
			}
			if sc.Rows && len(lost) > 0 && len(names) != 1 {
				t.Errorf("%s: person %v has the names %v", q, u, names)
			}
			if len(groups) > r.PerUnit || !sc.Rows && len(lost) > r.PerUnit {
				t.Errorf("%s: person %v is in %d groups with %d rows, want at most %d groups", q, u, len(groups), len(lost), r.PerUnit)
			}
			gone += len(lost)
		}
		if gone != len(whole) || gone == 0 {
			t.Errorf("%s: the persons have %d rows together, the scan has %d", q, gone, len(whole))
		}
	}
}

// groupColumns is the number of columns that name a group.
func groupColumns(r *plan.Release) int {
	if r.Selection != nil {
		return len(r.Keys)
	}
	return min(1, len(r.Keys))
}

// difference returns the rows of a that are not in b, which must all be in a.
func difference(t *testing.T, q string, a, b [][]any) [][]any {
	t.Helper()
	count := map[string]int{}
	for _, row := range b {
		count[fmt.Sprint(row...)]++
	}
	var out [][]any
	for _, row := range a {
		if k := fmt.Sprint(row...); count[k] > 0 {
			count[k]--
		} else {
			out = append(out, row)
		}
	}
	for k, n := range count {
		if n > 0 {
			t.Errorf("%s: %d rows %s come only when a person is gone", q, n, k)
		}
	}
	return out
}

// TestCoordinates compares the sums of a DP_VECTOR with sums made here: a row counts where all its
// coordinates are present, each coordinate is rounded half to even and clamped to the grid.
func TestCoordinates(t *testing.T) {
	h := newHarness(t)
	h.fixture("shop")
	rows := oddClicks(rand.New(rand.NewPCG(3, 4)), 500)
	s, _, err := h.plan("SELECT DP_SUM(DP_VECTOR(x, y), 'lower=-50, upper=1000') FROM clicks")
	if err != nil {
		t.Fatal(err)
	}
	a := s.Releases[0].Aggregates[0]
	want := map[float64]*[3]int64{}
	index := func(x float64) int64 {
		return int64(min(max(math.RoundToEven(x/a.Vector.Grid.Step), float64(a.Vector.Grid.Lo)), float64(a.Vector.Grid.Hi)))
	}
	for _, c := range rows {
		u, ok1 := c.visitor.(float64)
		x, ok2 := c.x.(float64)
		y, ok3 := c.y.(int)
		if !ok1 || !ok2 || !ok3 || math.IsNaN(u) || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		sum := want[u+0]
		if sum == nil {
			sum = new([3]int64)
			want[u+0] = sum
		}
		sum[0], sum[1], sum[2] = sum[0]+1, sum[1]+index(x), sum[2]+index(float64(y))
	}
	var got, expected []string
	for _, row := range runScan(t, clicksStore(t, rows), s.Releases[0].Scans[a.Scan]) {
		got = append(got, fmt.Sprint(row...))
	}
	for _, sum := range want {
		expected = append(expected, fmt.Sprint(sum[0], sum[1], sum[2]))
	}
	slices.Sort(got)
	slices.Sort(expected)
	if !slices.Equal(got, expected) || len(got) < 5 {
		t.Errorf("got %v\nwant %v", got, expected)
	}
}
