package exec

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

var (
	benchRows = flag.Int("exec.rows", 200_000, "rows of the vector benchmarks")
	benchDim  = flag.Int("exec.dim", 128, "numbers of a row of the vector benchmarks")
)

// benchVectors is a snapshot of d.t(u, v), so many vectors a person.
func benchVectors(b *testing.B, perPerson int) store.Snapshot {
	b.Helper()
	return benchStore(b, fmt.Sprintf("SELECT CAST(i // %d AS BIGINT) AS u, CAST(list_transform(range(%d), lambda j: CAST(hash(i * 1000 + j) %% 1000003 AS DOUBLE) / 7) AS DOUBLE[%[2]d]) AS v FROM range(%d) r(i)",
		perPerson, *benchDim, *benchRows))
}

// benchStore is a snapshot of a file in which a query's result is d.t.
func benchStore(b *testing.B, query string) store.Snapshot {
	b.Helper()
	ctx := context.Background()
	s, err := duckdb.Open(filepath.Join(b.TempDir(), "data.duckdb"), duckdb.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	c, err := s.Session(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	table := store.TableRef{Schema: "d", Name: "t"}
	for _, q := range []string{"CREATE SCHEMA d", "CREATE TABLE d.t AS " + query} {
		if _, err := c.Write(ctx, []store.TableRef{table}, q); err != nil {
			b.Fatal(err)
		}
	}
	snap, err := s.Snapshot(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { snap.Close() })
	return snap
}

// BenchmarkVectors compares the way of 200,000 vectors of 128 numbers from the store to the
// estimators, a block on the grid, with a scan of the same column that only adds the numbers up:
// interleaved, medians. ns/op is of the pair; of-raw is the rate of ours over that of the raw scan.
func BenchmarkVectors(b *testing.B) {
	snap := benchVectors(b, 1)
	benchPair(b, snap, plan.Scan{SQL: "SELECT v FROM d.t", Types: []store.ScanType{store.ScanVector}}, 0)
}

// BenchmarkVectorRows is the same with ten rows a person, which are added up.
func BenchmarkVectorRows(b *testing.B) {
	snap := benchVectors(b, 10)
	benchPair(b, snap, plan.Scan{SQL: "SELECT u, v FROM d.t", Types: []store.ScanType{store.ScanInt64, store.ScanVector}, Rows: true}, 1)
}

func benchPair(b *testing.B, snap store.Snapshot, scan plan.Scan, column int) {
	b.SetBytes(int64(*benchRows) * int64(*benchDim) * 8)
	var raw, ours []time.Duration
	for b.Loop() {
		start := time.Now()
		sum := rawSum(b, snap)
		middle := time.Now()
		block := benchBlock(b, snap, scan, column)
		raw, ours = append(raw, middle.Sub(start)), append(ours, time.Since(middle))
		if block.Persons() == 0 || sum == 0 {
			b.Fatal("nothing was read")
		}
	}
	r, o := median(raw), median(ours)
	b.ReportMetric(r.Seconds()*1e3, "raw-ms")
	b.ReportMetric(o.Seconds()*1e3, "ours-ms")
	b.ReportMetric(r.Seconds()/o.Seconds(), "of-raw")
}

func rawSum(b *testing.B, snap store.Snapshot) (sum float64) {
	err := snap.Scan(context.Background(), "SELECT v FROM d.t", nil, []store.ScanType{store.ScanVector}, func(c store.Chunk) error {
		x := c.Columns[0].Floats
		var s [4]float64
		for ; len(x) >= 4; x = x[4:] {
			s[0] += x[0]
			s[1] += x[1]
			s[2] += x[2]
			s[3] += x[3]
		}
		sum += s[0] + s[1] + s[2] + s[3]
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}

func benchBlock(b *testing.B, snap store.Snapshot, scan plan.Scan, column int) *estimator.Block {
	return benchTake(b, snap, scan, plan.Aggregate{Columns: []int{column},
		Vector: &plan.Vector{Dim: *benchDim, Grid: estimator.Grid{Step: 0x1p-20, Lo: -limit, Hi: limit}}})
}

func benchTake(b *testing.B, snap store.Snapshot, scan plan.Scan, a plan.Aggregate) *estimator.Block {
	r := &plan.Release{Scans: []plan.Scan{scan}, Aggregates: []plan.Aggregate{a}}
	in, err := scanned(snap, r, benchArea(b))
	if err == nil {
		err = blocks(context.Background(), []*intake{in}, 1)
	}
	if err != nil {
		b.Fatal(err)
	}
	return in.vectors[0].blocks[0]
}

// benchPool is like the server's, and benchLast the area of the run before, which is given back as
// a statement's is.
var (
	benchPool = spill.NewPool(spill.Disk{Dir: os.TempDir()}, 512<<20)
	benchLast *spill.Area
)

func benchArea(b *testing.B) *spill.Area {
	if benchLast != nil {
		if err := benchLast.Close(); err != nil {
			b.Fatal(err)
		}
	}
	benchLast = benchPool.Area()
	return benchLast
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkPairs is the way of 75,462 persons with 48 items each, out of 27,983, to a sparse block:
// the size of the click-stream data. DISTINCT is there to compare with.
func BenchmarkPairs(b *testing.B) {
	const persons, items, dim = 75_462, 48, 27_983
	snap := benchStore(b, fmt.Sprintf("SELECT CAST(hash(i // %d) >> 1 AS BIGINT) AS u, CAST(%d * pow(random(), 4) AS BIGINT) AS item FROM range(%d) r(i)", items, dim-1, persons*items))
	for _, query := range []string{"SELECT u, item FROM d.t", "SELECT DISTINCT u, item FROM d.t"} {
		scan := plan.Scan{SQL: query, Types: []store.ScanType{store.ScanInt64, store.ScanInt64}, Rows: true}
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				benchTake(b, snap, scan, plan.Aggregate{Columns: []int{1}, Vector: &plan.Vector{Form: plan.Pairs, Dim: dim}})
			}
		})
	}
}

// BenchmarkGroups is the way of the (group, person) rows of a count and a mean to one vector a
// person, beside a scan of the same rows that only adds the numbers up: 10 rows a person over 20
// groups, interleaved, medians.
func BenchmarkGroups(b *testing.B) {
	snap := benchStore(b, fmt.Sprintf("SELECT CAST(hash(i) %% %d AS BIGINT) AS u, CAST(hash(i + 1) %% 20 AS BIGINT) AS g, CAST(i %% 100 AS BIGINT) AS x FROM range(%d) r(i)", *benchRows/10, *benchRows))
	const query = "SELECT g, u, count(*), sum(x)::BIGINT, count(x) FROM d.t GROUP BY u, g"
	scan := plan.Scan{SQL: query, Types: append(intPair, store.ScanInt64, store.ScanInt64), Units: true}
	a := plan.Aggregate{Columns: []int{2, 3, 4}, Groups: &groups.Params{Groups: 20, Aggregates: []groups.Aggregate{{Measure: groups.Rows}, {Measure: groups.RowMean}}}}
	r := &plan.Release{Scans: []plan.Scan{scan}, Aggregates: []plan.Aggregate{a}, Groups: 20, Keys: []plan.Key{{}}}
	var raw, took, ours []time.Duration
	for b.Loop() {
		start := time.Now()
		if err := snap.Scan(context.Background(), scan.SQL, nil, scan.Types, func(store.Chunk) error { return nil }); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		in, err := scanned(snap, r, benchArea(b))
		if err != nil {
			b.Fatal(err)
		}
		arrived := time.Now()
		block, err := in.grouped.block(context.Background(), 20)
		if err != nil || block.Persons() == 0 {
			b.Fatal("no block", err)
		}
		raw, took, ours = append(raw, middle.Sub(start)), append(took, arrived.Sub(middle)), append(ours, time.Since(arrived))
	}
	b.ReportMetric(median(raw).Seconds()*1e3, "raw-ms")
	b.ReportMetric(median(took).Seconds()*1e3, "scan-ms")
	b.ReportMetric(median(ours).Seconds()*1e3, "block-ms")
}
