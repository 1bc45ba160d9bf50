package vector

import (
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestTightDataFarAway: values that are close together and far from the middle lose nothing by
// where they lie, wherever that is in a bucket of the first look.
func TestTightDataFarAway(t *testing.T) {
	const persons, dim = 4000, 3
	worst := map[string]float64{}
	for at := 500.0; at < 2100; at *= 1.13 {
		r := rand.New(stattest.Source(t, "far"))
		x := make([]int64, persons*dim)
		for i := range x {
			x[i] = int64((at + r.NormFloat64()) * (1 << 20))
		}
		b := &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{{Persons: persons, Dense: x}}}
		for name, method := range map[string]Method{"shifted": Shifted, "plan": Plan, "auto": Auto} {
			p := Params{Dim: dim, Method: method}
			p.Rho = 0.5
			p.Grid = estimator.Grid{Step: 0x1p-20, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
			e, err := NewMean(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range e.Release(stattest.Noiser(t, "far noise"), estimator.Input{Persons: b.Persons(), Vectors: b}).StdErr {
				worst[name] = max(worst[name], s)
			}
		}
	}
	for name, s := range worst {
		if s > 0.005 {
			t.Errorf("%s: the noise has a standard deviation of %.3g, with data of spread 1", name, s)
		}
	}
}
