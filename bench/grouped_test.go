package bench

import (
	"database/sql"
	"flag"
	"fmt"
	"sort"
	"syscall"
	"testing"
	"time"
)

var (
	benchRows = flag.Int("bench.rows", 10_000_000, "rows of the grouped benchmark; persons are a tenth of them")
	benchType = flag.String("bench.type", "DOUBLE", "type of the averaged column: DOUBLE, INTEGER, DECIMAL(10,2), …")
	benchRuns = flag.Int("bench.runs", 9, "interleaved runs of the grouped benchmark")
	benchWay  = flag.String("bench.groupby", "auto", "dp_group_by of the grouped benchmark")
)

// BenchmarkGroupedCountAvg sizes SELECT g, COUNT(*), AVG(x) … GROUP BY g over 20 public groups
// against DuckDB's own exact per-person query, pushed down whole: both over the wire, interleaved,
// medians, of the time and of the processors' time, which other work on the machine disturbs less.
// Each private run asks for a slightly different ε, so that none is a replay.
func BenchmarkGroupedCountAvg(b *testing.B) {
	typed, ways := []string{*benchType}, []string{*benchWay}
	if *benchDocs != "" {
		typed, ways = []string{"INTEGER", "BIGINT", "DECIMAL(10,2)", "DOUBLE"}, []string{"separate", "vector"}
	}
	table := measured{name: "grouped", scale: fmt.Sprintf("%g million rows", float64(*benchRows)/1e6), heads: [2]string{"private", "exact"}}
	for _, of := range typed {
		b.Run(of, func(b *testing.B) {
			private, exact := start(b, *benchRows, *benchRows/10, 20, of)
			for _, way := range ways {
				b.Run(way, func(b *testing.B) { table.grouped(b, private, exact, of, way) })
			}
		})
	}
	table.write(b)
}

// grouped measures the query of one type, answered in one way.
func (m *measured) grouped(b *testing.B, private, exact *sql.Conn, of, way string) {
	// The condition, which holds for every row, keeps a run from getting the result of the one
	// before.
	const perPerson = "SELECT g, SUM(c), SUM(s) / SUM(c) FROM " +
		"(SELECT g, person, COUNT(*) AS c, SUM(x) AS s FROM t WHERE g > -%d GROUP BY g, person) AS d GROUP BY g"
	for b.Loop() {
		resetPeak()
		var ours, theirs, work, base []time.Duration
		for range *benchRuns {
			m.asked++
			start := worked()
			theirs = append(theirs, timed(func() { drain(b, exact, fmt.Sprintf(perPerson, m.asked)) }))
			middle := worked()
			q := fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.9f) SET_VAR(dp_group_by='%s') */ g, COUNT(*), AVG(x) FROM t GROUP BY g", 1+float64(m.asked)*1e-6, way)
			ours = append(ours, timed(func() { drain(b, private, q) }))
			base, work = append(base, middle-start), append(work, worked()-middle)
		}
		m.add(b, fmt.Sprintf("`%s`, `dp_group_by = '%s'`, %.2f GiB at most", of, way, recentPeakGiB()), ours, theirs, work, base)
		b.ReportMetric(recentPeakGiB(), "peak-GiB")
	}
}

// BenchmarkTrivialQuery is the latency of a private COUNT(*) on a small table over the wire, a new
// charge each time.
func BenchmarkTrivialQuery(b *testing.B) {
	private, _ := start(b, 10_000, 1000, 4, *benchType)
	i := 0
	var all []time.Duration
	for b.Loop() {
		i++
		q := fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.12f) */ COUNT(*) FROM t", 0.01+float64(i)*1e-9)
		all = append(all, timed(func() { drain(b, private, q) }))
	}
	b.ReportMetric(median(all).Seconds()*1e3, "median-ms")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	s := append([]time.Duration(nil), d...)
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	return s[len(s)/2]
}

// worked is the processor time that the process has taken so far.
func worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakGiB is the process's largest resident size so far.
func peakGiB() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Maxrss) / (1 << 20)
}
