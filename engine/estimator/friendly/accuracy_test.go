package friendly

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/vector"
	"scrim/test/stattest"
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

// errorsOf returns the distances of the data's mean and of the answer from the truth; NaN where
// there is none.
func errorsOf(e estimator.Estimator, n noise.Noiser, b *estimator.Block) (sample, private float64) {
	for j := range b.Dim {
		m := 0.0
		for i := range b.Chunks[0].Persons {
			m += float64(b.Chunks[0].Dense[i*b.Dim+j])
		}
		m = m/float64(b.Chunks[0].Persons)/0x1p20 - 7
		sample += m * m
	}
	a := e.Release(n, estimator.Input{Persons: b.Persons(), Vectors: b})
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

var trials = flag.Int("friendly.trials", 1, "trials of the target's setting, and of other methods if it is more than one")

var size = flag.Int("friendly.persons", 2000, "persons of the target's setting")

// TestTarget is the setting of docs/decisions/anisotropic.md: more dimensions than persons, and a
// mean within four times the error of the data's own.
func TestTarget(t *testing.T) {
	const dim = 4096
	sigma := decaying(dim)
	theory := math.Sqrt(1/(1-0.81)) / math.Sqrt(float64(*size))
	for _, k := range []kind{{declared: true}, {}, {relation: estimator.ReplaceOne, sized: true, declared: true}, {relation: estimator.ReplaceOne, sized: true},
		{relation: estimator.ReplaceOne, declared: true}, {relation: estimator.ReplaceOne}} {
		if k.relation == estimator.ReplaceOne && !k.sized && *trials == 1 {
			continue
		}
		p := Params{Params: open, Dim: dim, Delta: 2.7e-9} // with 1e-6/2 = (1+e^5.22)·Delta
		p.Rho, p.Relation, p.Sized = 0.5, k.relation, k.sized
		if k.declared {
			p.Sigma = sigma
		}
		e, err := NewMean(p)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("%v,sized=%v,declared=%v", k.relation, k.sized, k.declared), func(t *testing.T) {
			sample, private := several(t, t.Name(), e, *size, sigma)
			if !(private < 4*theory) || !(sample < 2*theory) {
				t.Errorf("error %.4f, want 4 times %.4f at most", private, theory)
			}
		})
	}
}

// TestOtherMethods shows what the methods of package vector do there.
func TestOtherMethods(t *testing.T) {
	if *trials < 2 {
		t.Log("only with -friendly.trials")
		return
	}
	sigma := decaying(4096)
	for _, m := range []struct {
		name string
		p    vector.Params
	}{
		{"shifted", vector.Params{Method: vector.Shifted}}, {"plan", vector.Params{Method: vector.Plan}}, {"auto", vector.Params{}},
		{"plan, declared", vector.Params{Method: vector.Plan, Scale: vector.Declared, Sigma: sigma}}, {"auto, declared", vector.Params{Sigma: sigma}},
	} {
		for _, sized := range []bool{false, true} {
			p := m.p
			p.Params, p.Dim = open, 4096
			p.Rho, p.Sized = 0.5, sized
			if sized {
				p.Relation = estimator.ReplaceOne
			}
			e, err := vector.NewMean(p)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s,sized=%v,from=%d", m.name, sized, e.MinPersons()), func(t *testing.T) { several(t, t.Name(), e, *size, sigma) })
		}
	}
}

// several returns the median errors of the data's mean and of the answer, +Inf for none.
func several(t *testing.T, name string, e estimator.Estimator, persons int, sigma []float64) (sample, private float64) {
	r, n := rand.New(stattest.Source(t, name)), stattest.Noiser(t, name)
	var xs, ys []float64
	none := 0
	for range *trials {
		x, y := errorsOf(e, n, normal(r, persons, sigma))
		if math.IsNaN(y) {
			y = math.Inf(1)
			none++
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	sample, private = median(xs), median(ys)
	t.Logf("%s: non-private %.4f, private %.4f, ratio %.3f, no answer in %d of %d", name, sample, private, private/sample, none, *trials)
	return sample, private
}

// TestStandardErrorsAreThoseOfTheAnswers compares the noise that answers say they have with what
// they have: the distance from the data's mean, which also has the part of those left out.
func TestStandardErrorsAreThoseOfTheAnswers(t *testing.T) {
	sigma := slices.Repeat([]float64{1}, 40)
	for _, k := range kinds() {
		if k.sampled {
			continue
		}
		p := Params{Params: open, Dim: 40, Delta: 1e-9, Sigma: sigma}
		p.Rho, p.Relation, p.Sized = 1, k.relation, k.sized
		if !k.declared {
			p.Sigma = nil
		}
		e, err := NewMean(p)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("errors %+v", k)
		r, n := rand.New(stattest.Source(t, name)), stattest.Noiser(t, name)
		got, want := 0.0, 0.0
		for range 5 {
			b := normal(r, 900, sigma)
			a := e.Release(n, estimator.Input{Persons: b.Persons(), Vectors: b})
			all := meanOf(rowsOf(b), slices.Repeat([]bool{true}, 900))
			for j, v := range a.Values {
				d := v - all[j]/0x1p20
				got, want = got+d*d, want+a.StdErr[j]*a.StdErr[j]
			}
		}
		if ratio := math.Sqrt(got / want); ratio < 0.8 || ratio > 1.3 {
			t.Errorf("%+v: answers are off by %.3f of their standard errors", k, ratio)
		}
	}
}

func rowsOf(b *estimator.Block) (rows [][]int64) {
	for x := b.Chunks[0].Dense; len(x) > 0; x = x[b.Dim:] {
		rows = append(rows, x[:b.Dim])
	}
	return rows
}
