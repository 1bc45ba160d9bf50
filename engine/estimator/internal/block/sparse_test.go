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

// randomSparse returns a random sparse block in a few chunks, and the same vectors times unit as a
// dense block.
func randomSparse(r *rand.Rand, dim int, binary bool, unit int64) (sparse, dense *estimator.Block) {
	sparse, dense = &estimator.Block{Dim: dim, Sparse: true}, &estimator.Block{Dim: dim}
	share := r.Float64()
	for range r.IntN(4) {
		ch, full := estimator.Chunk{Persons: r.IntN(5), Starts: []int{0}}, estimator.Chunk{}
		for range ch.Persons {
			for j := range dim {
				v := int64(0)
				if r.Float64() < share {
					if v = 1; !binary {
						v = value(r)
					}
					ch.Index, ch.Values = append(ch.Index, int32(j)), append(ch.Values, v)
				}
				full.Dense = append(full.Dense, unit*v)
			}
			ch.Starts = append(ch.Starts, len(ch.Index))
		}
		if full.Persons = ch.Persons; binary {
			ch.Values = nil
		}
		sparse.Chunks, dense.Chunks = append(sparse.Chunks, ch), append(dense.Chunks, full)
	}
	return sparse, dense
}

func value(r *rand.Rand) int64 {
	switch r.IntN(5) {
	case 0:
		return r.Int64N(5)
	case 1:
		return r.Int64N(1 << 20)
	case 2:
		return estimator.MaxUnits - r.Int64N(3)
	case 3:
		return -r.Int64N(estimator.MaxUnits)
	}
	return r.Int64N(200) - 100
}

// randomCentre returns a centre, often one of the persons or close to it, so that norms cancel.
func randomCentre(r *rand.Rand, dense *estimator.Block) []int64 {
	if r.IntN(4) == 0 {
		return nil
	}
	c := make([]int64, dense.Dim)
	for _, ch := range dense.Chunks {
		if ch.Persons > 0 && r.IntN(2) == 0 {
			copy(c, ch.Dense)
		}
	}
	for j := range c {
		if r.IntN(3) == 0 {
			c[j] += r.Int64N(3) - 1
		}
	}
	return c
}

func randomWeights(r *rand.Rand, dim int) []float64 {
	if r.IntN(4) == 0 {
		return nil
	}
	w := make([]float64, dim)
	for j := range w {
		w[j] = math.Ldexp(r.Float64()+0.5, r.IntN(20)-10)
	}
	return w
}

// norm2 returns the squared weighted distance of every person from a centre, exactly.
func norm2(dense *estimator.Block, centre []int64, weights []float64) []*big.Rat {
	var out []*big.Rat
	for _, ch := range dense.Chunks {
		for i := range ch.Persons {
			out = append(out, rowNorm2(ch.Dense[i*dense.Dim:(i+1)*dense.Dim], centre, weights))
		}
	}
	return out
}

func rowNorm2(x, centre []int64, weights []float64) *big.Rat {
	sum := new(big.Rat)
	for j, v := range x {
		if centre != nil {
			v -= centre[j]
		}
		term := new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(v), big.NewInt(v)))
		if weights != nil {
			term.Mul(term, new(big.Rat).SetFloat64(weights[j]))
		}
		sum.Add(sum, term)
	}
	return sum
}

func square(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	return r.Mul(r, r)
}

// TestSparseNormsAreUpperBounds compares with exact rationals: never under, and over by no more
// than the slack that is stated. The bound must bite: without the slack some norm is under.
func TestSparseNormsAreUpperBounds(t *testing.T) {
	r := rand.New(stattest.Source(t, "norms"))
	cancelled := 0
	for range 4000 {
		unit := []int64{1, 1, 4}[r.IntN(3)]
		sparse, dense := randomSparse(r, 1+r.IntN(8), r.IntN(3) == 0, unit)
		centre, weights := randomCentre(r, dense), randomWeights(r, dense.Dim)
		got, exact := NormsIn(sparse, unit, centre, weights), norm2(dense, centre, weights)
		size := norm2(dense, nil, weights)
		whole := new(big.Rat)
		if centre != nil {
			whole = rowNorm2(centre, nil, weights)
		}
		for i, g := range got {
			if square(g).Cmp(exact[i]) < 0 {
				t.Fatalf("norm %v is under the true one", g)
			}
			// q + e with e <= 40·2^-50·m here and m <= 3‖x‖² + 4‖c‖², and as much for rounding.
			m := new(big.Rat).Add(size[i], whole)
			m.Mul(m, big.NewRat(400, 1<<50))
			if square(g).Cmp(m.Add(m, exact[i])) > 0 {
				t.Fatalf("norm %v is too far over the root of %v", g, exact[i].FloatString(3))
			}
			if exact[i].Sign() > 0 && square(g*(1-1e-12)).Cmp(exact[i]) > 0 {
				cancelled++
			}
		}
	}
	if cancelled == 0 {
		t.Error("no norm lost digits: the slack was not tried")
	}
}

// TestSparseClippedPersonIsWithinTheRadius checks the sensitivity: one person's clipped vector has
// a weighted norm of at most the radius, in exact arithmetic.
func TestSparseClippedPersonIsWithinTheRadius(t *testing.T) {
	r := rand.New(stattest.Source(t, "clip"))
	worst := 0.0
	for range 4000 {
		unit := []int64{1, 1, 4}[r.IntN(3)]
		sparse, dense := randomSparse(r, 1+r.IntN(8), r.IntN(3) == 0, unit)
		centre, weights := randomCentre(r, dense), randomWeights(r, dense.Dim)
		radius := math.Ldexp(r.Float64(), r.IntN(80)-20)
		norms := NormsIn(sparse, unit, centre, weights)
		at := 0
		for _, ch := range sparse.Chunks {
			for i := range ch.Persons {
				one := &estimator.Block{Dim: sparse.Dim, Sparse: true, Chunks: []estimator.Chunk{{
					Persons: 1, Starts: ch.Starts[i : i+2], Index: ch.Index, Values: ch.Values,
				}}}
				got := new(big.Rat)
				for j, s := range ClipSumIn(one, unit, centre, norms[at:at+1], radius) {
					term := new(big.Rat).SetInt(s.Mul(s, s))
					if weights != nil {
						term.Mul(term, new(big.Rat).SetFloat64(weights[j]))
					}
					got.Add(got, term)
				}
				limit := square(radius)
				limit.Mul(limit, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2*ClipBits)))
				if got.Cmp(limit) > 0 {
					t.Fatalf("clipped norm² %v over %v", got.FloatString(3), limit.FloatString(3))
				}
				if limit.Sign() > 0 {
					ratio, _ := got.Quo(got, limit).Float64()
					worst = max(worst, ratio)
				}
				at++
			}
		}
	}
	if worst < 0.999 {
		t.Errorf("the largest clipped norm is %v of the radius: the bound was not tried", math.Sqrt(worst))
	}
}

func TestSparseClipSumIsTheDenseOne(t *testing.T) {
	r := rand.New(stattest.Source(t, "clipsum"))
	for range 2000 {
		unit := []int64{1, 1, 4}[r.IntN(3)]
		sparse, dense := randomSparse(r, 1+r.IntN(8), r.IntN(3) == 0, unit)
		centre := randomCentre(r, dense)
		norms := NormsIn(sparse, unit, centre, randomWeights(r, dense.Dim))
		for i := range norms {
			if r.IntN(10) == 0 {
				norms[i] = math.Inf(1)
			}
		}
		radius := []float64{0, math.Ldexp(r.Float64(), r.IntN(60))}[r.IntN(2)]
		got, want := ClipSumIn(sparse, unit, centre, norms, radius), ClipSum(dense, centre, norms, radius)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestSparseBisectAsksWhatTheDenseOneAsks(t *testing.T) {
	r := rand.New(stattest.Source(t, "bisect"))
	for range 2000 {
		sparse, dense := randomSparse(r, 1+r.IntN(8), r.IntN(3) == 0, 1)
		centre := randomCentre(r, dense)
		axis := NewAxis(-r.Int64N(100), r.Int64N(1<<30), r.IntN(3), 2+r.IntN(8))
		seed := r.Uint64()
		ask := func(log *[]string) func(int, int64) bool {
			coin := rand.New(rand.NewPCG(seed, 1))
			return func(j int, atMost int64) bool {
				*log = append(*log, fmt.Sprint(j, atMost))
				return coin.IntN(2) == 0
			}
		}
		var asked, wanted []string
		got := sparseBisect(sparse, axis, centre, ask(&asked))
		want := Bisect(dense, axis, centre, ask(&wanted))
		if !slices.Equal(got, want) || !slices.Equal(asked, wanted) {
			t.Fatalf("got %v after %v, want %v after %v", got, asked, want, wanted)
		}
	}
}

// large returns a sparse block of several runs, with its persons in the given order.
func large(binary bool, order []int) *estimator.Block {
	b := &estimator.Block{Dim: 50, Sparse: true}
	for from := 0; from < len(order); from += 3000 {
		ch := estimator.Chunk{Starts: []int{0}}
		for _, i := range order[from:min(from+3000, len(order))] {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			for j := range b.Dim {
				if r.IntN(4) == 0 {
					ch.Index, ch.Values = append(ch.Index, int32(j)), append(ch.Values, value(r))
				}
			}
			ch.Persons++
			ch.Starts = append(ch.Starts, len(ch.Index))
		}
		if binary {
			ch.Values = nil
		}
		b.Chunks = append(b.Chunks, ch)
	}
	return b
}

// TestSparsePassesDoNotDependOnOrderOrCores permutes the persons and takes one core away.
func TestSparsePassesDoNotDependOnOrderOrCores(t *testing.T) {
	for _, binary := range []bool{true, false} {
		order := rand.New(stattest.Source(t, "order")).Perm(7000)
		pass := func(order []int) string {
			b, centre := large(binary, order), make([]int64, 50)
			for j := range centre {
				centre[j] = int64(j % 3)
			}
			norms := NormsIn(b, 1, centre, nil)
			sum := ClipSumIn(b, 1, centre, norms, 100)
			cells := sparseBisect(b, NewAxis(-1<<40, 1<<40, 0, 10), centre, func(_ int, atMost int64) bool { return 2*atMost < 7000 })
			slices.Sort(norms)
			return fmt.Sprint(norms, sum, cells)
		}
		want := pass(order)
		slices.Sort(order)
		if pass(order) != want {
			t.Error("the order of persons matters")
		}
		before := runtime.GOMAXPROCS(1)
		if pass(order) != want {
			t.Error("the number of cores matters")
		}
		runtime.GOMAXPROCS(before)
	}
}

// TestSparsePassesTakeAnyBlock: blocks without persons, and a coordinate that comes twice, which no
// store gives.
func TestSparsePassesTakeAnyBlock(t *testing.T) {
	for name, b := range map[string]*estimator.Block{
		"no chunks": {Dim: 3, Sparse: true},
		"no person": {Dim: 3, Sparse: true, Chunks: []estimator.Chunk{{}}},
		"no entry":  {Dim: 3, Sparse: true, Chunks: []estimator.Chunk{{Persons: 2, Starts: []int{0, 0, 0}}}},
		"twice":     {Dim: 3, Sparse: true, Chunks: []estimator.Chunk{{Persons: 1, Starts: []int{0, 3}, Index: []int32{2, 2, 2}}}},
		"mixed": {Dim: 3, Sparse: true, Chunks: []estimator.Chunk{
			{Persons: 1, Starts: []int{0, 1}, Index: []int32{2}}, {Persons: 1, Starts: []int{0, 1}, Index: []int32{2}, Values: []int64{5}},
		}},
	} {
		norms := NormsIn(b, 1, nil, nil)
		sum := ClipSumIn(b, 1, nil, norms, 1)
		cells := sparseBisect(b, NewAxis(0, 100, 0, 63), nil, func(int, int64) bool { return false })
		if len(norms) != int(b.Persons()) || len(sum) != 3 || len(cells) != 3 {
			t.Errorf("%s: %d norms, %d sums, %d cells", name, len(norms), len(sum), len(cells))
		}
	}
}
