package exact

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"scrim/engine/estimator/noise"
)

// golden are the first draws from the stream of counter, four of each.
const golden = `
uniform 883 431 26 970
bernoulli true true true false
exp false false false false
geometric 20 166 493 24
laplace 95 -13 -46 20
gaussian 10 79 -29 89
poisson 35 38 35 30
share 104 428 29 19
binary true true true true
mean true false true true
kary 9 8 2 0
unary 130000 000020 811000 210800
hadamard 633475 false 391702 false 398896 false 247498 true
`

// TestFirstDrawsOfASeedStay fails when a law, or the way from words to draws, changes.
func TestFirstDrawsOfASeedStay(t *testing.T) {
	r := New(&counter{})
	var b strings.Builder
	four := func(name string, draw func() any) {
		fmt.Fprintf(&b, "\n%s", name)
		for range 4 {
			fmt.Fprintf(&b, " %v", draw())
		}
	}
	number := func(k int64, err error) any {
		if err != nil {
			return err
		}
		return k
	}
	binary, _ := NewBinaryResponse(10_000)
	mean, _ := NewBitMean(10_000, 1<<32)
	kary, _ := NewKaryResponse(10_000, 12)
	unary, _ := NewUnaryEncoding(20_000, 20)
	hadamard, _ := NewHadamard(10_000, 1<<20)
	four("uniform", func() any { return r.Uniform(1000) })
	four("bernoulli", func() any { return r.Bernoulli(2, 3) })
	four("exp", func() any { return r.BernoulliExp(3, 2) })
	four("geometric", func() any { return number(r.Geometric(1, 100)) })
	four("laplace", func() any { return number(r.Laplace(1, 100)) })
	four("gaussian", func() any { return r.Gaussian(noise.Variance{Lo: 10_000}) })
	four("poisson", func() any { return number(r.Poisson(32<<RateBits + 12345)) })
	four("share", func() any { return number(r.NegativeBinomial(3, 1, 100)) })
	four("binary", func() any { return binary.Randomize(r, true) })
	four("mean", func() any { return mean.Randomize(r, 1<<31) })
	four("kary", func() any { return kary.Randomize(r, 7) })
	four("unary", func() any { return hex.EncodeToString(unary.Randomize(r, 7)) })
	four("hadamard", func() any { return fmt.Sprint(hadamard.Randomize(r, true, 7)) })
	if got := b.String() + "\n"; got != golden {
		t.Errorf("got %s\nwant %s", got, golden)
	}
}
