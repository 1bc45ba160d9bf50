package sized_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/sized"
	"scrim/test/stattest"
)

var public = estimator.Params{Relation: estimator.ReplaceOne, Sized: true, Grid: estimator.Grid{Step: 1, Lo: -100, Hi: 100}}

// entry is a person: a number of rows and two numbers.
type entry [3]int64

func anyone(r *rand.Rand) entry { return entry{1 + r.Int64N(2), r.Int64N(3), r.Int64N(2)} }

// form lays entries out as an input, and reads them back.
type form struct {
	name string
	in   func(list []entry) estimator.Input
	out  func(in estimator.Input) []entry
}

var kinds = []estimator.Kind{estimator.Rows, estimator.Sum, estimator.Median}

func forms() []form {
	return []form{{"columns", func(list []entry) estimator.Input {
		in := estimator.Input{Columns: make([][]int64, 3)}
		for _, e := range list {
			for k, x := range e {
				in.Columns[k] = append(in.Columns[k], x)
			}
		}
		return sized.Columns(public, kinds, withPersons(in))
	}, func(in estimator.Input) (out []entry) {
		for i := range in.Columns[0] {
			out = append(out, entry{in.Columns[0][i], in.Columns[1][i], in.Columns[2][i]})
		}
		return out
	}}, {"dense", func(list []entry) estimator.Input {
		b := &estimator.Block{Dim: 2}
		for c := range slices.Chunk(list, 3) {
			ch := estimator.Chunk{Persons: len(c)}
			for _, e := range c {
				ch.Rows, ch.Dense = append(ch.Rows, e[0]), append(ch.Dense, e[1:]...)
			}
			b.Chunks = append(b.Chunks, ch)
		}
		return sized.Vectors(public, 2, false, withPersons(estimator.Input{Vectors: b}))
	}, written}, {"sparse", func(list []entry) estimator.Input {
		b := &estimator.Block{Dim: 2, Sparse: true}
		for c := range slices.Chunk(list, 3) {
			ch := estimator.Chunk{Persons: len(c), Starts: []int{0}}
			for _, e := range c {
				ch.Rows = append(ch.Rows, e[0])
				for j, x := range e[1:] {
					if x != 0 {
						ch.Index, ch.Values = append(ch.Index, int32(j)), append(ch.Values, x)
					}
				}
				ch.Starts = append(ch.Starts, len(ch.Index))
			}
			b.Chunks = append(b.Chunks, ch)
		}
		return sized.Vectors(public, 2, true, withPersons(estimator.Input{Vectors: b}))
	}, written}}
}

// persons is the public number of persons of the inputs.
const persons = 4

func withPersons(in estimator.Input) estimator.Input {
	in.Persons = persons
	return in
}

// written reads a block.
func written(in estimator.Input) (out []entry) {
	b := in.Vectors
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			e := entry{0: 1}
			if ch.Rows != nil {
				e[0] = ch.Rows[i]
			}
			if !b.Sparse {
				copy(e[1:], ch.Dense[i*2:])
			} else {
				for k := ch.Starts[i]; k < ch.Starts[i+1]; k++ {
					e[1+ch.Index[k]] = ch.Values[k]
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// TestNeighboursStayNeighbours is the package's claim: lists that differ in one entry, in any
// order, become lists of the public number of persons that differ in one exchanged entry at most.
func TestNeighboursStayNeighbours(t *testing.T) {
	for _, f := range forms() {
		r, moved := rand.New(stattest.Source(t, f.name)), 0
		for range 20000 {
			list := make([]entry, 1+r.IntN(2*persons))
			for i := range list {
				list[i] = anyone(r)
			}
			other := slices.Clone(list)
			switch k := r.IntN(len(list)); r.IntN(3) {
			case 0:
				other[k] = anyone(r)
			case 1:
				other = slices.Delete(other, k, k+1)
			case 2:
				other = append(other, anyone(r))
			}
			r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
			a, b := f.out(f.in(list)), f.out(f.in(other))
			if len(a) != persons || len(b) != persons {
				t.Fatalf("%s: %d and %d entries of %d", f.name, len(a), len(b), persons)
			}
			d := difference(a, b)
			if d > 1 {
				t.Fatalf("%s: %v and %v become %v and %v", f.name, list, other, a, b)
			}
			moved += d
		}
		if moved < 1000 {
			t.Errorf("%s: only %d pairs differ", f.name, moved)
		}
	}
}

// difference is the number of entries of a list that another one of its length does not have.
func difference(a, b []entry) int {
	count := map[entry]int{}
	for _, e := range a {
		count[e]++
	}
	d := 0
	for _, e := range b {
		if count[e]--; count[e] < 0 {
			d++
		}
	}
	return d
}

// TestWholeInputsAreTakenAsTheyAre: nothing is copied where nothing is wrong, or the number of
// persons is private.
func TestWholeInputsAreTakenAsTheyAre(t *testing.T) {
	private := public
	private.Sized = false
	columns := estimator.Input{Persons: 2, Columns: [][]int64{{1, 3}, {7, 8}, {0, 0}}}
	block := estimator.Input{Persons: 2, Vectors: &estimator.Block{Dim: 1, Chunks: []estimator.Chunk{{Persons: 2, Dense: []int64{5, 6}}}}}
	few := estimator.Input{Persons: 9, Columns: columns.Columns, Vectors: block.Vectors}
	for _, in := range []estimator.Input{sized.Columns(public, kinds, columns), sized.Columns(private, kinds, few)} {
		if &in.Columns[0][0] != &columns.Columns[0][0] || len(in.Columns[0]) != 2 {
			t.Errorf("columns %v", in)
		}
	}
	for _, in := range []estimator.Input{sized.Vectors(public, 1, false, block), sized.Vectors(private, 1, false, few)} {
		if in.Vectors != block.Vectors {
			t.Errorf("block %v", in)
		}
	}
}

// TestPublicEntry: it is within the declared bounds, in the middle, or the number of the range
// nearest 0.
func TestPublicEntry(t *testing.T) {
	lo, hi := int64(-8), int64(20)
	bounded, high, low := public, public, public
	bounded.Lower, bounded.Upper, high.Grid.Lo, low.Grid.Hi = &lo, &hi, 30, -2
	all := []estimator.Kind{estimator.Rows, estimator.Sum, estimator.SumSquaresHi, estimator.SumSquaresLo, estimator.Median}
	for want, p := range map[int64]estimator.Params{6: bounded, 30: high, -2: low, 0: public} {
		in := sized.Columns(p, all, estimator.Input{Persons: 1, Columns: [][]int64{{0}, {9}, {9}, {9}, {9}}})
		if got := fmt.Sprint(in.Columns); got != fmt.Sprint([][]int64{{1}, {want}, {0}, {want * want}, {want}}) {
			t.Errorf("%d: columns %v", want, got)
		}
		if in := sized.Columns(p, []estimator.Kind{estimator.Value}, estimator.Input{Persons: 2, Columns: [][]int64{{1}}}); in.Columns[0][1] != want {
			t.Errorf("%d: values %v", want, in.Columns)
		}
		if in := sized.Vectors(p, 2, false, estimator.Input{Persons: 1}); cmp.Compare(in.Vectors.Chunks[0].Dense[1], want) != 0 {
			t.Errorf("%d: block %v", want, in.Vectors)
		}
	}
	huge := public
	huge.Grid.Hi, huge.Grid.Lo = estimator.MaxUnits, estimator.MaxUnits
	in := sized.Columns(huge, all, estimator.Input{Persons: 1, Columns: [][]int64{{}, {}, {}, {}, {}}})
	if in.Columns[2][0] != 1<<36 || in.Columns[3][0] != 0 {
		t.Errorf("a square of 100 bits: %v", in.Columns)
	}
}

// TestManyMissing fills a block in chunks.
func TestManyMissing(t *testing.T) {
	in := sized.Vectors(public, 1<<19, false, estimator.Input{Persons: 5})
	if n := in.Vectors.Persons(); n != 5 || len(in.Vectors.Chunks) != 3 {
		t.Errorf("%d persons in %d chunks", n, len(in.Vectors.Chunks))
	}
	if in := sized.Vectors(public, 3, true, estimator.Input{Persons: -1}); in.Persons != 0 || in.Vectors != nil && in.Vectors.Persons() != 0 {
		t.Errorf("nobody: %v", in)
	}
}
