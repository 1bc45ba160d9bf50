package person

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

var rewriteGolden = flag.Bool("person.rewrite", false, "write testdata/golden.txt anew")

// TestGoldenAnswers fixes the answers of every variant on one sample and one stream of noise: any
// change in what is drawn, in its order or in the arithmetic after it shows. A change on purpose is
// written with -person.rewrite.
func TestGoldenAnswers(t *testing.T) {
	const file, dim, persons = "testdata/golden.txt", 3, 700
	r := rand.New(rand.NewPCG(3, 4))
	b := blockOf(dim, persons, nil, func(_, j int) int64 { return int64(100 * float64(j+1) * (1 + r.NormFloat64())) })
	var out strings.Builder
	for _, v := range append(variants(), variant{"stability", Params{Params: variants()[0].p.Params, Delta: 1e-6}}) {
		for _, rel := range relations {
			for _, pure := range []bool{false, true} {
				if pure && v.p.Delta > 0 {
					continue
				}
				a := v.at(t, dim, 12, pure, rel.relation, rel.sized).Release(noise.New(rand.NewPCG(5, 6)), estimator.Input{Persons: b.Persons(), Vectors: b})
				fmt.Fprintf(&out, "%s, %v, sized=%v, pure=%v: %.9g ± %.4g status=%d\n", v.name, rel.relation, rel.sized, pure, a.Values, a.StdErr, a.Status)
			}
		}
	}
	if *rewriteGolden {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		for i, line := range strings.Split(got, "\n") {
			if lines := strings.Split(string(want), "\n"); i >= len(lines) || lines[i] != line {
				t.Errorf("line %d: got %q", i+1, line)
			}
		}
	}
}
