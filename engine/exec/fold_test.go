package exec

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/store"
)

// addend is a row of which two numbers are added up.
type addend struct{ unit, group, x, y int64 }

// filled takes in the rows by some dealers, in chunks.
func filled(t *testing.T, rng *rand.Rand, rows []addend, foldAt int) *grouped {
	t.Helper()
	g := &grouped{unit: 1, columns: []int{2, 3}, packing: estimator.Packing{Numbers: 2, Of: []int{0, 1}}, seed: 3, memory: spillArea(t), held: spillArea(t), foldAt: foldAt}
	g.makeDealers(1 + rng.IntN(3))
	for part := range slices.Chunk(rows, 2048) {
		columns := make([][]int64, 4)
		d := g.dealers[rng.IntN(len(g.dealers))]
		d.groups = d.groups[:0]
		for _, r := range part {
			for i, x := range []int64{r.group, r.unit, r.x, r.y} {
				columns[i] = append(columns[i], x)
			}
			d.groups = append(d.groups, int32(r.group))
		}
		var ch store.Chunk
		for _, x := range columns {
			ch.Columns = append(ch.Columns, store.Vector{Ints: x})
		}
		ch.Len = len(part)
		if err := d.take(ch); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// TestRowsAreAddedUpExactly: a person's number of a group is the sum of its rows, clamped once,
// whatever their order and however often those that are there were added up before the others came:
// of small numbers, of 2^50, of sums far beyond 64 bits that come back, of one person owning nearly
// every row.
func TestRowsAreAddedUpExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	type place struct{ unit, group int64 }
	extremes := []int64{math.MaxInt64, math.MinInt64, 1 << 50, -1 << 50, 1<<50 - 1, math.MaxInt64 - 1, 1, -1, 0}
	for _, c := range []struct {
		rows, units, groups int
		draw                func() int64
	}{
		{30000, 300, 5, func() int64 { return rng.Int64N(201) - 100 }},
		{30000, 40, 3, func() int64 { return extremes[rng.IntN(len(extremes))] }},
		{30000, 3, 2, func() int64 { return math.MaxInt64 }},
		{30000, 20000, 50, func() int64 { return extremes[rng.IntN(len(extremes))] }},
		{500, 4, 2, func() int64 { return math.MinInt64 }},
	} {
		var rows []addend
		sums := map[place]*[2]big.Int{}
		for range c.rows {
			r := addend{rng.Int64N(int64(c.units)) << 30, rng.Int64N(int64(c.groups)), c.draw(), c.draw()}
			if rng.IntN(2) == 0 {
				r.unit = 7
			}
			rows = append(rows, r)
			p := place{r.unit, r.group}
			if sums[p] == nil {
				sums[p] = new([2]big.Int)
			}
			sums[p][0].Add(&sums[p][0], big.NewInt(r.x))
			sums[p][1].Add(&sums[p][1], big.NewInt(r.y))
		}
		of := map[int64][]string{}
		for g := range int64(c.groups) {
			for p, sum := range sums {
				for k := range sum {
					most := big.NewInt(estimator.MaxUnits)
					if sum[k].CmpAbs(most) > 0 {
						sum[k].Mul(most, big.NewInt(int64(sum[k].Sign())))
					}
					if p.group == g && sum[k].Sign() != 0 {
						of[p.unit] = append(of[p.unit], fmt.Sprint(2*g+int64(k), "=", &sum[k]))
					}
				}
			}
		}
		var want []string
		for _, one := range of {
			want = append(want, strings.Join(one, " "))
		}
		slices.Sort(want)
		var rowsWanted []string
		for p, sum := range sums {
			rowsWanted = append(rowsWanted, fmt.Sprint(p.group, " ", &sum[0], " ", &sum[1]))
		}
		slices.Sort(rowsWanted)
		for _, foldAt := range []int{32, 1000, foldRecords} {
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			g, other := filled(t, rng, rows, foldAt), filled(t, rng, rows, foldAt)
			kept := 0
			for _, d := range g.dealers {
				for _, s := range d.shards {
					kept += s.records
				}
			}
			if bound := (2*len(sums) + (2*foldAt+2)<<shardBits) * len(g.dealers); foldAt == 32 && c.rows > 1000 && c.draw() != math.MaxInt64 && kept > bound {
				t.Errorf("%d records are kept of %d sums", kept, len(sums))
			}
			b, err := g.block(context.Background(), c.groups)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprint(c.rows, " rows of ", c.units, ", added up at ", foldAt)
			same(t, what, vectorsOf(t, b), want)
			added, err := other.sums(context.Background(), c.groups)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for k := range c.groups {
				var columns [2][]int64
				for i := range columns {
					if columns[i], err = added.column(k, i); err != nil {
						t.Fatal(err)
					}
				}
				for i, x := range columns[0] {
					got = append(got, fmt.Sprint(k, " ", x, " ", columns[1][i]))
				}
			}
			slices.Sort(got)
			same(t, what+", as columns", got, rowsWanted)
		}
	}
}
