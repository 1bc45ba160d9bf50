package roundup

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/test/bigref"
)

// TestDirectedRounding compares the directed operations with exact ones.
func TestDirectedRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	number := func() float64 { return math.Ldexp(r.Float64(), r.IntN(200)-150) }
	for range 20000 {
		a, b := number(), number()
		exact := func(z *big.Float) *big.Float { return z.SetPrec(2000) }
		sum := exact(new(big.Float)).Add(big.NewFloat(a), big.NewFloat(b))
		product := exact(new(big.Float)).Mul(big.NewFloat(a), big.NewFloat(b))
		for _, c := range []struct {
			name string
			got  float64
			want *big.Float
		}{{"sum", Add(a, b), sum}, {"product", Mul(a, b), product}} {
			if big.NewFloat(c.got).Cmp(c.want) < 0 {
				t.Fatalf("%s of %v and %v: %v is below", c.name, a, b, c.got)
			}
			if c.got > 0 && big.NewFloat(math.Nextafter(c.got, 0)).Cmp(c.want) >= 0 {
				t.Fatalf("%s of %v and %v: %v is not the nearest above", c.name, a, b, c.got)
			}
		}
	}
	for range 300 {
		x := r.Float64()*80 - 60
		if bigref.Of(Exp(x)).Cmp(bigref.Exp(bigref.Of(x))) < 0 {
			t.Fatalf("exp of %v is below", x)
		}
	}
	if Mul(1e-300, 1e-300) == 0 {
		t.Error("a product that underflows became 0")
	}
	for _, u := range []uint64{0, 1, 1<<53 + 1, 1<<63 + 1, math.MaxUint64} {
		if f := Float(u); new(big.Float).SetUint64(u).Cmp(big.NewFloat(f)) > 0 {
			t.Errorf("floatUp(%d) = %v", u, f)
		}
	}
}
