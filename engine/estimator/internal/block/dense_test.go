package block

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// dense returns a block of the given vectors in chunks of one to three persons, or of up to size
// persons.
func dense(r *rand.Rand, dim, size int, rows [][]int64) *estimator.Block {
	b := &estimator.Block{Dim: dim}
	for len(rows) > 0 {
		k := min(1+r.IntN(size), len(rows))
		b.Chunks = append(b.Chunks, estimator.Chunk{Persons: k, Dense: slices.Concat(rows[:k]...)})
		rows = rows[k:]
	}
	return b
}

// randomRows returns n vectors of entries up to 2^bits, some of them with one entry that is not 0,
// or all near the bound.
func randomRows(r *rand.Rand, n, dim, bits int) [][]int64 {
	rows := make([][]int64, n)
	for i := range rows {
		rows[i] = make([]int64, dim)
		kind := r.IntN(5)
		for j := range dim {
			switch kind {
			case 0:
				rows[i][j] = 1<<bits - r.Int64N(3)
			case 1:
				rows[i][j] = -(1 << bits) + r.Int64N(3)
			case 2:
				rows[i][j] = r.Int64N(2<<bits) - 1<<bits
			default:
				rows[i][j] = r.Int64N(2001) - 1000
			}
		}
		if kind == 3 {
			clear(rows[i])
			rows[i][r.IntN(dim)] = 1 << min(20, bits)
		}
	}
	return rows
}

// all returns the vectors of a dense block.
func all(b *estimator.Block) (rows [][]int64) {
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			rows = append(rows, ch.Dense[i*b.Dim:(i+1)*b.Dim])
		}
	}
	return rows
}

// slowClipSum is the definition of ClipSum, one number after another.
func slowClipSum(b *estimator.Block, centre []int64, norms []float64, radius float64) []*big.Int {
	sum := make([]*big.Int, b.Dim)
	for j := range sum {
		sum[j] = new(big.Int)
	}
	for i, x := range all(b) {
		a := big.NewInt(factor(norms[i], radius))
		for j, v := range x {
			d := big.NewInt(v)
			if centre != nil {
				d.Sub(d, big.NewInt(centre[j]))
			}
			sum[j].Add(sum[j], d.Mul(d, a))
		}
	}
	return sum
}

var dims = []int{1, 2, 3, 5, 8, 13, 64, 100}

func TestDenseNormsAreUpperBounds(t *testing.T) {
	r := rand.New(stattest.Source(t, "dense norms"))
	for range 500 {
		dim := dims[r.IntN(len(dims))]
		b := dense(r, dim, 3, randomRows(r, r.IntN(8), dim, []int{10, 50, 60}[r.IntN(3)]))
		centre, weights := randomCentre(r, b), randomWeights(r, dim)
		if weights != nil && r.IntN(3) == 0 {
			weights[r.IntN(dim)] = []float64{0x1p-200, 0x1p200}[r.IntN(2)]
		}
		exact, got := norm2(b, centre, weights), Norms(b, centre, weights)
		if len(got) != len(exact) {
			t.Fatalf("%d norms of %d persons", len(got), len(exact))
		}
		most := square(1 + float64(dim+16)*0x1p-50)
		for i, g := range got {
			if square(g).Cmp(exact[i]) < 0 || square(g).Cmp(new(big.Rat).Mul(exact[i], most)) > 0 {
				t.Fatalf("norm %v of a vector of squared norm %v", g, exact[i])
			}
		}
	}
}

// radiusFor returns a radius that clips some, all or none of the persons.
func radiusFor(r *rand.Rand, norms []float64) float64 {
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return 5e-324
	case 2:
		return math.Ldexp(1, -r.IntN(100))
	case 3:
		return math.Inf(1)
	case 4:
		if len(norms) > 0 {
			return norms[r.IntN(len(norms))] * (0.5 + r.Float64())
		}
	}
	return math.Ldexp(1+r.Float64(), r.IntN(64))
}

// TestDenseClippedPersonIsWithinTheRadius checks the bound that privacy rests on, in exact
// arithmetic: one person's part of the sum has weighted norm at most radius·2^24, and two persons'
// parts differ by at most twice that.
func TestDenseClippedPersonIsWithinTheRadius(t *testing.T) {
	r := rand.New(stattest.Source(t, "dense clip"))
	for range 4000 {
		dim := dims[r.IntN(5)]
		two := dense(r, dim, 1, randomRows(r, 2, dim, []int{10, 50, 61}[r.IntN(3)]))
		centre, weights := randomCentre(r, two), randomWeights(r, dim)
		radius := radiusFor(r, Norms(two, centre, weights))
		if math.IsInf(radius, 0) {
			continue
		}
		var part [2][]*big.Int
		bound := new(big.Rat).Mul(square(radius), new(big.Rat).SetInt64(1<<(2*ClipBits)))
		for k := range part {
			one := &estimator.Block{Dim: dim, Chunks: two.Chunks[k : k+1]}
			part[k] = ClipSum(one, centre, Norms(one, centre, weights), radius)
			if n := bigNorm2(part[k], weights); n.Cmp(bound) > 0 {
				t.Fatalf("radius %v, part %v", radius, part[k])
			}
		}
		for j := range part[0] {
			part[0][j].Sub(part[0][j], part[1][j])
		}
		if n := bigNorm2(part[0], weights); n.Cmp(bound.Mul(bound, big.NewRat(4, 1))) > 0 {
			t.Fatalf("radius %v, difference %v", radius, part[0])
		}
	}
}

func bigNorm2(x []*big.Int, weights []float64) *big.Rat {
	sum := new(big.Rat)
	for j, v := range x {
		term := new(big.Rat).SetInt(new(big.Int).Mul(v, v))
		if weights != nil {
			term.Mul(term, new(big.Rat).SetFloat64(weights[j]))
		}
		sum.Add(sum, term)
	}
	return sum
}

func TestDenseClipSumIsExact(t *testing.T) {
	r := rand.New(stattest.Source(t, "dense sum"))
	for k := range 300 {
		dim, n := dims[r.IntN(len(dims))], r.IntN(12)
		if k%30 == 0 {
			n = 2*runPersons + r.IntN(9)
		}
		b := dense(r, dim, max(n/2, 3), randomRows(r, n, dim, []int{10, 50, 52, 53, 61}[r.IntN(5)]))
		centre, weights := randomCentre(r, b), randomWeights(r, dim)
		norms := Norms(b, centre, weights)
		for i := range norms {
			if r.IntN(20) == 0 {
				norms[i] = math.Inf(1)
			}
		}
		radius := radiusFor(r, norms)
		got, want := ClipSum(b, centre, norms, radius), slowClipSum(b, centre, norms, radius)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("dim %d, n %d: got %v, want %v", dim, n, got, want)
		}
		again, totals := Measure(b, centre, weights)
		if !slices.Equal(again, Norms(b, centre, weights)) {
			t.Fatal("Measure gives other norms")
		}
		if got := totals.ClipSum(b, centre, norms, radius); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("dim %d, n %d: got %v from totals, want %v", dim, n, got, want)
		}
	}
}

// TestSumsHoldTwoToThe31Persons adds a sum to itself 31 times.
func TestSumsHoldTwoToThe31Persons(t *testing.T) {
	for _, v := range []int64{1 << 61, -1 << 61} {
		s := newDenseSums(1)
		s.addProduct(0, v, 1<<ClipBits)
		for range 31 {
			s.addSums(s)
		}
		want := new(big.Int).Lsh(big.NewInt(v), ClipBits+31)
		if got := s.minus(1, nil)[0]; got.Cmp(want) != 0 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestFactorEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		norm, radius float64
		want         int64
	}{
		{0, 1, 1 << ClipBits}, {1, 1, 1 << ClipBits}, {math.Nextafter(1, 2), 1, 1<<ClipBits - 1}, {2, 1, 1<<(ClipBits-1) - 1},
		{inf, 1, 0}, {inf, inf, 0}, {1e300, inf, 1 << ClipBits}, {nan, 1, 0}, {1, nan, 0}, {1, 0, 0}, {1, -1, 0}, {1, 5e-324, 0},
	} {
		if got := factor(c.norm, c.radius); got != c.want {
			t.Errorf("factor(%v, %v) = %d, want %d", c.norm, c.radius, got, c.want)
		}
	}
}

// TestDensePassesDoNotDependOnOrderOrCores permutes the persons, cuts the chunks anew and takes
// cores away.
func TestDensePassesDoNotDependOnOrderOrCores(t *testing.T) {
	r := rand.New(stattest.Source(t, "dense order"))
	const n, dim = 5000, 37
	rows := randomRows(r, n, dim, 50)
	var first string
	for _, cores := range []int{1, 2, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		r.Shuffle(n, func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		b := dense(r, dim, 3000, rows)
		centre, weights := rowOfOnes(dim, 77), randomWeights(rand.New(rand.NewPCG(1, 2)), dim)
		norms := Norms(b, centre, weights)
		sum := ClipSum(b, centre, norms, 0x1p40)
		slices.Sort(norms)
		axis := NewAxis(-1<<50, 1<<50, 0, 10)
		cells := Bisect(b, axis, centre, func(j int, m int64) bool { return 3*m < n })
		if got := fmt.Sprint(norms, sum, cells); first == "" {
			first = got
		} else if got != first {
			t.Fatalf("another answer with %d cores", cores)
		}
	}
}

func rowOfOnes(dim int, v int64) []int64 { return slices.Repeat([]int64{v}, dim) }
