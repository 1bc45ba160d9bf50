package groups

import (
	"encoding/csv"
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
	"scrim/test/testenv"
)

var (
	dataDir  = flag.String("groups.data", "", "directory with kosarak-part, bms-webview-1, retail and ml-latest-small: compare on them")
	dataOnly = flag.String("groups.only", "", "part of the names of the sets to compare on")
	dataRuns = flag.Int("groups.runs", 5, "releases a data set and loss with -groups.data")
)

// TestDataSetsAgainstTheBestBox prints, for real persons in many groups, the error of the release
// beside those of a mechanism for each group whose bounds were chosen with the data in hand, and
// checks what the documentation promises.
func TestDataSetsAgainstTheBestBox(t *testing.T) {
	if *dataDir == "" {
		t.Log("no -groups.data")
		return
	}
	for _, s := range dataSets(t, *dataDir) {
		if !strings.Contains(s.name, *dataOnly) {
			continue
		}
		for _, rho := range []float64{0.125, 1} {
			compare(t, s, rho, *dataRuns, limits{box: 1.10})
		}
	}
}

// limits are the largest allowed ratios of the release's error to that of the best box, and to that
// of one group a person; 0: any.
type limits struct{ box, one float64 }

// compare logs the errors of a set and checks them.
func compare(t *testing.T, s set, rho float64, runs int, most limits) {
	t.Helper()
	e, err := New(s.params(rho, estimator.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	in, truth := estimator.Input{Vectors: layOut(s.groups, s.persons)}, s.truth()
	n := stattest.Noiser(t, s.name)
	square, stdErr := 0.0, 0.0
	for range runs {
		a := e.Release(n, in)
		if a.Status != estimator.OK {
			t.Fatalf("%s: too few, want %d", s.name, a.Needed)
		}
		stdErr = norm(a.StdErr)
		for g, v := range truth {
			a.Values[g] -= v
		}
		square += norm(a.Values) * norm(a.Values) / float64(runs)
	}
	got := math.Sqrt(square)
	all, one := best(s.boxes(rho, rand.New(stattest.Source(t, s.name))))
	t.Logf("%-24s ρ=%-5v ‖truth‖ %9.0f  vector %9.1f (noise %9.1f)  box %9.1f (L0=%d, L=%v)  one group %9.1f  ratios %.3f %.4f",
		s.name, rho, norm(truth), got, stdErr, all.error, all.most, all.limit, one.error, got/all.error, got/one.error)
	if most.box > 0 && got > most.box*all.error || most.one > 0 && got > most.one*one.error {
		t.Errorf("%s, rho %v: %.3f of the best box, %.3f of one group a person; want at most %v", s.name, rho, got/all.error, got/one.error, most)
	}
}

// dataSets reads all sets.
func dataSets(t *testing.T, dir string) []set {
	retail, kosarak, bms := baskets(t, dir, "retail"), baskets(t, dir, "kosarak-part"), baskets(t, dir, "bms-webview-1")
	item := func(j int) int { return j }
	department := func(j int) int { return int(uint32(j)*2654435761>>8) % 50 }
	one := func(*rand.Rand, int) int64 { return 1 }
	// in cents: an item's own price, and how much of it a person buys
	price := func(r *rand.Rand, j int) int64 {
		return 1 + int64(100*math.Exp(rand.New(rand.NewPCG(uint64(j), 5)).NormFloat64()+0.7*r.NormFloat64()))
	}
	return append([]set{
		grouped("retail items", Persons, retail, item, one), grouped("kosarak pages", Persons, kosarak, item, one),
		grouped("bms pages", Persons, bms, item, one), grouped("retail departments", Persons, retail, department, one),
		grouped("retail department items", Sum, retail, department, one), grouped("retail item spending", Sum, retail, item, price),
		grouped("retail dep. spending", Sum, retail, department, price), grouped("kosarak section clicks", Sum, kosarak, department, one),
	}, ratings(t, dir)...)
}

// grouped makes a set of baskets: the group of an item, and what is added for it; Persons counts
// each group once.
func grouped(name string, m Measure, rows [][]int, group func(int) int, value func(*rand.Rand, int) int64) set {
	s, r := set{name: name, measure: m}, rand.New(rand.NewPCG(1, 2))
	for _, row := range rows {
		p := map[int]int64{}
		for _, j := range row {
			g := group(j)
			s.groups = max(s.groups, g+1)
			if p[g] += value(r, j); m == Persons {
				p[g] = 1
			}
		}
		s.persons = append(s.persons, p)
	}
	return s
}

// lines reads a compressed file.
func lines(t *testing.T, dir, name string) []string {
	var out []string
	for line := range strings.Lines(string(testenv.Unzipped(t, filepath.Join(dir, name)))) {
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	return out
}

// baskets reads lists of items, numbered in the order in which they come, each once a basket.
func baskets(t *testing.T, dir, name string) [][]int {
	numbers := map[string]int{}
	var out [][]int
	for _, line := range lines(t, dir, filepath.Join(name, name+".dat.gz")) {
		seen, row := map[int]bool{}, []int(nil)
		for _, w := range strings.Fields(line) {
			j, ok := numbers[w]
			if !ok {
				j = len(numbers)
				numbers[w] = j
			}
			if !seen[j] {
				seen[j], row = true, append(row, j)
			}
		}
		out = append(out, row)
	}
	return out
}

// ratings are the users of MovieLens: by movie and by genre, who rated, and the sums of ratings in
// half stars.
func ratings(t *testing.T, dir string) []set {
	genres, of := map[string]int{}, map[string][]int{}
	for _, line := range lines(t, dir, "ml-latest-small/movies.csv.gz")[1:] {
		rec, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil || len(rec) < 3 {
			continue
		}
		for _, g := range strings.Split(rec[2], "|") {
			if _, ok := genres[g]; !ok {
				genres[g] = len(genres)
			}
			of[rec[0]] = append(of[rec[0]], genres[g])
		}
	}
	out := []set{
		{name: "movies", measure: Persons}, {name: "movie ratings", measure: Sum},
		{name: "genres", measure: Persons, groups: len(genres)}, {name: "genre ratings", measure: Sum, groups: len(genres)},
	}
	users, movies := map[string]int{}, map[string]int{}
	for _, line := range lines(t, dir, "ml-latest-small/ratings.csv.gz")[1:] {
		f := strings.Split(line, ",")
		if _, ok := users[f[0]]; !ok {
			users[f[0]] = len(users)
			for k := range out {
				out[k].persons = append(out[k].persons, map[int]int64{})
			}
		}
		if _, ok := movies[f[1]]; !ok {
			movies[f[1]] = len(movies)
		}
		stars, _ := strconv.ParseFloat(f[2], 64)
		u, m, v := users[f[0]], movies[f[1]], int64(2*stars)
		out[0].persons[u][m], out[1].persons[u][m] = 1, v
		for _, g := range of[f[1]] {
			out[2].persons[u][g] = 1
			out[3].persons[u][g] += v
		}
	}
	out[0].groups, out[1].groups = len(movies), len(movies)
	return out
}
