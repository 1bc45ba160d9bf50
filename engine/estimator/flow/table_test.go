package flow

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
	"scrim/test/testenv"
)

var (
	table   = flag.Bool("flow.table", false, "measure joins like those of TPC-H at scale factor 1")
	dataDir = flag.String("flow.data", "", "directory with ml-latest-small: measure on it")
)

// TestTableOfJoins measures what docs/proofs/flow.md has, where it is asked for, and holds it
// against the aims.
func TestTableOfJoins(t *testing.T) {
	if !*table {
		return // asked for by -flow.table
	}
	for _, w := range newLines(rand.New(stattest.Source(t, "lines")), 1).workloads() {
		w.row(t, 0.01126) // ε = 0.8, δ = 1e-6
	}
}

// TestTableOfRatings does the same for MovieLens: the films that somebody rated, and the pairs of
// ratings of the same film.
func TestTableOfRatings(t *testing.T) {
	if *dataDir == "" {
		return // asked for by -flow.data
	}
	films, raters := ratings(t, filepath.Join(*dataDir, "ml-latest-small", "ratings.csv.gz"))
	workload{"distinct films", Distinct, false, films, 2200}.row(t, 0.0131) // ε = 1, δ = 1e-8
	workload{"pairs of raters", Self, false, raters, 1_020_000}.row(t, 0.0131)
}

// row prints the figures of a workload, and the processor time of one release.
func (w workload) row(t *testing.T, rho float64) {
	f := w.measure(t, rho, 1500)
	r := w.estimator(t, rho)
	from := processorTime(t)
	r.Release(stattest.Noiser(t, "once"), estimator.Input{Pairs: w.pairs})
	fmt.Printf("| %s | %d | %.0f | %.0f | %.0f | %.0f | %d | %.1f s |\n",
		w.name, len(w.pairs.Left), f.truth, f.floor, f.squares, f.mean, f.none, processorTime(t)-from)
	if f.squares > w.aim {
		t.Errorf("%s: an error of %.0f, aimed at %.0f", w.name, f.squares, w.aim)
	}
}

// processorTime is what the process has taken so far, in seconds.
func processorTime(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// ratings reads users and films, and joins the ratings with themselves on the film.
func ratings(t *testing.T, file string) (films, raters *estimator.Pairs) {
	rows, err := csv.NewReader(bytes.NewReader(testenv.Unzipped(t, file))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	users, titles, seen := numbers{}, numbers{}, map[uint32][]uint32{}
	films = new(estimator.Pairs)
	for _, row := range rows[1:] {
		u, m := users.of(row[0]), titles.of(row[1])
		films.Left, films.Right = append(films.Left, u), append(films.Right, m)
		seen[m] = append(seen[m], u)
	}
	films.Lefts, films.Rights = len(users), len(titles)
	together := map[[2]uint32]int64{}
	for _, of := range seen {
		for i, u := range of {
			for _, v := range of[:i] {
				together[[2]uint32{min(u, v), max(u, v)}]++
			}
		}
	}
	raters = &estimator.Pairs{Lefts: len(users), Rights: len(users)}
	for k, w := range together {
		raters.Left, raters.Right, raters.Weights = append(raters.Left, k[0]), append(raters.Right, k[1]), append(raters.Weights, w)
	}
	return films, raters
}

// numbers gives texts numbers from 0 on.
type numbers map[string]uint32

func (n numbers) of(text string) uint32 {
	x, ok := n[text]
	if !ok {
		x = uint32(len(n))
		n[text] = x
	}
	return x
}
