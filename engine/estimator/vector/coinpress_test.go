package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// normalBlock draws persons from N(0, diag(deviations²)) in steps of 2^-20.
func normalBlock(r *rand.Rand, persons int, deviations []float64) *estimator.Block {
	d := len(deviations)
	ch := estimator.Chunk{Persons: persons, Dense: make([]int64, persons*d)}
	for i := range ch.Dense {
		ch.Dense[i] = int64(math.Round(r.NormFloat64() * deviations[i%d] * (1 << 20)))
	}
	return &estimator.Block{Dim: d, Chunks: []estimator.Chunk{ch}}
}

// ones returns d numbers of one value.
func constant(d int, x float64) []float64 {
	out := make([]float64, d)
	for i := range out {
		out[i] = x
	}
	return out
}

// within10 are the parameters of vectors of mean within ±10 a coordinate: a ball of radius 10√d.
func within10(d int, rho float64, relation estimator.Relation) Params {
	lo, hi := int64(-10<<20), int64(10<<20)
	return Params{
		Params: estimator.Params{
			Rho: rho, Grid: estimator.Grid{Step: 0x1p-20, Lo: -1 << 40, Hi: 1 << 40}, Lower: &lo, Upper: &hi, MaxRows: 1,
			Relation: relation, Sized: relation == estimator.ReplaceOne,
		},
		Dim: d, Method: Coinpress, Sigma: []float64{1}, SigmaMax: math.Sqrt(10 * math.Sqrt(float64(d))),
	}
}

// coinpressMean is NewMean's estimator for method=coinpress, with all of the loss on the core if
// the number is public.
func coinpressMean(t testing.TB, p Params) mean {
	t.Helper()
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	b := newBudget(p.Rho)
	count := newPersons(p, p.countLoss(b))
	c, err := newCoinpress(p, b.rest())
	if err != nil {
		t.Fatal(err)
	}
	return mean{p: p, count: count, core: c}
}

// TestCoinpressErrors compares the mean error on spherical Gaussians with the figures of the
// reference code.
func TestCoinpressErrors(t *testing.T) {
	for _, c := range []struct {
		relation estimator.Relation
		n, t     int
		want     float64
	}{
		{estimator.ReplaceOne, 1000, 1, 1.071}, {estimator.ReplaceOne, 1000, 2, 0.280}, {estimator.ReplaceOne, 1000, 4, 0.272},
		{estimator.ReplaceOne, 10000, 1, 0.127}, {estimator.ReplaceOne, 10000, 2, 0.071}, {estimator.ReplaceOne, 10000, 4, 0.073},
		{estimator.AddRemove, 1000, 4, 0.233}, {estimator.AddRemove, 10000, 4, 0.070},
	} {
		p := within10(50, 0.5, c.relation)
		p.Rounds = c.t
		e, n := coinpressMean(t, p), stattest.Noiser(t, "noise")
		r := rand.New(stattest.Source(t, "persons"))
		runs := 40000 / c.n
		sum := 0.0
		for range runs {
			a := e.Release(n, estimator.Input{Persons: int64(c.n), Vectors: normalBlock(r, c.n, constant(50, 1))})
			if a.Status != estimator.OK {
				t.Fatalf("%v", a.Status)
			}
			sum += norm(a.Values)
		}
		// The error has a deviation of about a tenth; 6 deviations of the mean of the runs.
		got, slack := sum/float64(runs), 0.6/math.Sqrt(float64(runs))
		t.Logf("%v n=%d t=%d: %.4f (reference %.3f)", c.relation, c.n, c.t, got, c.want)
		if got > c.want*(1.05+slack) || got < c.want*(0.9-slack) {
			t.Errorf("%v, n = %d, %d rounds: mean error %.4f, want about %.3f", c.relation, c.n, c.t, got, c.want)
		}
	}
}
