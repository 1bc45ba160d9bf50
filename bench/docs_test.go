package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

var benchDocs = flag.String("bench.docs", "", "a file of docs into which benchmarks write their tables, between the marks that name them")

// measured is a table of ratios that a benchmark writes into docs: one row a query.
type measured struct {
	name   string // of its marks
	scale  string
	target float64   // of the ratio; 0: the page says it
	heads  [2]string // of the times compared
	rows   []string
	asked  int // queries, each of which is to be another one
	ratio  []float64
	cpu    []float64
}

// add notes the medians of a query, which it reports, too: times, and processor times.
func (m *measured) add(b *testing.B, about string, ours, theirs, work, base []time.Duration) {
	o, t, w, p := median(ours), median(theirs), median(work), median(base)
	ratio, cpu := o.Seconds()/t.Seconds(), w.Seconds()/p.Seconds()
	b.ReportMetric(float64(o.Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(t.Microseconds())/1000, "duckdb-ms")
	b.ReportMetric(ratio, "ours/duckdb")
	b.ReportMetric(cpu, "ours/duckdb-cpu")
	m.ratio, m.cpu = append(m.ratio, ratio), append(m.cpu, cpu)
	m.rows = append(m.rows, fmt.Sprintf("| %s | %s | %s | %.2f | %.2f |\n", about, millis(o), millis(t), ratio, cpu))
}

func millis(d time.Duration) string {
	if d >= 100*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.3g ms", d.Seconds()*1000)
}

// write puts the table between its marks in the file of -bench.docs, if that was asked for.
func (m *measured) write(b *testing.B) {
	if *benchDocs == "" || len(m.rows) == 0 {
		return
	}
	text, err := os.ReadFile(*benchDocs)
	if err != nil {
		b.Fatal(err)
	}
	begin, end := "<!-- "+m.name+":begin -->\n", "<!-- "+m.name+":end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		b.Fatalf("%s has no marks %s", *benchDocs, m.name)
	}
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		b.Fatal(err)
	}
	met := 0
	for _, r := range m.ratio {
		if r < m.target+0.005 { // as it is shown
			met++
		}
	}
	slices.Sort(m.ratio)
	slices.Sort(m.cpu)
	table := fmt.Sprintf("| | %s | %s | ratio | of processor time |\n|---|---:|---:|---:|---:|\n%s\n", m.heads[0], m.heads[1], strings.Join(m.rows, "")) +
		fmt.Sprintf("%s, medians of %d runs, commit %s, %s. ", m.scale, *benchRuns, strings.TrimSpace(string(commit)), time.Now().UTC().Format(time.DateOnly))
	if m.target > 0 {
		table += fmt.Sprintf("Target: at most %g. Met by %d of %d; the", m.target, met, len(m.ratio))
	} else {
		table += "The"
	}
	table += fmt.Sprintf(" median ratio is %.2f, of processor time %.2f.\n", m.ratio[len(m.ratio)/2], m.cpu[len(m.cpu)/2])
	if err := os.WriteFile(*benchDocs, []byte(before+begin+table+end+after), 0o644); err != nil {
		b.Fatal(err)
	}
}
