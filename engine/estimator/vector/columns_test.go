package vector

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	scalarmean "scrim/engine/estimator/mean"
	"scrim/test/stattest"
)

// columnsOf builds NewColumns on the scalar mean.
func columnsOf(t *testing.T, dim int, rho float64, relation estimator.Relation) mean {
	t.Helper()
	grid := estimator.Grid{Step: 1, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	p := Params{Dim: dim, Params: estimator.Params{Rho: rho, Relation: relation, MaxRows: 1, Grid: grid}}
	e, err := NewColumns(p, func(_ int, rho float64) (estimator.Estimator, error) {
		return scalarmean.NewRowMean(estimator.Params{Rho: rho, Relation: relation, MaxRows: 1, Grid: grid})
	})
	if err != nil {
		t.Fatal(err)
	}
	return e.(mean)
}

// TestColumnsFallBackToSeparateMeans: with too few persons for the vector columns are answered
// alone, near the truth either way and with less noise together.
func TestColumnsFallBackToSeparateMeans(t *testing.T) {
	const dim = 12
	e := columnsOf(t, dim, 0.1, estimator.AddRemove)
	cores := e.core.(auto)
	if len(cores.cores) != 2 || cores.least[1] >= cores.least[0] {
		t.Fatalf("the least numbers of persons are %v", cores.least)
	}
	r := rand.New(stattest.Source(t, "columns"))
	for _, persons := range []int64{cores.least[1] * 5 / 4, cores.least[0] * 5 / 4} {
		x, truth := make([]int64, int(persons)*dim), make([]float64, dim)
		for i := range x {
			spread := math.Pow(20, float64(i%dim)/2)
			x[i] = int64(spread * (5 + r.NormFloat64()))
			truth[i%dim] += float64(x[i]) / float64(persons)
		}
		b := &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{{Persons: int(persons), Dense: x}}}
		a := e.Release(stattest.Noiser(t, fmt.Sprint("columns", persons)), estimator.Input{Persons: b.Persons(), Vectors: b})
		if a.Status != estimator.OK {
			t.Fatalf("%d persons: too few", persons)
		}
		for j, v := range a.Values {
			if off := math.Abs(v-truth[j]) / math.Pow(20, float64(j)/2); off > 1.5 && j > 0 {
				t.Errorf("%d persons, column %d: off by %.2g spreads", persons, j, off)
			}
		}
	}
	if a := e.Release(stattest.Noiser(t, "few"), estimator.Input{Vectors: &estimator.Block{Dim: dim}}); a.Status != estimator.TooFew || a.Needed != cores.least[1] {
		t.Errorf("nobody: %+v", a)
	}
}

// TestSeparateColumnsKeepToTheLoss drops or exchanges each person with the number of persons forced
// to where columns are answered alone. One built for three times the loss must fail.
func TestSeparateColumnsKeepToTheLoss(t *testing.T) {
	const dim, rho = 3, 0.05
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		worst := func(e mean, tries int) *big.Rat {
			r := rand.New(stattest.Source(t, relation.String()))
			n, most := stattest.Noiser(t, "noise"), new(big.Rat)
			few := big.NewInt((e.core.(auto).least[0] + e.core.(auto).least[1]) / 2)
			for range tries {
				m := method{p: Params{Params: estimator.Params{MaxRows: 1}}}
				b := m.smallBlock(r, 1+r.IntN(3), dim)
				// Any answer of the size of the noise makes the numbers of persons look large.
				full := &stattest.Recorder{Answer: func(i int, v, sigma2 *big.Int) *big.Int {
					switch {
					case i == 0:
						return few
					case r.IntN(4) == 0:
						return new(big.Int).Lsh(sigma2, 20)
					}
					return n.Gaussian(v, sigma2)
				}}
				opposite := m.smallBlock(r, b.Chunks[0].Persons, dim)
				for j := range dim {
					if r.IntN(4) > 0 {
						b.Chunks[0].Dense[j], opposite.Chunks[0].Dense[j] = estimator.MaxUnits, -estimator.MaxUnits
					}
				}
				other := exchanged(b, opposite, 0)
				if relation == estimator.AddRemove {
					other = without(b, 0)
				}
				e.Release(full, estimator.Input{Persons: b.Persons(), Vectors: b})
				less := full.Replay(t)
				e.Release(less, estimator.Input{Persons: other.Persons(), Vectors: other})
				if l := stattest.Loss(t, full, less); l.Cmp(most) > 0 {
					most = l
				}
			}
			return most
		}
		declared := new(big.Rat).SetFloat64(rho * (1 + 1e-9))
		if w := worst(columnsOf(t, dim, rho, relation), stattest.Runs(100, 300)); w.Cmp(declared) > 0 {
			f, _ := w.Float64()
			t.Errorf("%v: a person costs %v of %v", relation, f, rho)
		}
		if w := worst(columnsOf(t, dim, 3*rho, relation), 100); w.Cmp(declared) <= 0 {
			t.Errorf("%v: columns built for three times the loss passed", relation)
		}
	}
}

// TestAutoFallsBackToCoordinates: a few hundred persons get an answer in low dimension, with
// several rows a person or one.
func TestAutoFallsBackToCoordinates(t *testing.T) {
	const dim = 4
	for _, maxRows := range []int64{0, 1} {
		limit := int64(estimator.MaxUnits) >> 12
		p := Params{Dim: dim, Params: estimator.Params{Rho: 0.05, MaxRows: maxRows, Grid: estimator.Grid{Step: 0x1p-10, Lo: -limit, Hi: limit}}}
		e, err := NewMean(p)
		if err != nil {
			t.Fatal(err)
		}
		cores := e.(mean).core.(auto)
		s, ok := cores.cores[len(cores.cores)-1].(separate)
		if !ok || 2*s.needs() > cores.least[0] {
			t.Fatalf("rows %d: the least numbers of persons are %v", maxRows, cores.least)
		}
		// Of normal numbers on both sides of the centre no octave holds all, and the least number
		// of persons is that of which one octave does.
		persons := int(s.needs() * 3 / 2)
		r, x := rand.New(stattest.Source(t, "coordinates")), make([]int64, persons*dim)
		rows := make([]int64, persons)
		for i := range persons {
			rows[i] = 1
			if maxRows == 0 {
				rows[i] = 2
			}
			for j := range dim {
				x[i*dim+j] = rows[i] * int64(1024*(float64(10*j)+r.NormFloat64()))
			}
		}
		b := &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{{Persons: persons, Rows: rows, Dense: x}}}
		a := e.Release(stattest.Noiser(t, "coordinates noise"), estimator.Input{Persons: b.Persons(), Vectors: b})
		for j, v := range a.Values {
			if a.Status != estimator.OK || math.Abs(v-float64(10*j)) > 1 {
				t.Errorf("rows %d, coordinate %d: %v (status %v)", maxRows, j, v, a.Status)
			}
		}
	}
}
