package vector

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

var rewriteGolden = flag.Bool("vector.rewrite", false, "write testdata/golden.txt anew")

// TestGoldenAnswers fixes the answers of every method on one sample and one stream of noise: any
// change in what is drawn, in its order or in the arithmetic after it shows. A change on purpose is
// written with -vector.rewrite.
func TestGoldenAnswers(t *testing.T) {
	const file, dim, persons = "testdata/golden.txt", 3, 700
	r := rand.New(rand.NewPCG(3, 4))
	dense := estimator.Chunk{Persons: persons}
	sparse := estimator.Chunk{Persons: persons, Starts: []int{0}}
	for range persons {
		for j := range dim {
			v := int64(1024 * float64(j+1) * (10 + r.NormFloat64()))
			dense.Dense = append(dense.Dense, v)
			if r.IntN(3) > 0 {
				sparse.Index = append(sparse.Index, int32(j))
			}
		}
		sparse.Starts = append(sparse.Starts, len(sparse.Index))
	}
	var out strings.Builder
	show := func(name string, p Params, make func(Params) (estimator.Estimator, error)) {
		chunk := dense
		if p.Sparse {
			chunk = sparse
		}
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			p.Dim, p.Rho, p.Relation = dim, 5, relation
			e, err := make(p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b := &estimator.Block{Dim: dim, Sparse: p.Sparse, Chunks: []estimator.Chunk{chunk}}
			a := e.Release(noise.New(rand.NewPCG(5, 6)), estimator.Input{Persons: b.Persons(), Vectors: b})
			fmt.Fprintf(&out, "%s, %v: %.9g status=%d\n", name, relation, a.Values, a.Status)
		}
	}
	open := estimator.Params{MaxRows: 1, Grid: estimator.Grid{Step: 0x1p-10, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}
	bits := estimator.Params{MaxRows: 1, Grid: estimator.Grid{Step: 1, Hi: 1}}
	for _, m := range denseMethods() {
		show(m.name, m.p, NewMean)
	}
	show("coinpress", Params{Params: open, Method: Coinpress, Sigma: []float64{1, 2, 3}, Radius: 100}, NewMean)
	show("sparse plan", Params{Params: bits, Sparse: true, Method: Plan}, NewMean)
	show("sparse shifted", Params{Params: bits, Sparse: true, Method: Shifted}, NewMean)
	show("sparse clipped", Params{Params: bits, Sparse: true, Method: Clipped}, NewMean)
	show("sum", Params{Params: open}, NewSum)
	show("sparse sum", Params{Params: bits, Sparse: true}, NewSum)
	show("variance", Params{Params: open}, func(p Params) (estimator.Estimator, error) { return NewVariance(p, false, false) })
	show("sparse stddev", Params{Params: bits, Sparse: true}, func(p Params) (estimator.Estimator, error) { return NewVariance(p, true, true) })
	if *rewriteGolden {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(lines)) {
		if i >= len(got) || i >= len(lines) || got[i] != lines[i] {
			t.Errorf("line %d: got %q, want %q", i+1, at(got, i), at(lines, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
