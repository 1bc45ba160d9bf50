package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

func ofVariance(stddev, population bool) func(Params) (estimator.Estimator, error) {
	return func(p Params) (estimator.Estimator, error) { return NewVariance(p, stddev, population) }
}

// varianceSounds lists the variances that take different steps.
func varianceSounds() []sound {
	p := openParams()
	rows, bounded := p, p
	rows.MaxRows, rows.Relative = 0, true
	lo, hi := int64(-300), int64(1000)
	bounded.Lower, bounded.Upper = &lo, &hi
	declared, paired := p, p
	declared.Scale, declared.Sigma = Declared, []float64{0.03, 5, 1e6}
	em := declared
	em.Search = Exponential
	paired.Scale = Pairs
	sparse := p
	sparse.Sparse, sparse.Dim, sparse.Grid.Lo, sparse.Grid.Hi = true, 5, 0, 1000
	binary := sparse
	binary.Grid.Hi = 1
	variance, stddev := ofVariance(false, false), ofVariance(true, true)
	return []sound{
		{name: "variance with declared scales", fixed: true, make: variance, p: declared, slow: true},
		{name: "variance by the exponential mechanism", make: variance, p: em, fixed: true, slow: true},
		{name: "variance", make: variance, p: p, paired: true, mixed: true, slow: true},
		{name: "stddev of rows", make: stddev, p: rows, paired: true, mixed: true, loose: true},
		{name: "variance with bounds", make: variance, p: bounded, paired: true, mixed: true, slow: true, loose: true},
		{name: "variance with scales of pairs", make: variance, p: paired, paired: true, mixed: true},
		{name: "sparse variance", make: variance, p: sparse, halves: true, slow: true},
		{name: "binary stddev", make: stddev, p: binary, slow: true},
	}
}

func TestVarianceSoundness(t *testing.T) {
	for _, s := range varianceSounds() {
		t.Run(s.name, func(t *testing.T) { s.check(t) })
	}
}

func TestVarianceEdges(t *testing.T) {
	for _, s := range varianceSounds() {
		s.edgeInputs(t)
	}
}

// varied draws persons with spreads from 1 to 100 and means of 540 a coordinate.
func varied(r *rand.Rand, n, d int, draw func(*rand.Rand) float64) (*estimator.Block, []float64) {
	ch := estimator.Chunk{Persons: n, Dense: make([]int64, n*d)}
	sum, squares := make([]float64, d), make([]float64, d)
	for i := range ch.Dense {
		j := i % d
		ch.Dense[i] = int64(math.Round((540 + math.Pow(100, float64(j)/float64(d))*draw(r)) * 1024))
		x := float64(ch.Dense[i])/1024 - 540
		sum[j], squares[j] = sum[j]+x, squares[j]+x*x
	}
	for j := range sum {
		squares[j] = (squares[j] - sum[j]*sum[j]/float64(n)) / float64(n-1)
	}
	return &estimator.Block{Dim: d, Chunks: []estimator.Chunk{ch}}, squares
}

// TestVarianceErrors bounds the typical relative error of the coordinates' variances, and checks
// that the stated standard errors are of its size, for Gaussians and for a skewed law.
func TestVarianceErrors(t *testing.T) {
	skewed := func(r *rand.Rand) float64 { return r.ExpFloat64() }
	normal := func(r *rand.Rand) float64 { return r.NormFloat64() }
	for _, c := range []struct {
		name string
		draw func(*rand.Rand) float64
		d    int
		rel  bool
		rho  float64
		most [2]float64
	}{
		{"normal", normal, 1, true, 0.1, [2]float64{0.005, 0.01}},
		{"normal", normal, 20, true, 0.1, [2]float64{0.003, 0.006}},
		{"normal", normal, 20, false, 0.1, [2]float64{0.003, 0.006}},
		{"exponential", skewed, 20, true, 0.1, [2]float64{0.02, 0.03}},
	} {
		for _, relation := range relationsOf {
			const n, runs = 20000, 5
			p := Params{
				Params: estimator.Params{Rho: c.rho, Grid: estimator.Grid{Step: 0x1p-10, Lo: -1 << 40, Hi: 1 << 40}, Relation: relation, MaxRows: 1},
				Dim:    c.d, Relative: c.rel,
			}
			e, err := NewVariance(p, false, false)
			if err != nil {
				t.Fatal(err)
			}
			r, noiser := rand.New(stattest.Source(t, "persons"+c.name)), stattest.Noiser(t, "noise")
			var off, z []float64
			for range runs {
				b, want := varied(r, n, c.d, c.draw)
				a := e.Release(noiser, estimator.Input{Persons: b.Persons(), Vectors: b})
				if a.Status != estimator.OK {
					t.Fatalf("%s, d = %d: %d persons needed", c.name, c.d, a.Needed)
				}
				for j, v := range want {
					off = append(off, math.Abs(a.Values[j]/v-1))
					z = append(z, math.Abs(a.Values[j]-v)/a.StdErr[j])
				}
			}
			slices.Sort(off)
			slices.Sort(z)
			t.Logf("%s d=%d relative=%v %v: median relative error %.4f, largest %.4f; median z %.2f; needs %d", c.name, c.d, c.rel, relation,
				off[len(off)/2], off[len(off)-1], z[len(z)/2], e.MinPersons())
			if m := off[len(off)/2]; m > c.most[relation] {
				t.Errorf("%s, d = %d, %v: median relative error %.4f, want at most %v", c.name, c.d, relation, m, c.most[relation])
			}
		}
	}
}

var relationsOf = []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne}
