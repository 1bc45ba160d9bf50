package exponential

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// draws counts the answers of one choice.
func draws(t *testing.T, q Quantile, data []run, cells uint64, times int) []int64 {
	n, w, counts := stattest.Noiser(t, t.Name()), new(wheel), make([]int64, cells)
	for range times {
		counts[q.pick(n, w, data, 0, cells-1)]++
	}
	return counts
}

// TestQuantileDrawsFollowTheLaw draws from data with ties, gaps and values at both ends.
func TestQuantileDrawsFollowTheLaw(t *testing.T) {
	const cells = 40
	for name, values := range map[string][]uint64{
		"mixed": {0, 3, 3, 3, 7, 8, 8, 21, 39, 39}, "empty": {}, "one": {17}, "equal": {5, 5, 5, 5}, "ends": {0, 39},
	} {
		t.Run(name, func(t *testing.T) {
			q := NewQuantile(1, 4, 1, 0.05, estimator.AddRemove)
			counts := draws(t, q, runs(nil, nil, values), cells, 20000)
			stattest.Accept(t, stattest.ChiSquare(name, counts, law(q, values, 0, cells-1)))
			if name == "mixed" || name == "equal" {
				steep := newQuantile(1, 4, 0.1, float64(q.change), q.change)
				stattest.Reject(t, stattest.ChiSquare(name, counts, law(steep, values, 0, cells-1)))
			}
		})
	}
}

// TestFullestDrawsFollowTheLaw draws from buckets with a few persons and many empty ones.
func TestFullestDrawsFollowTheLaw(t *testing.T) {
	const buckets = 30
	f := NewFullest(buckets, 0.02, estimator.ReplaceOne)
	data := []uint64{2, 2, 2, 2, 2, 9, 9, 9, 10, 29, 29, 29, 29}
	shares := func(rate float64) []float64 {
		p, sum := make([]float64, buckets), 0.0
		for _, b := range data {
			p[b]++
		}
		for i := range p {
			p[i] = math.Exp(rate * p[i])
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	n, counts := stattest.Noiser(t, "fullest"), make([]int64, buckets)
	for range 20000 {
		counts[f.Choose(n, nil, data)]++
	}
	stattest.Accept(t, stattest.ChiSquare("fullest", counts, shares(f.rate)))
	stattest.Reject(t, stattest.ChiSquare("steeper", counts, shares(f.rate*1.3)))
	if f := NewFullest(1, 1, estimator.AddRemove); f.Choose(n, nil, nil) != 0 || f.Choose(n, nil, []uint64{0, 0}) != 0 {
		t.Error("one bucket is not chosen")
	}
	large := NewFullest(maxPoints, 1, estimator.AddRemove)
	if b := large.Choose(n, nil, slices.Repeat([]uint64{maxPoints - 1}, 100)); b != maxPoints-1 {
		t.Errorf("got %d of 2^62 buckets, with 100 persons in the last", b)
	}
}

// TestEqualValuesAreFound: with all values equal the answer is that value.
func TestEqualValuesAreFound(t *testing.T) {
	n := stattest.Noiser(t, "equal")
	for _, relation := range relations {
		q := NewQuantile(1, 2, 1, 0.01, relation)
		m := NewMany([][2]int64{{1, 10}, {1, 2}, {9, 10}}, 1<<24, 1, 0.05, relation)
		cells := slices.Repeat([]uint32{12345}, 4000) // 2^24·e^{-rate·n} < e^{-130}
		for range 50 {
			if got := q.pick(n, new(wheel), runs(nil, nil, cells), 0, 1<<24-1); got != 12345 {
				t.Errorf("%v: got cell %d", relation, got)
			}
			if got := m.Search(n, nil, cells); !slices.Equal(got, []uint32{12345, 12345, 12345}) {
				t.Errorf("%v: got cells %v", relation, got)
			}
		}
	}
}

// TestGoldenDraws fixes the answers for one stream of words: any change in the arithmetic or in the
// order in which words are used shows.
func TestGoldenDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cells := make([]uint32, 300)
	for i := range cells {
		cells[i] = uint32(50000 + 4000*r.NormFloat64())
	}
	n := stattest.Noiser(t, "golden")
	slices.Sort(cells)
	var got []uint64
	for _, relation := range relations {
		for _, f := range [][2]int64{{1, 2}, {9, 10}} {
			q := NewQuantile(f[0], f[1], 1, 0.02, relation)
			got = append(got, q.pick(n, new(wheel), runs(nil, nil, cells), 0, 1<<20-1))
		}
	}
	for _, c := range NewMany([][2]int64{{1, 4}, {3, 4}, {1, 2}, {1, 4}}, 1<<20, 1, 0.1, estimator.AddRemove).Search(n, nil, cells) {
		got = append(got, uint64(c))
	}
	const want = "[49973 681629 50186 859620 47647 52934 50349 47647]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRankErrorHolds: the stated bound is passed in at most the stated share of the draws.
func TestRankErrorHolds(t *testing.T) {
	const size, times = 5000, 300
	r := rand.New(stattest.Source(t, "ranks"))
	cells := make([]uint32, size)
	for i := range cells {
		cells[i] = uint32(r.Uint64N(1 << 24))
	}
	slices.Sort(cells)
	n := stattest.Noiser(t, "noise")
	fractions := [][2]int64{{1, 10}, {1, 4}, {1, 2}, {3, 4}, {99, 100}}
	for _, relation := range relations {
		m := NewMany(fractions, 1<<24, 1, 0.1, relation)
		bounds, outside := m.RankError(0.05), make([]int, len(fractions))
		for range times {
			for i, c := range m.Search(n, nil, cells) {
				rank, _ := slices.BinarySearch(cells, c)
				want := size * float64(fractions[i][0]) / float64(fractions[i][1])
				if math.Abs(float64(rank)-want) > bounds[i]+1 {
					outside[i]++
				}
			}
		}
		for i, b := range bounds {
			if outside[i] > times/20+25 || b > size/4 { // 15 expected at most, deviation 3.8
				t.Errorf("%v, fraction %v: %d of %d ranks beyond ±%.0f", relation, fractions[i], outside[i], times, b)
			}
		}
	}
}

// TestManyBesideAnAtom: nine tenths of a list that is 92 % zeros is zero, because ties are split at
// random.
func TestManyBesideAnAtom(t *testing.T) {
	cells := make([]uint32, 20000)
	for i := range cells {
		if i%25 < 2 {
			cells[i] = uint32(1000 + i)
		}
	}
	m := NewMany([][2]int64{{1, 2}, {7, 10}, {9, 10}, {99, 100}}, 1<<24, 1, 0.1, estimator.AddRemove)
	n := stattest.Noiser(t, "atom")
	for range 30 {
		if v := m.Search(n, nil, cells); v[0] != 0 || v[1] != 0 || v[2] != 0 || v[3] < 1000 || v[3] > 21000 {
			t.Fatalf("got %v", v)
		}
	}
}

// TestSearchReadsDenseAndSparseAlike: one block in both forms gives the same draws, and each
// coordinate's is that of its column.
func TestSearchReadsDenseAndSparseAlike(t *testing.T) {
	const dim = 70
	r := rand.New(stattest.Source(t, "block"))
	dense, sparse := estimator.Block{Dim: dim}, estimator.Block{Dim: dim, Sparse: true}
	columns := make([][]int64, dim)
	for _, persons := range []int{0, 40, 25} {
		d, s := estimator.Chunk{Persons: persons}, estimator.Chunk{Persons: persons, Starts: []int{0}}
		for range persons {
			for j := range dim {
				v := r.Int64N(50) - 25
				if r.IntN(4) > 0 {
					v = 0
				} else if s.Index = append(s.Index, int32(j)); true {
					s.Values = append(s.Values, v)
				}
				d.Dense = append(d.Dense, v)
				columns[j] = append(columns[j], v)
			}
			s.Starts = append(s.Starts, len(s.Index))
		}
		dense.Chunks, sparse.Chunks = append(dense.Chunks, d), append(sparse.Chunks, s)
	}
	centre := make([]int64, dim)
	for j := range centre {
		centre[j] = int64(j%7) - 3
	}
	axis := block.NewAxis(-1000, 1000, 0, 63)
	for _, c := range [][]int64{nil, centre} {
		q := NewQuantile(1, 2, 1, 0.1, estimator.AddRemove)
		got := q.Search(stattest.Noiser(t, "same"), &dense, axis, c)
		if !slices.Equal(got, q.Search(stattest.Noiser(t, "same"), &sparse, axis, c)) {
			t.Error("dense and sparse differ")
		}
		n, w := stattest.Noiser(t, "same"), new(wheel)
		for j, column := range columns {
			var cells []uint32
			for _, v := range column {
				if c != nil {
					v = max(v-c[j], c[j]-v)
				}
				cells = append(cells, axis.Cell(v))
			}
			slices.Sort(cells)
			if want := q.pick(n, w, runs(nil, nil, cells), 0, uint64(axis.Cells()-1)); uint32(want) != got[j] {
				t.Errorf("coordinate %d: got cell %d, want %d", j, got[j], want)
			}
		}
	}
	if got := Medians(stattest.Noiser(t, "x"), &estimator.Block{Dim: 3}, axis, 0.1, estimator.ReplaceOne); len(got) != 3 {
		t.Errorf("an empty block has %d medians", len(got))
	}
}

// BenchmarkMedians is one search of 512 coordinates of 4000 persons.
func BenchmarkMedians(b *testing.B) {
	const dim, persons = 512, 4000
	r := rand.New(rand.NewPCG(1, 2))
	ch := estimator.Chunk{Persons: persons, Dense: make([]int64, dim*persons)}
	for i := range ch.Dense {
		ch.Dense[i] = int64(r.NormFloat64() * 1e6)
	}
	blk := estimator.Block{Dim: dim, Chunks: []estimator.Chunk{ch}}
	axis := block.NewAxis(-1<<30, 1<<30, 7, 63)
	n := stattest.Noiser(b, "bench")
	for b.Loop() {
		Medians(n, &blk, axis, 0.03, estimator.AddRemove)
	}
}

// Medians returns the cell of a median of every coordinate of a block of persons, at loss rho and
// slack Dim·Slack for all together, which holds for neighbours of the given relation. It takes the
// place of a bisection of every coordinate (block.Bisect); the number of persons is used only
// inside the choices.
func Medians(n noise.Noiser, b *estimator.Block, axis block.Axis, rho float64, relation estimator.Relation) []uint32 {
	share := rho / float64(b.Dim) * (1 - 1e-12)
	return NewQuantile(1, 2, 1, share, relation).Search(n, b, axis, nil)
}
