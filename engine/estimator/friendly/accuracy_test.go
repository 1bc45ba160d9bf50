package friendly

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/vector"
	"scrim/internal/stattest"
)

// open is a lattice of 2^-20 within ±2^20, one row a person.
var open = estimator.Params{MaxRows: 1, Grid: estimator.Grid{Step: 0x1p-20, Lo: -1 << 40, Hi: 1 << 40}}

// decaying are the spreads 0.9^j.
func decaying(dim int) []float64 {
	s := make([]float64, dim)
	for j := range s {
		s[j] = math.Max(math.Pow(0.9, float64(j)), 1e-90)
	}
	return s
}

// normal returns persons from N(mu, diag sigma²), mu = 7 in every coordinate.
func normal(r *rand.Rand, n int, sigma []float64) *estimator.Block {
	x := make([]int64, 0, n*len(sigma))
	for range n {
		for _, s := range sigma {
			x = append(x, int64(math.Round((7+s*r.NormFloat64())*0x1p20)))
		}
	}
	return &estimator.Block{Dim: len(sigma), Chunks: []estimator.Chunk{{Persons: n, Dense: x}}}
}

// errors returns the distances of the data's mean and of the answer from the truth; NaN where there is none.
func errorsOf(e estimator.Estimator, n noise.Noiser, b *estimator.Block) (sample, private float64) {
	for j := range b.Dim {
		m := 0.0
		for i := range b.Chunks[0].Persons {
			m += float64(b.Chunks[0].Dense[i*b.Dim+j])
		}
		m = m/float64(b.Chunks[0].Persons)/0x1p20 - 7
		sample += m * m
	}
	a := e.Release(n, estimator.Input{Vectors: b})
	if a.Status != estimator.OK {
		return math.Sqrt(sample), math.NaN()
	}
	for _, v := range a.Values {
		private += (v - 7) * (v - 7)
	}
	return math.Sqrt(sample), math.Sqrt(private)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func TestTune(t *testing.T) {
	for _, c := range []struct {
		dim, n   int
		declared bool
	}{{4096, 2000, true}, {4096, 2000, false}, {4096, 600, true}, {4096, 600, false}} {
		for _, rel := range []estimator.Params{{}, {Relation: estimator.ReplaceOne, Sized: true}, {Relation: estimator.ReplaceOne}} {
			sigma := decaying(c.dim)
			p := Params{Params: open, Dim: c.dim, Delta: 2.7e-9}
			p.Rho, p.Relation, p.Sized = 0.5, rel.Relation, rel.Sized
			if c.declared {
				p.Sigma = sigma
			}
			e, err := NewMean(p)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprint(c, rel.Relation, rel.Sized)
			r, nz := rand.New(stattest.Source(t, name)), stattest.Noiser(t, name)
			var xs, ys []float64
			start := time.Now()
			for range 2 {
				x, y := errorsOf(e, nz, normal(r, c.n, sigma))
				xs, ys = append(xs, x), append(ys, y)
			}
			t.Logf("%v: least %d, non-private %.4f, private %.4f %v ratio %.3f, %v", name, e.MinPersons(), median(xs), median(ys), ys, median(ys)/median(xs), time.Since(start)/3)
		}
	}
	_ = vector.Auto
}
