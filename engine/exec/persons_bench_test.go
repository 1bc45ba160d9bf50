package exec

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner/plan"
)

var (
	personsRows = flag.Int("persons.rows", 2_000_000, "rows of the benchmark of per-person aggregation; persons are a tenth of them")
	personsRuns = flag.Int("persons.runs", 5, "interleaved runs of the benchmark of per-person aggregation")
)

const personsDim = 16

// personScan is the scan that the planner makes of a mean of the columns c1 to c16 of a type, over
// d.t(person, c1, …), and how it is taken in: the planner's tests compare the file with the plan.
func personScan(t testing.TB, typ string) (plan.Scan, plan.Aggregate) {
	t.Helper()
	text, err := os.ReadFile("../../planner/testdata/persons/" + strings.ToLower(typ) + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	return plan.Scan{SQL: strings.ReplaceAll(string(text), `"shop"."t"`, "d.t"), Types: []store.ScanType{store.ScanInt64, store.ScanVector}, Rows: true},
		plan.Aggregate{Columns: []int{1}, Vector: &plan.Vector{Dim: personsDim, Grid: estimator.Grid{Step: 0x1p-20, Lo: -limit, Hi: limit}}}
}

// eachColumn writes a pattern for 1 to 16, each after a comma.
func eachColumn(pattern string) string {
	var b strings.Builder
	for j := 1; j <= personsDim; j++ {
		b.WriteString(", " + strings.ReplaceAll(pattern, "#", fmt.Sprint(j)))
	}
	return b.String()
}

// BenchmarkPersons sizes the way of sixteen columns of numbers from rows in the store to one vector
// a person: ten rows a person, in random order. It is compared with the same sums by the store's
// own GROUP BY, handed over to Go (exact) or added up further in the store (inside): interleaved,
// medians. The ratios are to exact.
func BenchmarkPersons(b *testing.B) {
	for _, typ := range []string{"INTEGER", "DOUBLE"} {
		b.Run(typ, func(b *testing.B) {
			columns := eachColumn("CAST((hash(i * 16 + #) % 1000003) / 7 AS " + typ + ") AS c#")
			snap := benchStore(b, fmt.Sprintf("SELECT CAST(hash(i) %% %d AS BIGINT) AS person%s FROM range(%d) r(i)", *personsRows/10, columns, *personsRows))
			var exact, inside, ours clocks
			for b.Loop() {
				for range *personsRuns {
					persons := int64(0)
					exact.time(func() { persons = exactPersons(b, snap, typ) })
					inside.time(func() { insidePersons(b, snap) })
					ours.time(func() {
						scan, a := personScan(b, typ)
						if n := benchTake(b, snap, scan, a).Persons(); n != persons || n == 0 {
							b.Fatalf("%d persons, want %d", n, persons)
						}
					})
				}
			}
			for name, c := range map[string]*clocks{"exact": &exact, "inside": &inside, "ours": &ours} {
				b.ReportMetric(median(c.cpu).Seconds()*1e3, name+"-cpu-ms")
				b.ReportMetric(median(c.wall).Seconds()*1e3, name+"-ms")
			}
			b.ReportMetric(median(ours.cpu).Seconds()/median(exact.cpu).Seconds(), "cpu-ratio")
			b.ReportMetric(median(ours.wall).Seconds()/median(exact.wall).Seconds(), "ratio")
			b.ReportMetric(peakGiB(), "peak-GiB")
		})
	}
}

// exactPersons reads the exact sums of each person as the driver hands them over fastest, and
// counts the persons.
func exactPersons(b *testing.B, snap store.Snapshot, typ string) (persons int64) {
	sum, t := "sum(c#)", store.ScanFloat64
	if typ == "INTEGER" {
		sum, t = "CAST(sum(c#) AS BIGINT)", store.ScanInt64
	}
	types := []store.ScanType{store.ScanInt64, store.ScanInt64}
	for range personsDim {
		types = append(types, t)
	}
	query := "SELECT person, count(*)" + eachColumn(sum) + " FROM d.t GROUP BY person"
	err := snap.Scan(context.Background(), query, nil, types, func(c store.Chunk) error {
		persons += int64(c.Len)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return persons
}

// insidePersons leaves the persons' sums in the store.
func insidePersons(b *testing.B, snap store.Snapshot) {
	types := []store.ScanType{store.ScanInt64}
	for range personsDim {
		types = append(types, store.ScanFloat64)
	}
	query := "SELECT CAST(sum(n) AS BIGINT)" + eachColumn("CAST(max(s#) AS DOUBLE)") + " FROM (SELECT person, count(*) AS n" + eachColumn("sum(c#) AS s#") + " FROM d.t GROUP BY person) AS p"
	if err := snap.Scan(context.Background(), query, nil, types, func(store.Chunk) error { return nil }); err != nil {
		b.Fatal(err)
	}
}

// clocks are the times of runs, and the processor times of the whole process in them.
type clocks struct{ wall, cpu []time.Duration }

func (c *clocks) time(f func()) {
	cpu, start := usage(), time.Now()
	f()
	c.wall = append(c.wall, time.Since(start))
	after := usage()
	c.cpu = append(c.cpu, time.Duration(after.Utime.Nano()+after.Stime.Nano()-cpu.Utime.Nano()-cpu.Stime.Nano()))
}

func usage() (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u
}

// peakGiB is the process's largest resident size so far.
func peakGiB() float64 { return float64(usage().Maxrss) / (1 << 20) }
