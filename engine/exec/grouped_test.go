package exec

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/noise"
	"scrim/engine/store"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// allGroups is an aggregate with the measures' columns out of a scan of (g, u, rows, sum).
func allGroups(n int, measures ...groups.Measure) plan.Aggregate {
	a := plan.Aggregate{Text: "ALL", Groups: &groups.Params{Groups: n}}
	for _, m := range measures {
		a.Groups.Aggregates = append(a.Groups.Aggregates, groups.Aggregate{Measure: m})
		switch m {
		case groups.Sum:
			a.Columns = append(a.Columns, 3)
		case groups.RowMean, groups.PersonMean:
			a.Columns = append(a.Columns, 3, 2)
		default:
			a.Columns = append(a.Columns, 2)
		}
	}
	return a
}

// visit is a scan row of d.pairs.
type visit struct {
	g, rows, sum int64
	u            string // SQL
}

// randomVisits draws rows of different (group, unit): some persons are in one group, one is in all,
// and some numbers are 0.
func randomVisits(rng *rand.Rand, groups, persons, n int) []visit {
	out, seen := []visit{}, map[string]bool{}
	add := func(g, u int64) {
		v := visit{g, rng.Int64N(4), rng.Int64N(2001) - 1000, fmt.Sprint(u)}
		if k := fmt.Sprint(g, " ", u); !seen[k] {
			seen[k] = true
			out = append(out, v)
		}
	}
	for g := range groups {
		add(int64(g), 1<<40)
	}
	for range n {
		add(rng.Int64N(int64(groups)), (rng.Int64N(int64(persons))-3)<<20)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func fillVisits(t *testing.T, s store.Store, rows []visit) {
	t.Helper()
	write(t, s, "CREATE OR REPLACE TABLE d.pairs (g BIGINT, u BIGINT, n BIGINT, x BIGINT)")
	for len(rows) > 0 {
		n := min(len(rows), 5000)
		var b strings.Builder
		for i, v := range rows[:n] {
			fmt.Fprintf(&b, "%s(%d,%s,%d,%d)", map[bool]string{true: "", false: ","}[i == 0], v.g, v.u, v.rows, v.sum)
		}
		write(t, s, "INSERT INTO d.pairs VALUES "+b.String())
		rows = rows[n:]
	}
}

// vectorsOf writes the persons of a sparse block as sorted "index=value" lists, after checking its
// shape.
func vectorsOf(t *testing.T, b *estimator.Block) []string {
	t.Helper()
	var out []string
	for _, c := range b.Chunks {
		if !b.Sparse || c.Persons < 1 || len(c.Starts) != c.Persons+1 || c.Starts[0] != 0 || c.Starts[c.Persons] != len(c.Packed) {
			t.Fatalf("chunk of %d persons, %d starts, %d bytes", c.Persons, len(c.Starts), len(c.Packed))
		}
		for i := range c.Persons {
			var one []string
			last, width := -1, len(c.Packing.Of)
			c.EachGroup(i, make([]int64, width), func(g int, own []int64) {
				if !slices.ContainsFunc(own, func(v int64) bool { return v != 0 }) || g*width >= b.Dim || g <= last {
					t.Fatalf("group %d with %v after %v", g, own, one)
				}
				last = g
				for k, v := range own {
					if v != 0 {
						one = append(one, fmt.Sprint(g*width+k, "=", v))
					}
				}
			})
			out = append(out, strings.Join(one, " "))
		}
	}
	slices.Sort(out)
	return out
}

// wanted is what vectorsOf should write of columns (rows, sum, rows).
func wanted(rows []visit) []string {
	person := map[string]map[int32][]int64{}
	for _, v := range rows {
		if person[v.u] == nil {
			person[v.u] = map[int32][]int64{}
		}
		person[v.u][int32(v.g)] = []int64{v.rows, v.sum, v.rows}
	}
	var out []string
	for _, p := range person {
		var one []string
		for _, g := range slices.Sorted(maps.Keys(p)) {
			for c, k := range p[g] {
				if k != 0 {
					one = append(one, fmt.Sprint(g*3+int32(c), "=", k))
				}
			}
		}
		if one != nil {
			out = append(out, strings.Join(one, " "))
		}
	}
	slices.Sort(out)
	return out
}

// TestFirstTextIsEmpty: an empty text has a number of its own, whichever comes first.
func TestFirstTextIsEmpty(t *testing.T) {
	n, memory := new(names), spill.NewPool(spill.Disk{Dir: t.TempDir()}, 1<<20).Area()
	defer memory.Close()
	for i, text := range []string{"", "a", "b"} {
		if err := n.put(text, int32(i), memory); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range []string{"", "a", "b"} {
		if got := n.find(text); got != int32(i) {
			t.Errorf("%q has the number %d, want %d", text, got, i)
		}
	}
}

// TestVectorsOverGroups: every person is one vector over all groups that are answered, whatever the
// order of the rows, their number and the type of the unit.
func TestVectorsOverGroups(t *testing.T) {
	s, _ := fixture(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range []struct{ groups, persons, rows int }{{1, 5, 20}, {7, 300, 1500}, {50, 40, 3000}, {300, 5000, 25000}} {
		rows := randomVisits(rng, size.groups, size.persons, size.rows)
		fillVisits(t, s, rows)
		for _, scan := range []plan.Scan{
			{SQL: "SELECT g, u, n, x FROM d.pairs", Types: append(intPair, store.ScanInt64), Units: true},
			{SQL: "SELECT g, u, n, x FROM d.pairs ORDER BY hash(u, g, n)", Types: append(intPair, store.ScanInt64), Units: true},
			{SQL: "SELECT g, 'unit ' || u, n, x FROM d.pairs UNION ALL SELECT 0, NULL, 5, 5", Types: []store.ScanType{store.ScanInt64, store.ScanText, store.ScanInt64, store.ScanInt64}, Units: true},
		} {
			in, err := taken(t, s, size.groups, scan, allGroups(size.groups, groups.Rows, groups.RowMean))
			if err != nil {
				t.Fatalf("%s, %v: %v", scan.SQL, size, told(err))
			}
			b, err := in.grouped.block(context.Background(), size.groups)
			if err != nil {
				t.Fatalf("%s, %v: %v", scan.SQL, size, told(err))
			}
			if b.Dim != 3*size.groups {
				t.Errorf("got dimension %d", b.Dim)
			}
			same(t, fmt.Sprint(scan.SQL, size), vectorsOf(t, b), wanted(rows))
		}
	}
}

// TestVectorsOverGroupsAreClamped: a NULL is 0, a number beyond MaxUnits is MaxUnits, and a group
// that came twice would be added up.
func TestVectorsOverGroupsAreClamped(t *testing.T) {
	s, _ := fixture(t)
	write(t, s, "CREATE OR REPLACE TABLE d.pairs (g BIGINT, u BIGINT, n BIGINT, x BIGINT)")
	write(t, s, "INSERT INTO d.pairs VALUES (0, 1, 9223372036854775807, NULL), (1, 1, -9223372036854775807, 3), (0, 2, 3, 4), (0, 2, 5, -4), (1, 3, 0, 0)")
	in, err := taken(t, s, 2, plan.Scan{SQL: "SELECT g, u, n, x FROM d.pairs", Types: append(intPair, store.ScanInt64), Units: true}, allGroups(2, groups.Rows, groups.Sum))
	if err != nil {
		t.Fatal(err)
	}
	b, err := in.grouped.block(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "clamped", vectorsOf(t, b), []string{fmt.Sprint("0=", limit, " 2=", -limit, " 3=3"), "0=8"})
}

// TestVectorsOverGroupsEndWithTheDisk: they are made of what lies on disk, end where that cannot be
// written, as texts or numbers, and are not made of other scans.
func TestVectorsOverGroupsEndWithTheDisk(t *testing.T) {
	s, _ := fixture(t)
	write(t, s, "CREATE TABLE d.many AS SELECT CAST(0 AS BIGINT) AS g, i AS u, i AS n FROM range(400000) r(i)")
	for _, scan := range []plan.Scan{
		{SQL: "SELECT g, u, n, n FROM d.many", Types: append(intPair, store.ScanInt64), Units: true},
		{SQL: "SELECT g, 'unit ' || u, n, n FROM d.many", Types: []store.ScanType{store.ScanInt64, store.ScanText, store.ScanInt64, store.ScanInt64}, Units: true},
	} {
		in, err := taken(t, s, 1, scan, allGroups(1, groups.Rows, groups.Sum))
		if err != nil {
			t.Fatalf("%s: got %v", scan.SQL, err)
		}
		if b, err := in.grouped.block(context.Background(), 1); err != nil || b.Persons() != 399_999 {
			t.Errorf("%s: got %v, or other than 399999 persons, of whom one has zeros", scan.SQL, err)
		}
		endsWithTheDisk(t, s, scan, allGroups(1, groups.Rows, groups.Sum))
	}
	for name, scan := range map[string]plan.Scan{
		"rows":  {SQL: "SELECT g, u, n, n FROM d.many", Types: append(intPair, store.ScanInt64), Rows: true},
		"plain": {SQL: "SELECT g, u, n, n FROM d.many", Types: append(intPair, store.ScanInt64)},
	} {
		if _, err := taken(t, s, 1, scan, allGroups(1, groups.Rows)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	scan := plan.Scan{SQL: "SELECT g, u, n, n FROM d.many LIMIT 5", Types: append(intPair, store.ScanInt64), Units: true}
	if _, err := taken(t, s, 1, scan, allGroups(1, groups.Rows), allGroups(1, groups.Sum)); err == nil {
		t.Error("two aggregates of all groups read one scan")
	}
	a := allGroups(1, groups.Rows)
	a.Columns = nil
	if _, err := taken(t, s, 1, scan, a); err == nil {
		t.Error("no columns: no error")
	}
	if _, err := taken(t, s, 1, scan, plan.Aggregate{Columns: []int{2}}); err == nil {
		t.Error("a scalar reads a scan of units")
	}
}

// TestShardsDoNotChangeVectors: the same rows in one shard, and dealt out after the first few.
func TestShardsDoNotChangeVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	all := &grouped{unit: 1, columns: []int{2}, packing: estimator.Packing{Numbers: 1, Of: []int{0}}, seed: 3, held: spillArea(t), foldAt: foldRecords}
	all.makeDealers(1)
	g := all.dealers[0]
	want := map[int64]int64{}
	for i := range firstRecords + 5000 {
		unit := rng.Int64N(1 << 62)
		ints := func(x int64) store.Vector { return store.Vector{Ints: []int64{x}} }
		g.groups = []int32{int32(i % 4)}
		if err := g.take(store.Chunk{Len: 1, Columns: []store.Vector{ints(0), ints(unit), ints(int64(i))}}); err != nil {
			t.Fatal(err)
		}
		want[unit]++
	}
	if len(g.shards) != 1<<shardBits || g.records != firstRecords+5000 {
		t.Fatalf("%d records in %d shards", g.records, len(g.shards))
	}
	for i := range g.shards {
		for _, run := range g.shards[i].runs() {
			for len(run) > 0 {
				var unit int64
				unit, run = estimator.Number(run)
				if want[unit]--; &g.shards[i] != g.shardOf(unit) {
					t.Fatalf("unit %d is in shard %d", unit, i)
				}
				for range g.size() - 1 {
					_, run = estimator.Number(run)
				}
			}
		}
	}
	for u, n := range want {
		if n != 0 {
			t.Fatalf("unit %d: %d records too few", u, n)
		}
	}
}

// TestAllGroupsInOneRelease: what is answered together stands beside what is answered apart, group
// by group.
func TestAllGroupsInOneRelease(t *testing.T) {
	for _, private := range []bool{false, true} {
		s, l := fixture(t)
		st, r := counts(t, 1, private)
		r.Scans = append(r.Scans, plan.Scan{SQL: "SELECT g, p AS unit, 1::BIGINT, p FROM d.visits WHERE g < 2", Units: true,
			Types: append(intPair, store.ScanInt64)})
		n := 3
		if private {
			n = 1 // group 1 has three persons: too few to be selected
		}
		a := allGroups(n, groups.Rows, groups.Sum)
		a.Scan, a.Estimator = 1, sparsePlain{}
		for k := range 2 {
			a.Parts = append(a.Parts, func(e estimator.Estimate) any { return e.Values[k] })
			r.Output = append(r.Output, plan.Output{Key: -1, Aggregate: 1, Part: k})
		}
		r.Aggregates = append(r.Aggregates, a)
		r.Loss = r.Loss.Add(plain{}.Loss())
		st.Tables[0].Loss = r.Loss
		x := executor(s, l)
		rows, err := ask(t, x, st, r)
		if err != nil {
			t.Fatal(err)
		}
		want := "[[0 40 40 780] [1 3 3 123] [2 0 0 0]]"
		if private {
			want = "[[0 40 40 780]]"
		}
		if got := fmt.Sprint(rows); got != want {
			t.Errorf("selected %v: got %s, want %s", private, got, want)
		}
		// Asked again, the answer is the stored one.
		again, err := ask(t, x, st, r)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(rows) {
			t.Errorf("again: got %v, %v", again, err)
		}
	}
}

// sparsePlain is plain for a sparse block: the sum of each coordinate.
type sparsePlain struct{ plain }

func (sparsePlain) Release(_ noise.Noiser, in estimator.Input) estimator.Estimate {
	e := estimator.Estimate{Values: make([]float64, in.Vectors.Dim), StdErr: make([]float64, in.Vectors.Dim)}
	for _, c := range in.Vectors.Chunks {
		for i := range c.Persons {
			width := len(c.Packing.Of)
			c.EachGroup(i, make([]int64, width), func(g int, x []int64) {
				for k, v := range x {
					e.Values[g*width+k] += float64(v)
				}
			})
		}
	}
	return e
}

// TestKeysSelectedByTheScanOfAllGroups: a group is selected by those of its persons that the scan
// keeps there, and has the numbers of all.
func TestKeysSelectedByTheScanOfAllGroups(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, true)
	r.Scans[0] = plan.Scan{Units: true, Kept: true, Types: append(intPair, store.ScanInt64, store.ScanInt64),
		SQL: "SELECT g, p, 1::BIGINT, 1::BIGINT, p FROM d.visits WHERE g = 0 UNION ALL SELECT 5, p, CASE WHEN p < 30 THEN 1 END, 1, p FROM d.visits UNION ALL SELECT 6, p, 0, 1, p FROM d.visits"}
	a := allGroups(2, groups.Rows, groups.Sum)
	for i := range a.Columns {
		a.Columns[i]++
	}
	a.Estimator = sparsePlain{}
	r.Output = r.Output[:1]
	for k := range 2 {
		a.Parts = append(a.Parts, func(e estimator.Estimate) any { return e.Values[k] })
		r.Output = append(r.Output, plan.Output{Key: -1, Aggregate: 0, Part: k})
	}
	r.Aggregates = []plan.Aggregate{a}
	rows, err := ask(t, executor(s, l), st, r)
	if err != nil {
		t.Fatal(err)
	}
	// Nobody is kept in group 6, so that it is not selected.
	if got, want := fmt.Sprint(rows), "[[0 40 780] [5 43 903]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
