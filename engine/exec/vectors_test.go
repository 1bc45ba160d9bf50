package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/internal/spill"
	"scrim/planner/plan"
	"scrim/test/stattest"
)

var (
	textVector = []store.ScanType{store.ScanInt64, store.ScanText, store.ScanVector}
	intVector  = []store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanVector}
	bareVector = []store.ScanType{store.ScanInt64, store.ScanVector}
	intPair    = []store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanInt64}
)

const limit = estimator.MaxUnits

// eighths is a grid of steps 1/8.
var eighths = estimator.Grid{Step: 0.125, Lo: -limit, Hi: limit}

// taken is what the executor makes of one scan with public groups.
func taken(t *testing.T, s store.Store, groups int, scan plan.Scan, aggregates ...plan.Aggregate) (*intake, error) {
	t.Helper()
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	r := &plan.Release{Scans: []plan.Scan{scan}, Aggregates: aggregates, Groups: groups, Keys: []plan.Key{{}}}
	in, err := scanned(snap, r, spillArea(t))
	if err != nil {
		return nil, err
	}
	return in, blocks(context.Background(), []*intake{in}, groups)
}

// told is an error with what the store's driver says of it.
func told(err error) string {
	if e := (*store.Error)(nil); errors.As(err, &e) {
		return err.Error() + ": " + e.Driver
	}
	return err.Error()
}

// scanned runs the one scan of a release.
func scanned(snap store.Snapshot, r *plan.Release, memory *spill.Area) (*intake, error) {
	x := &Executor{Noise: func() noise.Noiser { return stattest.Zero{} }}
	scans, err := x.scan(context.Background(), snap, r, publicKeys(r), nil, memory, secrets{noise: x.Noise(), drawn: map[int]int64{}}, &progress{})
	if err != nil {
		return nil, err
	}
	return scans[0], nil
}

// endsWithTheDisk checks that a scan fails where what it takes cannot be written.
func endsWithTheDisk(t *testing.T, s store.Store, scan plan.Scan, a plan.Aggregate) {
	t.Helper()
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	memory := spill.NewPool(spill.Disk{Dir: file}, 1<<20).Area()
	defer memory.Close()
	r := &plan.Release{Scans: []plan.Scan{scan}, Aggregates: []plan.Aggregate{a}, Groups: 1, Keys: []plan.Key{{}}}
	var full *spill.Full
	if _, err := scanned(snap, r, memory); !errors.As(err, &full) {
		t.Errorf("%s: got %v, want a full disk", scan.SQL, err)
	}
}

// spillArea is memory of which a part lies on disk: little is taken from elsewhere.
func spillArea(t testing.TB) *spill.Area {
	a := spill.NewPool(spill.Disk{Dir: t.TempDir()}, 1<<20).Area()
	t.Cleanup(func() { a.Close() })
	return a
}

// written writes a block's persons as "rows:[numbers]", sorted, after checking its shape.
func written(t *testing.T, b *estimator.Block) []string {
	t.Helper()
	var out []string
	for _, c := range b.Chunks {
		if c.Persons < 1 || c.Rows != nil && len(c.Rows) != c.Persons {
			t.Fatalf("chunk of %d persons with %d counts", c.Persons, len(c.Rows))
		}
		if b.Sparse && len(c.Starts) != c.Persons+1 || !b.Sparse && len(c.Dense) != c.Persons*b.Dim {
			t.Fatalf("chunk of %d persons with %d starts, %d numbers", c.Persons, len(c.Starts), len(c.Dense))
		}
		for i := range c.Persons {
			rows := int64(1)
			if c.Rows != nil {
				rows = c.Rows[i]
			}
			if b.Sparse {
				out = append(out, fmt.Sprint(rows, ":", c.Index[c.Starts[i]:c.Starts[i+1]]))
			} else {
				out = append(out, fmt.Sprint(rows, ":", c.Dense[i*b.Dim:(i+1)*b.Dim]))
			}
		}
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %.300q, want %.300q", what, got, want)
	}
}

// point is a row of d.points.
type point struct {
	group, unit int64
	v           []string // SQL; nil for NULL
}

func fill(t *testing.T, s store.Store, dim int, points []point) {
	t.Helper()
	var b strings.Builder
	for i, p := range points {
		v := "NULL"
		if p.v != nil {
			v = "[" + strings.Join(p.v, ",") + "]"
		}
		fmt.Fprintf(&b, "%s(%d,%d,%s)", map[bool]string{true: "", false: ","}[i == 0], p.group, p.unit, v)
	}
	write(t, s, fmt.Sprintf("CREATE OR REPLACE TABLE d.points (g BIGINT, u BIGINT, v DOUBLE[%d])", dim))
	write(t, s, "INSERT INTO d.points VALUES "+b.String())
}

// randomPoints draws rows of 4 groups and 60 units, every tenth of which is absent in some way.
func randomPoints(rng *rand.Rand, n int) []point {
	bad := []string{"NULL", "'nan'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE"}
	out := make([]point, n)
	for i := range out {
		p := point{group: rng.Int64N(4), unit: rng.Int64N(60)}
		for range 3 {
			p.v = append(p.v, fmt.Sprintf("%.3f", rng.NormFloat64()*50))
		}
		switch rng.IntN(20) {
		case 0:
			p.v = nil
		case 1:
			p.v[rng.IntN(3)] = bad[rng.IntN(len(bad))]
		}
		out[i] = p
	}
	return out
}

// indexes brings a row onto eighths the plain way; ok is false where it is absent.
func indexes(v []string) (out []int64, ok bool) {
	for _, word := range v {
		var x float64
		if _, err := fmt.Sscan(strings.Trim(word, "':DOUBLE"), &x); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, false
		}
		out = append(out, int64(math.RoundToEven(x*8)))
	}
	return out, v != nil
}

// TestArraysOfSeveralRows: a person's rows come together whatever their order, and whatever the
// type of the unit.
func TestArraysOfSeveralRows(t *testing.T) {
	s, _ := fixture(t)
	rng := rand.New(rand.NewPCG(1, 2))
	points := randomPoints(rng, 3000)
	fill(t, s, 3, points)
	type owner struct{ g, u int64 }
	sums, rows, everybody := map[owner][]int64{}, map[owner]int{}, map[owner]bool{}
	for _, p := range points {
		o := owner{p.group, p.unit}
		everybody[o] = true
		if k, ok := indexes(p.v); ok {
			if sums[o] == nil {
				sums[o] = make([]int64, 3)
			}
			for j := range k {
				sums[o][j] += k[j]
			}
			rows[o]++
		}
	}
	a := plan.Aggregate{Columns: []int{2}, Vector: &plan.Vector{Dim: 3, Grid: eighths}}
	for _, scan := range []plan.Scan{
		{SQL: "SELECT g, u, v FROM d.points", Types: intVector, Rows: true},
		{SQL: "SELECT g, u, v FROM d.points ORDER BY hash(u, v)", Types: intVector, Rows: true},
		{SQL: "SELECT g, 'unit ' || u, v FROM d.points ORDER BY u DESC", Types: textVector, Rows: true},
		{SQL: "SELECT g, u, v FROM d.points UNION ALL SELECT 1, NULL, [1, 2, 3]", Types: intVector, Rows: true},
	} {
		in, err := taken(t, s, 5, scan, a, a)
		if err != nil {
			t.Fatal(err)
		}
		for g := range int64(5) {
			var want []string
			n := int64(0)
			for o := range everybody {
				if o.g == g {
					n++
					if rows[o] > 0 {
						want = append(want, fmt.Sprint(rows[o], ":", sums[o]))
					}
				}
			}
			same(t, fmt.Sprint(scan.SQL, ", group ", g), written(t, inputOf(t, in, a, int(g)).Vectors), want)
			if in.persons.counts[g] != n {
				t.Errorf("%s: got %d persons, want %d: those whose rows are all absent too", scan.SQL, in.persons.counts[g], n)
			}
		}
		if len(in.vectors) != 1 {
			t.Errorf("two aggregates of one column have %d blocks", len(in.vectors))
		}
	}
}

func TestArraysOfOneRow(t *testing.T) {
	s, _ := fixture(t)
	points := randomPoints(rand.New(rand.NewPCG(3, 4)), 5000)
	fill(t, s, 3, points)
	a := plan.Aggregate{Columns: []int{1}, Vector: &plan.Vector{Dim: 3, Grid: eighths}}
	in, err := taken(t, s, 4, plan.Scan{SQL: "SELECT g, v FROM d.points", Types: bareVector}, a)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]string, 4)
	for _, p := range points {
		if k, ok := indexes(p.v); ok {
			want[p.group] = append(want[p.group], fmt.Sprint(1, ":", k))
		}
	}
	for g := range want {
		same(t, fmt.Sprint("group ", g), written(t, inputOf(t, in, a, g).Vectors), want[g])
	}
}

// TestLongSums: sums that leave 64 bits on the way are exact and clamped in the end, in every
// order. Person 0 has rows of one sign, 1 and 2 more of one than of the other, those of 3 and 4
// cancel but for one row.
func TestLongSums(t *testing.T) {
	s, _ := fixture(t)
	write(t, s, `CREATE TABLE d.long AS SELECT CAST(0 AS BIGINT) AS g, CAST(u AS BIGINT) AS u, i, CAST([CASE
			WHEN u = 0 THEN 1e30 WHEN u <= 2 THEN CASE WHEN (i % 3 > 0) = (u = 1) THEN 1e30 ELSE -1e30 END
			WHEN i = 0 THEN 3 WHEN i = 1 AND u = 4 THEN 4 WHEN i % 2 = 0 THEN 1e30 ELSE -1e30 END, -1] AS DOUBLE[2]) AS v
		FROM range(5) a(u), range(30000) b(i) WHERE u > 0 OR i < 8193`)
	a := plan.Aggregate{Columns: []int{2}, Vector: &plan.Vector{Dim: 2, Grid: eighths}}
	var want []string
	for u, x := range []int64{limit, limit, -limit, 8*3 - limit, 8 * (3 + 4)} {
		n := int64(30000)
		if u == 0 {
			n = 8193
		}
		want = append(want, fmt.Sprint(n, ":", []int64{x, -8 * n}))
	}
	for _, order := range []string{"i", "-i", "hash(i)", "v, i", "v DESC"} {
		in, err := taken(t, s, 1, plan.Scan{SQL: "SELECT g, u, v FROM d.long ORDER BY " + order, Types: intVector, Rows: true}, a)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "by "+order, written(t, inputOf(t, in, a, 0).Vectors), want)
	}
}

func TestCoordinates(t *testing.T) {
	s, _ := fixture(t)
	write(t, s, `CREATE TABLE d.sums AS SELECT CAST(i % 3 AS BIGINT) AS g, CAST(CASE WHEN i % 7 = 0 THEN 0 WHEN i % 11 = 0 THEN NULL ELSE i % 5 + 1 END AS BIGINT) AS n,
		CAST(i AS BIGINT) AS a, CAST(-i AS BIGINT) AS b, CAST(CASE WHEN i % 2 = 0 THEN 4e18 END AS BIGINT) AS c FROM range(5000) r(i)`)
	a := plan.Aggregate{Columns: []int{4, 1, 3, 2}, Vector: &plan.Vector{Form: plan.Coordinates, Dim: 3}}
	types := []store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanInt64, store.ScanInt64, store.ScanInt64}
	plain := plan.Aggregate{Columns: []int{2}}
	in, err := taken(t, s, 4, plan.Scan{SQL: "SELECT g, a, b, c, n FROM d.sums", Types: types}, a, plain)
	if err != nil {
		t.Fatal(err)
	}
	want, b := make([][]string, 4), int64(0)
	for i := range int64(5000) {
		if i%3 == 1 {
			b -= i
		}
		if i%7 == 0 || i%11 == 0 {
			continue
		}
		c := int64(0)
		if i%2 == 0 {
			c = limit
		}
		want[i%3] = append(want[i%3], fmt.Sprint(i%5+1, ":", []int64{i, c, -i}))
	}
	for g := range want {
		same(t, fmt.Sprint("group ", g), written(t, inputOf(t, in, a, g).Vectors), want[g])
	}
	for _, k := range inputOf(t, in, plain, 1).Columns[0] {
		b -= k
	}
	if b != 0 {
		t.Error("the column beside the vectors is not as stored")
	}
}

// TestVectorsEndWithTheDisk: every form of vectors is made where its numbers lie on disk, and ends
// where that cannot be written.
func TestVectorsEndWithTheDisk(t *testing.T) {
	s, _ := fixture(t)
	write(t, s, "CREATE TABLE d.many AS SELECT CAST(0 AS BIGINT) AS g, i AS u, CAST([i, i, i, i] AS DOUBLE[4]) AS v FROM range(400000) r(i)")
	array := &plan.Vector{Dim: 4, Grid: eighths}
	for name, c := range map[string]struct {
		scan plan.Scan
		a    plan.Aggregate
	}{
		"arrays":      {plan.Scan{SQL: "SELECT g, v FROM d.many", Types: bareVector}, plan.Aggregate{Columns: []int{1}, Vector: array}},
		"rows":        {plan.Scan{SQL: "SELECT g, u, v FROM d.many", Types: intVector, Rows: true}, plan.Aggregate{Columns: []int{2}, Vector: array}},
		"texts":       {plan.Scan{SQL: "SELECT g, 'unit ' || u, NULL::DOUBLE[4] FROM d.many", Types: textVector, Rows: true}, plan.Aggregate{Columns: []int{2}, Vector: array}},
		"coordinates": {plan.Scan{SQL: "SELECT g, 1::BIGINT, u FROM d.many", Types: intPair}, plan.Aggregate{Columns: []int{1, 2}, Vector: &plan.Vector{Form: plan.Coordinates, Dim: 1}}},
		"pairs":       {plan.Scan{SQL: "SELECT g, 1::BIGINT, u FROM d.many UNION ALL FROM (SELECT g, 2::BIGINT, u FROM d.many)", Types: intPair, Rows: true}, plan.Aggregate{Columns: []int{2}, Vector: &plan.Vector{Form: plan.Pairs, Dim: 1 << 20}}},
	} {
		if _, err := taken(t, s, 1, c.scan, c.a); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
		endsWithTheDisk(t, s, c.scan, c.a)
	}
	r := &plan.Release{Aggregates: []plan.Aggregate{{Vector: array}, {}, {Vector: array}}}
	if got := answerSize(r, 10); got != 10*8*plan.AnswerBytes {
		t.Errorf("got %d bytes of an answer", got)
	}
}

func TestPlansThatDoNotFit(t *testing.T) {
	s, _ := fixture(t)
	fill(t, s, 3, randomPoints(rand.New(rand.NewPCG(7, 8)), 10))
	for name, a := range map[string]plan.Aggregate{
		"width":     {Columns: []int{2}, Vector: &plan.Vector{Dim: 2, Grid: eighths}},
		"grid":      {Columns: []int{2}, Vector: &plan.Vector{Dim: 3, Grid: estimator.Grid{Step: 0x1p-1070}}},
		"columns":   {Columns: []int{1, 2}, Vector: &plan.Vector{Dim: 3, Grid: eighths}},
		"dimension": {Columns: []int{2}, Vector: &plan.Vector{Grid: eighths}},
		"sums":      {Columns: []int{2, 2}, Vector: &plan.Vector{Form: plan.Coordinates, Dim: 1}},
		"scalar":    {Columns: []int{1}},
	} {
		if _, err := taken(t, s, 4, plan.Scan{SQL: "SELECT g, u, v FROM d.points", Types: intVector, Rows: true}, a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// inputOf is what an aggregate reads of a group.
func inputOf(t *testing.T, in *intake, a plan.Aggregate, group int) (out estimator.Input) {
	t.Helper()
	if err := in.input(a, group, func(in estimator.Input) { out = in }); err != nil {
		t.Fatal(err)
	}
	return out
}
