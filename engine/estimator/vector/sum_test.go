package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// sumSounds lists the sums that are of several forms: signs, bounds, rows, sparse.
func sumSounds() []sound {
	p := openParams()
	positive, bounded, rows := p, p, p
	positive.Grid.Lo = 0
	lo, hi := int64(-300), int64(1000)
	bounded.Lower, bounded.Upper, bounded.MaxRows = &lo, &hi, 3
	rows.MaxRows = 0
	sparse := p
	sparse.Sparse, sparse.Dim = true, 5
	return []sound{
		{name: "sum", make: NewSum, p: p}, {name: "sum of no negative numbers", make: NewSum, p: positive},
		{name: "sum with bounds", make: NewSum, p: bounded}, {name: "sum of rows", make: NewSum, p: rows},
		{name: "sparse sum", make: NewSum, p: sparse},
	}
}

func TestSumSoundness(t *testing.T) {
	for _, s := range sumSounds() {
		t.Run(s.name, func(t *testing.T) { s.check(t) })
	}
}

func TestSumEdges(t *testing.T) {
	for _, s := range sumSounds() {
		s.edgeInputs(t)
	}
}

// TestSumErrors bounds the relative error on vectors of log-normal numbers, under replace-one too,
// where it is larger by about √2 as the numbers are not negative.
func TestSumErrors(t *testing.T) {
	const n = 10000
	for _, c := range []struct {
		d    int
		runs int
		rho  float64
		most [2]float64 // of each relation
	}{
		{1, 40, 0.05, [2]float64{0.008, 0.012}}, {1, 40, 0.5, [2]float64{0.003, 0.005}}, {100, 5, 0.5, [2]float64{0.006, 0.008}},
	} {
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			e, err := NewSum(Params{
				Params: estimator.Params{Rho: c.rho, Grid: estimator.Grid{Step: 0x1p-10, Lo: 0, Hi: 1 << 50}, Relation: relation}, Dim: c.d,
			})
			if err != nil {
				t.Fatal(err)
			}
			r, noiser := rand.New(stattest.Source(t, "persons")), stattest.Noiser(t, "noise")
			total := 0.0
			for range c.runs {
				ch := estimator.Chunk{Persons: n, Dense: make([]int64, n*c.d)}
				exact := make([]float64, c.d)
				for i := range ch.Dense {
					ch.Dense[i] = int64(1024 * math.Exp(r.NormFloat64()))
					exact[i%c.d] += float64(ch.Dense[i]) / 1024
				}
				a := e.Release(noiser, estimator.Input{Persons: int64(ch.Persons), Vectors: &estimator.Block{Dim: c.d, Chunks: []estimator.Chunk{ch}}})
				if a.Status != estimator.OK {
					t.Fatalf("status %v", a.Status)
				}
				for j, x := range exact {
					a.Values[j] -= x
				}
				total += norm(a.Values) / norm(exact)
			}
			t.Logf("d=%d rho=%v %v: %.5f", c.d, c.rho, relation, total/float64(c.runs))
			if total/float64(c.runs) > c.most[relation] {
				t.Errorf("d = %d, rho %v, %v: relative error %.5f, want at most %v", c.d, c.rho, relation, total/float64(c.runs), c.most[relation])
			}
		}
	}
}

// TestSumStdErrIsTheNoise: with all persons alike and no radius but the bound's, the spread of the
// answers is the stated one.
func TestSumStdErrIsTheNoise(t *testing.T) {
	p := openParams()
	p.Rho, p.Grid.Lo, p.Grid.Hi = 0.1, -1000, 1000
	e, err := NewSum(p)
	if err != nil {
		t.Fatal(err)
	}
	ch := estimator.Chunk{Persons: 2000, Dense: make([]int64, 6000)}
	for i := range ch.Dense {
		ch.Dense[i] = []int64{300, -400, 0}[i%3] // norm 500
	}
	in := estimator.Input{Persons: int64(ch.Persons), Vectors: &estimator.Block{Dim: 3, Chunks: []estimator.Chunk{ch}}}
	draws := func(noiser string, factor int64) []float64 {
		var z []float64
		n := stattest.Shrunk{Noiser: stattest.Noiser(t, noiser), Factor: factor}
		for range 300 {
			a := e.Release(n, in)
			for j, want := range []float64{6000, -8000, 0} {
				z = append(z, (a.Values[j]-want)/a.StdErr[j])
			}
		}
		return z
	}
	stattest.Accept(t, stattest.Variance("sum", draws("a", 1), 1, 3))
	stattest.Reject(t, stattest.Variance("sum", draws("b", 2), 1, 3))
}

// TestSizedSumIsTheMeanTimesN: the totals of a public number of persons, by way of their mean.
func TestSizedSumIsTheMeanTimesN(t *testing.T) {
	const n = 20000
	r := rand.New(stattest.Source(t, "persons"))
	ch := estimator.Chunk{Persons: n, Dense: make([]int64, 3*n), Rows: make([]int64, n)}
	exact := make([]float64, 3)
	for i := range ch.Dense {
		ch.Rows[i/3] = 2
		ch.Dense[i] = 100000 + int64(100*r.NormFloat64())
		exact[i%3] += float64(ch.Dense[i]) / 100
	}
	p := openParams()
	p.Rho, p.Relation, p.MaxRows, p.Method = 0.5, estimator.ReplaceOne, 4, Shifted
	in := estimator.Input{Persons: int64(ch.Persons), Vectors: &estimator.Block{Dim: 3, Chunks: []estimator.Chunk{ch}}}
	errors := map[bool]float64{}
	for _, sized := range []bool{false, true} {
		p.Sized = sized
		e, err := NewSum(p)
		if err != nil {
			t.Fatal(err)
		}
		a := e.Release(stattest.Noiser(t, "noise"), in)
		if a.Status != estimator.OK {
			t.Fatalf("sized %v: status %v", sized, a.Status)
		}
		for j, x := range exact {
			a.Values[j] -= x
		}
		errors[sized] = norm(a.Values)
	}
	if errors[true] > errors[false]/20 { // a spread of 100 against a distance of 170 000 from 0
		t.Errorf("error %v of a public number of persons, %v of a private one", errors[true], errors[false])
	}
}
