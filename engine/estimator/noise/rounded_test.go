package noise

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestBothWaysOfRoundingAgree: the fixed-size decisions are the ones that big integers make, on the
// same bits. (Where 64 bits decide the one and not the other they would draw differently; that
// takes 2^60 draws.)
func TestBothWaysOfRoundingAgree(t *testing.T) {
	for _, v := range []Variance{{Lo: 1}, {Lo: 7}, {Lo: 1 << 40}, {Hi: 1 << 20, Lo: 12345}, {Hi: 1<<38 - 1, Lo: 1<<64 - 1}} {
		quick := Rounded(New(rand.NewChaCha8([32]byte{4})))
		slow := SlowlyRounded(rand.NewChaCha8([32]byte{4}))
		for i := range 5000 {
			if a, b := quick.GaussianInt(5, v), slow.GaussianInt(5, v); a != b {
				t.Fatalf("draw %d with %v: %d and %d", i, v, a, b)
			}
		}
	}
}

// TestScaleIsTheLeast: s² is not below σ², and one step less is.
func TestScaleIsTheLeast(t *testing.T) {
	r := rand.New(rand.NewChaCha8([32]byte{5}))
	for range 2000 {
		sigma2 := new(big.Int).SetUint64(1 + r.Uint64()>>r.UintN(64))
		sigma2.Lsh(sigma2, r.UintN(120))
		s := newScale(sigma2)
		want := new(big.Int).Lsh(sigma2, 2*s.shift)
		less := new(big.Int).Sub(s.num, one)
		if new(big.Int).Mul(s.num, s.num).Cmp(want) < 0 || less.Mul(less, less).Cmp(want) >= 0 {
			t.Fatalf("σ² = %v: s = %v/2^%d", sigma2, s.num, s.shift)
		}
		if s.num.BitLen() < scaleBits-1 {
			t.Fatalf("σ² = %v: s = %v/2^%d has few bits", sigma2, s.num, s.shift)
		}
	}
}

// words are given first, then those of a seeded source.
type words struct {
	first []uint64
	then  Bits
}

func (w *words) Uint64() uint64 {
	if len(w.first) == 0 {
		return w.then.Uint64()
	}
	x := w.first[0]
	w.first = w.first[1:]
	return x
}

// TestMoreBitsDecide: what 64 bits leave open follows from the ones after them.
func TestMoreBitsDecide(t *testing.T) {
	// x = 1/2 + x', θ = x²/2 of k = 0, and w = 1/8 + w': below iff w' < x'/2 + x'²/2 in units of
	// 2^-64
	for _, c := range []struct {
		w, x uint64
		want bool
	}{{1 << 60, 1 << 62, true}, {1 << 62, 1 << 62, false}, {1<<61 - 1, 1 << 62, true}, {1<<61 + 1, 1 << 62, false}} {
		r := &rounder{bits: &words{first: []uint64{c.w, c.x}, then: rand.NewChaCha8([32]byte{6})}}
		y := half{first: 1 << 63}
		if got := r.below(&y, 1<<61, 1); got != c.want {
			t.Errorf("w' = %x, x' = %x: below %v", c.w, c.x, got)
		}
		if len(y.more) == 0 || y.more[0] != c.x {
			t.Errorf("the bits of x were not kept: %x", y.more)
		}
	}
	// s = 1: the cell of 1/2 is left open by X = 2^63 − 1, which may be followed by anything
	// below it
	s := newScale(one)
	edge := half{first: 1<<63 - 1}
	if size, ok := edge.rounded(s.num.Uint64(), s.shift); !ok || size != 0 {
		t.Errorf("just below 1/2: %d, %v", size, ok)
	}
	// s = √2 to 56 bits: y around 1/(2s)
	s = newScale(big.NewInt(2))
	at := new(big.Int).Lsh(one, 64+s.shift-1)
	at.Quo(at, s.num)
	open := half{first: at.Uint64()}
	if _, ok := open.rounded(s.num.Uint64(), s.shift); ok {
		t.Fatal("the first 64 bits cannot decide")
	}
	for word, want := range map[uint64]int64{0: 0, 1<<64 - 1: 1} {
		r := &rounder{bits: &words{first: []uint64{word}, then: rand.NewChaCha8([32]byte{7})}}
		y := open
		if got := r.roundedExactly(&y, &s); got.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("followed by %x: %v, want %d", word, got, want)
		}
	}
}
