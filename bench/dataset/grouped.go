package dataset

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
)

var grouped = []Kind{
	{"sales", "file=NAME,departments=0,measure=rows|sum|persons", "GROUP BY over baskets in FIMI form: a row is an item of a basket, a group an item or, with departments, as many ranges of item numbers; " +
		"sum: of the items' prices, which are made up: log-normal, the same for an item everywhere", openSales},
	{"ratings", "by=movie|genre,measure=rows|sum|persons", "GROUP BY over ratings.csv and movies.csv of MovieLens: a row is a rating, or one of its movie's genres; a person is a user; sum: of the ratings", openRatings},
}

// entry is one person's rows in one group.
type entry struct {
	group int32
	rows  int64
	sum   int64 // of grid indexes
}

// groupSet is the set of persons with their entries in any order, some perhaps with the same group.
func groupSet(persons [][]entry, dim int, measure string, g estimator.Grid) *Set {
	s := &Set{Persons: len(persons), Dim: dim, Groups: dim, Measure: groups.Rows, Sparse: true, Fixed: true, Observed: true, P: 2, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: 0, Hi: estimator.MaxUnits}}
	switch measure {
	case "sum":
		s.Measure, s.Grid = groups.Sum, g
	case "persons":
		s.Measure = groups.Persons
	}
	for i, row := range persons {
		persons[i] = merge(row)
		s.Entries += len(persons[i])
	}
	s.draw = func(rng) (*estimator.Block, []float64, error) { return s.block(persons), nil, nil }
	return s
}

// merge adds up the entries of each group, in ascending order.
func merge(row []entry) []entry {
	slices.SortFunc(row, func(a, b entry) int { return int(a.group) - int(b.group) })
	out := row[:0]
	for _, e := range row {
		if k := len(out) - 1; k >= 0 && out[k].group == e.group {
			out[k].rows += e.rows
			out[k].sum += e.sum
			continue
		}
		out = append(out, e)
	}
	return out
}

// block is the sparse block of the measure.
func (s *Set) block(persons [][]entry) *estimator.Block {
	ch := estimator.Chunk{Persons: len(persons), Starts: []int{0}}
	for _, row := range persons {
		for _, e := range row {
			v := [...]int64{groups.Persons: 1, groups.Rows: e.rows, groups.Sum: e.sum}[s.Measure]
			ch.Index, ch.Values = append(ch.Index, e.group), append(ch.Values, v)
		}
		ch.Starts = append(ch.Starts, len(ch.Index))
	}
	return &estimator.Block{Dim: s.Dim, Sparse: true, Chunks: []estimator.Chunk{ch}}
}

// cents is the grid of prices.
var cents = estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}

func openSales(n *named.Name, dir string) (*Set, error) {
	file, departments := n.Word("file", ""), n.Int("departments", 0, 0, 1<<20)
	measure := n.Word("measure", "rows", "rows", "sum", "persons")
	if !n.OK() {
		return nil, nil
	}
	b, err := File(dir, file, file+".dat")
	if err != nil {
		return nil, err
	}
	rows, dim, err := baskets(b, 0)
	if err != nil {
		return nil, fmt.Errorf("%s.dat: %w", file, err)
	}
	of := func(item int32) int32 { return item }
	size := dim
	if departments > 0 {
		size = min(departments, dim)
		of = func(item int32) int32 { return int32(int64(item) * int64(size) / int64(dim)) }
	}
	prices := madeUp(dim)
	persons := make([][]entry, len(rows))
	for i, row := range rows {
		for _, item := range row {
			persons[i] = append(persons[i], entry{of(item), 1, prices[item]})
		}
	}
	return groupSet(persons, size, measure, cents), nil
}

// madeUp are log-normal prices in cents, of median 1 and spread 1 of the logarithm.
func madeUp(items int) []int64 {
	h := fnv.New64a()
	h.Write([]byte("prices"))
	g := rand.New(rand.NewPCG(h.Sum64(), 0))
	out := make([]int64, items)
	for i := range out {
		out[i] = max(1, int64(math.Round(100*math.Exp(g.NormFloat64()))))
	}
	return out
}

// stars is the grid of ratings, which have one digit after the point.
var stars = estimator.Grid{Step: 0.1, Decimal: true, Scale: 1, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}

func openRatings(n *named.Name, dir string) (*Set, error) {
	by, measure := n.Word("by", "movie", "movie", "genre"), n.Word("measure", "rows", "rows", "sum", "persons")
	if !n.OK() {
		return nil, nil
	}
	movies, err := records(dir, "movies.csv", 3)
	if err != nil {
		return nil, err
	}
	ratings, err := records(dir, "ratings.csv", 4)
	if err != nil {
		return nil, err
	}
	of, size := groupsOf(movies, by)
	users := map[string]int{}
	var persons [][]entry
	for _, r := range ratings {
		x, err := strconv.ParseFloat(r[2], 64)
		if err != nil {
			return nil, fmt.Errorf("ratings.csv: %w", err)
		}
		i, known := users[r[0]]
		if !known {
			i = len(persons)
			users[r[0]], persons = i, append(persons, nil)
		}
		for _, g := range of[r[1]] {
			persons[i] = append(persons[i], entry{g, 1, int64(math.Round(x * 10))})
		}
	}
	return groupSet(persons, size, measure, stars), nil
}

// groupsOf returns the groups of each movie: itself, or its genres.
func groupsOf(movies [][]string, by string) (of map[string][]int32, size int) {
	of, number := map[string][]int32{}, map[string]int32{}
	for _, m := range movies {
		names := []string{m[0]}
		if by == "genre" {
			names = strings.Split(m[2], "|")
		}
		for _, name := range names {
			if _, ok := number[name]; !ok {
				number[name] = int32(len(number))
			}
			of[m[0]] = append(of[m[0]], number[name])
		}
	}
	return of, max(1, len(number))
}

// records reads a CSV file without its header.
func records(dir, file string, fields int) ([][]string, error) {
	b, err := File(dir, "ml-latest-small", file)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = fields
	all, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all[min(1, len(all)):], nil
}
