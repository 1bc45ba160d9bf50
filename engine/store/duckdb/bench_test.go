package duckdb

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/engine/store"
)

// The benchmark table: 10 rows a person, a group drawn for each row among 20, in random order.
// 10 million rows take a minute to make, so that they must be asked for.
var benchPersons = flag.Int("store.persons", 100_000, "persons in the benchmark table, each with ten rows")

const perPerson = "SELECT gid, count(*), CAST(sum(k) AS BIGINT) FROM shop.visits GROUP BY gid, person"

func benchTable(b *testing.B) *Store {
	b.Helper()
	s, path := testOpen(b, Options{})
	c := testSession(b, s)
	write(b, c, visits, "CREATE SCHEMA shop", fmt.Sprintf(`CREATE TABLE shop.visits AS SELECT
		CAST(hash(i) %% %d AS BIGINT) AS person, CAST(hash(i + 1000000007) %% 20 AS BIGINT) AS gid, CAST(hash(i + 7) %% 1000 AS BIGINT) AS k
		FROM range(%d) r(i)`, *benchPersons, 10**benchPersons))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return testReopen(b, path, Options{})
}

// BenchmarkScanPerPerson streams the per-person aggregate into Go and compares it with the exact
// query that aggregates it further inside DuckDB, interleaved. ns/op is of the pair; ratio is
// the median of Scan's time over the median of the exact query's.
func BenchmarkScanPerPerson(b *testing.B) {
	s := benchTable(b)
	snap := testSnapshot(b, s)
	ctx := context.Background()
	ints := []store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanInt64}
	var scans, exacts []time.Duration
	var streamed, exact int64
	for b.Loop() {
		start := time.Now()
		exact = 0
		must(b, snap.Scan(ctx, "SELECT gid, CAST(sum(n) AS BIGINT), CAST(sum(t) AS BIGINT) FROM ("+perPerson+") q(gid, n, t) GROUP BY gid", nil, ints,
			func(c store.Chunk) error {
				for _, k := range c.Columns[2].Ints {
					exact += k
				}
				return nil
			}))
		middle := time.Now()
		streamed = 0
		must(b, snap.Scan(ctx, perPerson, nil, ints, func(c store.Chunk) error {
			for _, k := range c.Columns[2].Ints {
				streamed += k
			}
			return nil
		}))
		scans, exacts = append(scans, time.Since(middle)), append(exacts, middle.Sub(start))
	}
	if streamed != exact || exact == 0 {
		b.Errorf("sums %d and %d", streamed, exact)
	}
	median := func(d []time.Duration) float64 { slices.Sort(d); return d[len(d)/2].Seconds() }
	b.ReportMetric(median(scans), "scan-s")
	b.ReportMetric(median(exacts), "exact-s")
	b.ReportMetric(median(scans)/median(exacts), "ratio")
	b.ReportMetric(peakMiB(b), "peak-MiB")
}

// peakMiB is the most memory that the process has had resident, by the system's account.
func peakMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

func BenchmarkOpenSession(b *testing.B) {
	s, _ := testOpen(b, Options{})
	for b.Loop() {
		c, err := s.Session(context.Background())
		must(b, err)
		must(b, c.Close())
	}
}

func BenchmarkOpenSnapshot(b *testing.B) {
	s, _ := testOpen(b, Options{})
	for b.Loop() {
		c, err := s.Snapshot(context.Background())
		must(b, err)
		must(b, c.Close())
	}
}

// BenchmarkTrivialAnswer does what the store does for one small private query: open a snapshot,
// read a version, scan a grouped aggregate of a thousand rows, close.
func BenchmarkTrivialAnswer(b *testing.B) {
	ctx := context.Background()
	s, _ := testOpen(b, Options{})
	c := testSession(b, s)
	write(b, c, visits, "CREATE SCHEMA shop", "CREATE TABLE shop.visits AS SELECT i % 100 AS person, i % 3 AS gid, i AS k FROM range(1000) r(i)")
	for b.Loop() {
		snap, err := s.Snapshot(ctx)
		must(b, err)
		_, err = snap.Versions(ctx, visits)
		must(b, err)
		must(b, snap.Scan(ctx, perPerson, nil, []store.ScanType{store.ScanInt64, store.ScanInt64, store.ScanInt64}, func(store.Chunk) error { return nil }))
		must(b, snap.Close())
	}
}

func BenchmarkTableLookup(b *testing.B) {
	s, _ := testOpen(b, Options{})
	testPeople(b, testSession(b, s))
	for b.Loop() {
		_, _, err := s.Table(context.Background(), people)
		must(b, err)
	}
}

func BenchmarkAppendOneRow(b *testing.B)    { benchAppend(b, 1) }
func BenchmarkAppend10000Rows(b *testing.B) { benchAppend(b, 10_000) }

func benchAppend(b *testing.B, n int) {
	s, _ := testOpen(b, Options{})
	c := testSession(b, s)
	write(b, c, people, "CREATE SCHEMA shop", "CREATE TABLE shop.people (id BIGINT, name VARCHAR, x DOUBLE)")
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{int64(i), "some name", 1.5}
	}
	for b.Loop() {
		must(b, c.Append(context.Background(), people, []string{"id", "name", "x"}, rows))
	}
}

func BenchmarkImportCSV(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "f.csv")
	var text strings.Builder
	text.WriteString("id,name,x\n")
	const rows = 500_000
	for i := range rows {
		fmt.Fprintf(&text, "%d,name %d,%g\n", i, i%1000, float64(i)/8)
	}
	must(b, os.WriteFile(file, []byte(text.String()), 0o600))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		_, err := ImportFile(context.Background(), filepath.Join(dir, "rows.duckdb"), file, visits, ImportOptions{Mode: ImportReplace}, nil)
		must(b, err)
	}
}
