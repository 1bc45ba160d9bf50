package block

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// roundRat rounds half to even.
func roundRat(x *big.Rat) int64 {
	two := new(big.Int).Lsh(x.Denom(), 1)
	q, r := new(big.Int).DivMod(new(big.Int).Add(new(big.Int).Lsh(x.Num(), 1), x.Denom()), two, new(big.Int))
	if r.Sign() == 0 && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return q.Int64()
}

func TestMeansAreRoundedOnce(t *testing.T) {
	r := rand.New(stattest.Source(t, "means"))
	for range 300 {
		dim, shift := dims[r.IntN(5)], uint(r.IntN(11))
		b := dense(r, dim, 3, randomRows(r, r.IntN(9), dim, []int{3, 50, 52}[r.IntN(3)]))
		for c := range b.Chunks {
			if r.IntN(3) > 0 {
				for range b.Chunks[c].Persons {
					b.Chunks[c].Rows = append(b.Chunks[c].Rows, []int64{1, 2, 6, 1 + r.Int64N(1<<40)}[r.IntN(4)])
				}
			}
		}
		before := fmt.Sprint(b.Chunks)
		got, i := all(Means(b, shift)), 0
		if fmt.Sprint(b.Chunks) != before {
			t.Fatal("the block was written in")
		}
		for _, ch := range b.Chunks {
			for p := range ch.Persons {
				m := int64(1)
				if ch.Rows != nil {
					m = ch.Rows[p]
				}
				for j := range dim {
					total := min(max(ch.Dense[p*dim+j], -estimator.MaxUnits), estimator.MaxUnits)
					want := roundRat(new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(total), shift), big.NewInt(m)))
					if got[i][j] != want {
						t.Fatalf("%d·2^%d/%d became %d, want %d", total, shift, m, got[i][j], want)
					}
				}
				i++
			}
		}
		if i != len(got) {
			t.Fatalf("%d persons became %d", i, len(got))
		}
	}
}

func TestMeansOfOneRowAreTheBlock(t *testing.T) {
	b := &estimator.Block{Dim: 1, Chunks: []estimator.Chunk{{Persons: 2, Dense: []int64{3, 4}}, {Persons: 1, Dense: []int64{5}, Rows: []int64{1}}}}
	if Means(b, 0) != b {
		t.Error("a copy for nothing")
	}
	if got := all(Means(b, 1)); fmt.Sprint(got) != "[[6] [8] [10]]" {
		t.Errorf("got %v", got)
	}
}

func TestSparseMeansAreTheDenseOnes(t *testing.T) {
	r := rand.New(stattest.Source(t, "sparse means"))
	for range 300 {
		sparse, dense := randomSparse(r, 1+r.IntN(8), r.IntN(2) == 0, 1)
		var rows []int64
		for range sparse.Persons() {
			rows = append(rows, 1+r.Int64N(5))
		}
		for _, b := range []*estimator.Block{sparse, dense} {
			at := 0
			for c := range b.Chunks {
				ch := &b.Chunks[c]
				ch.Rows = rows[at : at+ch.Persons]
				at += ch.Persons
			}
		}
		got, want := all(densify(Means(sparse, 3))), all(Means(dense, 3))
		if !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func densify(b *estimator.Block) *estimator.Block {
	out := &estimator.Block{Dim: b.Dim}
	for _, ch := range b.Chunks {
		d := estimator.Chunk{Persons: ch.Persons, Dense: make([]int64, ch.Persons*b.Dim)}
		for i := range ch.Persons {
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				d.Dense[i*b.Dim+int(ch.Index[e])] = ch.Values[e]
			}
		}
		out.Chunks = append(out.Chunks, d)
	}
	return out
}
