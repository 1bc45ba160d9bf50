package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// manyPersons is a block of normal vectors with spreads 2^10·(j+1) about 10^5·j, in chunks of any
// length.
func manyPersons(r *rand.Rand, persons, dim int) *estimator.Block {
	b := &estimator.Block{Dim: dim}
	for persons > 0 {
		ch := estimator.Chunk{Persons: min(persons, r.IntN(3000))}
		persons -= ch.Persons
		for range ch.Persons {
			for j := range dim {
				ch.Dense = append(ch.Dense, int64(1e5*float64(j)+r.NormFloat64()*float64(1024*(j+1))))
			}
		}
		b.Chunks = append(b.Chunks, ch)
	}
	return b
}

// TestSampleKeepsPersonsByTheirCoins: a sample has the vectors of the persons whose coins say so,
// in order, about as many as it says; and there is none where half of the persons would be in it.
func TestSampleKeepsPersonsByTheirCoins(t *testing.T) {
	r := rand.New(stattest.Source(t, "sample"))
	b := manyPersons(r, 50_000, 3)
	d := newDense(Params{Params: open(), Dim: 3, Method: Shifted}, persons{}, 1, always, never)
	if d.sizes.centre != leastSample {
		t.Fatalf("a sample of %v persons", d.sizes.centre)
	}
	some := d.lots(stattest.Noiser(t, "coins"), b, 50_000).some(leastSample)
	kept := some.Persons()
	stattest.Accept(t, stattest.ChiSquare("kept", []int64{kept, 50_000 - kept}, []float64{some.count / 50_000, 1 - some.count/50_000}))
	if math.Abs(some.count-leastSample) > 1 {
		t.Errorf("a sample of %v persons, not %d", some.count, leastSample)
	}
	all, at := rowsOf(b), 0
	for _, x := range rowsOf(some.Block) {
		for at < len(all) && !slices.Equal(all[at], x) {
			at++
		}
	}
	if at == len(all) {
		t.Error("a vector of the sample is not in the block, or out of order")
	}
	if all := d.lots(stattest.Noiser(t, "coins"), b, 2*leastSample-1).some(leastSample); all.Block != b || all.count != 2*leastSample-1 {
		t.Error("a sample of more than half")
	}
}

func open() estimator.Params {
	return estimator.Params{MaxRows: 1, Grid: estimator.Grid{Step: 0x1p-10, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}
}

func rowsOf(b *estimator.Block) [][]int64 {
	var rows [][]int64
	for _, ch := range b.Chunks {
		for x := ch.Dense; len(x) > 0; x = x[b.Dim:] {
			rows = append(rows, x[:b.Dim])
		}
	}
	return rows
}

// TestSampleCostsNothing compares the errors of whole means with those of means that look at
// everybody, and at 200 persons.
func TestSampleCostsNothing(t *testing.T) {
	const dim, count, runs = 8, 40_000, 30
	b := manyPersons(rand.New(stattest.Source(t, "cost")), count, dim)
	truth := make([]float64, dim)
	for _, x := range rowsOf(b) {
		for j, v := range x {
			truth[j] += float64(v) / 1024 / count
		}
	}
	squares := func(method Method, rotate bool, size float64) float64 {
		p := Params{Params: open(), Dim: dim, Method: method, Rotate: rotate}
		p.Rho, p.Sized, p.Relation = 0.1, true, estimator.ReplaceOne
		e, err := NewMean(p)
		if err != nil {
			t.Fatal(err)
		}
		c := sampling(e.(mean).core, size)
		if coinOf(c, count) == firstpass.CoinSides && size < count/2 {
			t.Fatal("no sample is taken")
		}
		n, q := noise.New(rand.NewPCG(1, 2)), 0.0
		for range runs {
			for j, v := range c.release(n, p.group(b), count).Values {
				q += (v - truth[j]) * (v - truth[j]) / runs
			}
		}
		return q
	}
	for _, c := range []struct {
		name   string
		method Method
		rotate bool
	}{{"shifted", Shifted, false}, {"rotated", Shifted, true}, {"plan", Plan, false}} {
		all, some, few := squares(c.method, c.rotate, count), squares(c.method, c.rotate, leastSample), squares(c.method, c.rotate, 40)
		t.Logf("%s: squared errors %.3g, sampled %.3g, of few persons %.3g", c.name, all, some, few)
		// Of two sums of the squares of 240 normal errors one is twice the other with a
		// probability of less than 10^-6.
		if some > 2*all {
			t.Errorf("%s: a sample has a squared error of %v, everybody %v", c.name, some, all)
		}
		if few < 2*all {
			t.Errorf("%s: a centre from 40 persons is as good as any", c.name)
		}
	}
}
