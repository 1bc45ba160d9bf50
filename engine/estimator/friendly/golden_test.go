package friendly

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

var rewriteGolden = flag.Bool("friendly.rewrite", false, "write testdata/golden.txt anew")

// TestGoldenAnswers fixes the answers on one sample and one stream of noise: any change in what is
// drawn, in its order or in the arithmetic after it shows. A change on purpose is written with
// -friendly.rewrite.
func TestGoldenAnswers(t *testing.T) {
	const file = "testdata/golden.txt"
	var out strings.Builder
	b := normal(rand.New(rand.NewPCG(3, 4)), 700, decaying(140))
	for _, k := range kinds() {
		e := k.mean(t, Params{Params: open, Dim: 140, Delta: 1e-9}, 2)
		if k.sampled {
			e.persons.most = 600
		}
		a := e.Release(noise.New(rand.NewPCG(5, 6)), estimator.Input{Persons: b.Persons(), Vectors: b})
		fmt.Fprintf(&out, "%+v: %.9g ± %.9g status=%d\n", k, a.Values[:3], a.StdErr[139], a.Status)
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
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
