package exponential

import (
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/test/stattest"
)

// rankLaw returns the probability of every cell, from the weights that are drawn by.
func rankLaw(q Quantile, values []uint64, cells uint64) []float64 {
	var w wheel
	q.fill(&w, runs(nil, nil, values), 0, cells-1)
	weights, sum := exactLaw(&w, cells)
	p := make([]float64, cells)
	for i, x := range weights {
		a, _ := x.Float64()
		b, _ := sum.Float64()
		p[i] = a / b
	}
	return p
}

// TestRankLossByEnumeration compares the laws on every pair of tiny neighbours with the loss and
// with the range of the log ratio that proves it; where a person had two values, they would pass
// both.
func TestRankLossByEnumeration(t *testing.T) {
	const rho, cells = 0.3, 5
	for rank := int64(1); rank <= 3; rank++ {
		q := NewRank(rank, rho)
		for _, relation := range relations {
			for values := 1; values <= 2; values++ {
				wide, loss := 0.0, 0.0
				neighbours(databases(4, cells), cells, values, relation, func(a, b []uint64) {
					p, r := rankLaw(q, a, cells), rankLaw(q, b, cells)
					wide, loss = max(wide, span(p, r)), max(loss, divergence(p, r))
				})
				if over := wide > 2*q.rate*(1+1e-9) || loss > rho; over != (values == 2) {
					t.Errorf("rank %d, %v, %d values a person: range %v of %v, loss %v of %v", rank, relation, values, wide, 2*q.rate, loss, rho)
				}
				if values == 1 && wide < 1.99*q.rate {
					t.Errorf("rank %d, %v: the range is only %v of %v", rank, relation, wide, 2*q.rate)
				}
			}
		}
	}
}

// TestPureRankByEnumeration: the same with ε, exactly.
func TestPureRankByEnumeration(t *testing.T) {
	const eps, cells = 1.5, 4
	q, err := NewPureRank(2, eps)
	if err != nil {
		t.Fatal(err)
	}
	for _, relation := range relations {
		for values := 1; values <= 2; values++ {
			within := true
			neighbours(databases(3, cells), cells, values, relation, func(a, b []uint64) {
				var wa, wb wheel
				q.fill(&wa, runs(nil, nil, a), 0, cells-1)
				q.fill(&wb, runs(nil, nil, b), 0, cells-1)
				worst, ok := ratio(&wa, &wb, cells)
				fits := false
				if ok {
					fits, _ = withinEps(worst, eps)
				}
				within = within && fits
			})
			if within != (values == 1) {
				t.Errorf("%v, %d values a person: within ε: %v", relation, values, within)
			}
		}
	}
	if _, err := NewPureRank(2, 1e-300); err == nil {
		t.Error("a loss that cannot be divided was taken")
	}
}

// TestWindowChangesNoRank: with the window alone a choice of a rank is the same, of ranks that the
// values do not reach too.
func TestWindowChangesNoRank(t *testing.T) {
	const cells = 1 << 12
	r := rand.New(stattest.Source(t, "rank window"))
	for range 200 {
		of := make([]uint32, r.IntN(3000))
		for i := range of {
			of[i] = uint32(r.IntN(cells))
		}
		q := NewRank(1+r.Int64N(4000), 10)
		all := runs(nil, nil, slices.Sorted(slices.Values(of)))
		want := q.pick(stattest.Noiser(t, "words"), new(wheel), all, 0, cells-1)
		if got := q.Choose(stattest.Noiser(t, "words"), nil, of, cells); uint64(got) != want {
			t.Fatalf("rank %d of %d: got %d, want %d", q.rank, len(of), got, want)
		}
	}
}
