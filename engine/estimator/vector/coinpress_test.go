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

// frobenius returns ‖Σ̂ − diag(variances)‖ in the Frobenius norm.
func frobenius(values, variances []float64) float64 {
	d, q := len(variances), 0.0
	for i, v := range values {
		if i%(d+1) == 0 {
			v -= variances[i/d]
		}
		q += v * v
	}
	return math.Sqrt(q)
}

// TestCovarianceErrors does the same for the covariance of 10 coordinates of variance 1, where the
// bound is 10√10. The reference figures, under replace-one, are 0.306 and 0.133; those of the exact
// covariance 0.191 and 0.117.
func TestCovarianceErrors(t *testing.T) {
	for _, c := range []struct {
		relation estimator.Relation
		o        CovarianceOptions
		n        int
		want     float64
	}{
		{estimator.ReplaceOne, CovarianceOptions{ZeroMean: true}, 3000, 0.306},
		{estimator.ReplaceOne, CovarianceOptions{ZeroMean: true}, 8000, 0.133},
		{estimator.AddRemove, CovarianceOptions{ZeroMean: true}, 3000, 0.25},
		{estimator.AddRemove, CovarianceOptions{Rounds: 4}, 8000, 0.24},
	} {
		e, err := NewCovariance(within10(10, 0.5, c.relation), c.o)
		if err != nil {
			t.Fatal(err)
		}
		n, r, sum := stattest.Noiser(t, "noise"), rand.New(stattest.Source(t, "persons")), 0.0
		const runs = 12
		for range runs {
			a := e.Release(n, estimator.Input{Persons: int64(c.n), Vectors: normalBlock(r, c.n, constant(10, 1))})
			sum += frobenius(a.Values, constant(10, 1))
		}
		t.Logf("%v %+v n=%d: %.4f (%.3f), needs %d", c.relation, c.o, c.n, sum/runs, c.want, e.MinPersons())
		if got := sum / runs; got > 1.1*c.want || got < 0.8*c.want {
			t.Errorf("%v, %+v, n = %d: mean error %.4f, want about %.3f", c.relation, c.o, c.n, got, c.want)
		}
	}
}

// TestWhitenedMeanFindsTheSpread: with very different spreads, of which only the largest is
// declared, the mean by way of the covariance comes near the sampling error, and refined clipping
// with the declared spread does not.
func TestWhitenedMeanFindsTheSpread(t *testing.T) {
	const n, runs = 20000, 4
	deviations := []float64{5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}
	p := within10(10, 0.05, estimator.AddRemove)
	p.Sigma, p.SigmaMax, p.Rounds = nil, 5, 10
	e, err := NewWhitenedMean(p, CovarianceOptions{Rounds: 5})
	if err != nil {
		t.Fatal(err)
	}
	direct := coinpressMean(t, p)
	noiser, r := stattest.Noiser(t, "noise"), rand.New(stattest.Source(t, "persons"))
	var by, plain float64
	for range runs {
		in := estimator.Input{Persons: int64(n), Vectors: normalBlock(r, n, deviations)}
		a, b := e.Release(noiser, in), direct.Release(noiser, in)
		if a.Status != estimator.OK || b.Status != estimator.OK {
			t.Fatalf("%v %v, %d and %d needed", a.Status, b.Status, e.MinPersons(), direct.MinPersons())
		}
		by, plain = by+norm(a.Values[1:]), plain+norm(b.Values[1:])
	}
	t.Logf("small coordinates: %.4f by the covariance, %.4f without", by/runs, plain/runs)
	if by > plain/2 {
		t.Errorf("the error of the small coordinates is %.4f by the covariance, %.4f without", by/runs, plain/runs)
	}
}
