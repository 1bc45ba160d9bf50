package noise

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// These tests look at the decisions that the fixed-size path leaves to exact rationals. They come
// up once in 2^40 draws or so, so the interval is widened by hand until every decision needs them.

// near tells whether hits of n agree with probability p to within 6.1 standard deviations (1e-9).
func near(hits, n int, p float64) bool {
	return math.Abs(float64(hits)-float64(n)*p) <= 6.1*math.Sqrt(float64(n)*p*(1-p))
}

func TestUncertainDecisionsFollowTheSameLaw(t *testing.T) {
	s := newSampler(rand.NewChaCha8([32]byte{1}))
	const n = 50000
	for _, x := range []ratio{{num: 1, den: 3}, {num: 9, den: 10}, {num: 1, den: 1 << 40}, {num: 1, den: 2}} {
		p := math.Exp(-float64(x.num) / float64(x.den))
		q, _ := bits.Div64(x.num, 0, x.den)
		wide, sharp := 0, 0
		for range n {
			if s.bernExp(0, math.MaxUint64, x) {
				wide++
			}
			if s.bernExp(q, 1, x) {
				sharp++
			}
		}
		if !near(wide, n, p) || !near(sharp, n, p) {
			t.Errorf("exp(-%d/%d) = %v: %d exact and %d quick of %d", x.num, x.den, p, wide, sharp, n)
		}
		if broken := p * 0.9; near(wide, n, broken) {
			t.Errorf("%d of %d also agrees with %v", wide, n, broken)
		}
	}
}

// TestCompareAgreesWithTheQuickDecision: where the first 64 bits decide, the exact comparison says
// the same.
func TestCompareAgreesWithTheQuickDecision(t *testing.T) {
	r := rand.New(rand.NewChaCha8([32]byte{2}))
	s := newSampler(rand.NewChaCha8([32]byte{3}))
	for range 20000 {
		den := r.Uint64()>>uint(r.IntN(60)) | 1
		num := r.Uint64N(den)
		q, _ := bits.Div64(num, 0, den)
		k := uint64(1 + r.IntN(6))
		u := r.Uint64()
		hi, lo := bits.Mul64(u, k)
		switch got := s.compare(u, k, ratio{num: num, den: den}); {
		case hi > 0 || lo > q:
			if got {
				t.Fatalf("%d/2^64 is not under %d/%d/%d", u, num, den, k)
			}
		case lo < q && q-lo >= k:
			if !got {
				t.Fatalf("%d/2^64 is under %d/%d/%d", u, num, den, k)
			}
		}
	}
}

// TestGammaIsInsideItsInterval compares the float γ with the exact one.
func TestGammaIsInsideItsInterval(t *testing.T) {
	r := rand.New(rand.NewChaCha8([32]byte{4}))
	worst := 0.0
	for range 20000 {
		v := Variance{Hi: r.Uint64() >> (26 + uint(r.IntN(38))), Lo: r.Uint64()}
		g := newGaussian(v)
		y := r.Uint64N(20 * g.t)
		hi, lo := bits.Mul64(y, g.t)
		d := Variance{hi, lo}.Big()
		d.Sub(d, v.Big()).Abs(d)
		dv := variance(d)
		num, den := ratio{g: &g, dhi: dv.Hi, dlo: dv.Lo}.exact()
		exact := new(big.Float).SetPrec(200).Quo(new(big.Float).SetInt(num), new(big.Float).SetInt(den))
		f := float64(dv.Hi)*(1<<64) + float64(dv.Lo)
		gamma := f * f / g.den
		diff, _ := exact.Sub(exact, big.NewFloat(gamma)).Float64()
		worst = max(worst, math.Abs(diff)/gamma)
	}
	if worst > math.Ldexp(1, -50) { // the interval is 2^-49 wide on each side
		t.Errorf("relative error 2^%.1f", math.Log2(worst))
	}
}

func TestAcceptAgreesWithItsExactForm(t *testing.T) {
	s := newSampler(rand.NewChaCha8([32]byte{5}))
	const n = 50000
	g := newGaussian(Variance{Lo: 50})
	for _, y := range []uint64{0, 3, 7, 15, 25} {
		d := math.Abs(float64(y)*float64(g.t) - 50)
		p := math.Exp(-d * d / (2 * 50 * float64(g.t*g.t)))
		quick, exact := 0, 0
		for range n {
			if s.accept(&g, y) {
				quick++
			}
			if s.acceptExact(&g, 0, uint64(d)) {
				exact++
			}
		}
		if !near(quick, n, p) || !near(exact, n, p) {
			t.Errorf("y=%d: accepted %d quickly and %d exactly of %d, want %v", y, quick, exact, n, p)
		}
	}
}
