package exact

import (
	"math/big"
	"testing"
)

func TestIntegersAreThePublishedOnes(t *testing.T) {
	for _, c := range []struct {
		eps       Epsilon
		k1, q, k4 uint64
	}{
		{5000, 2870586994743255420, 1741099023684132484, 1635586302042690024},
		{10_000, 3371412625719392690, 1240273392707995214, 2192242823720348389},
		{20_000, 4061959569582298197, 549726448845089707, 3279990634021271176},
	} {
		if k1, q, k4 := KeepBinary(c.eps), FlipUnary(c.eps), KeepKary(c.eps, 4); k1 != c.k1 || q != c.q || k4 != c.k4 {
			t.Errorf("epsilon %v: got %d %d %d, want %d %d %d", c.eps, k1, q, k4, c.k1, c.q, c.k4)
		}
	}
}

// TestIntegersAreTheLargestSafeOnes: K(k−1)/(2^62 − K) is at most e^ε, and that of K+1 is not.
func TestIntegersAreTheLargestSafeOnes(t *testing.T) {
	odds := func(keep, k uint64) *big.Rat {
		r := new(big.Rat).SetFrac64(int64(keep), int64(one62-keep))
		return r.Mul(r, big.NewRat(int64(k-1), 1))
	}
	for eps := MinEpsilon; eps <= MaxEpsilon; eps += 991 {
		lo, hi := exponential(eps)
		for _, k := range []uint64{2, 3, 4, 5, 17, 1000, MaxKary} {
			keep := KeepKary(eps, k)
			if odds(keep, k).Cmp(lo) > 0 || odds(keep+1, k).Cmp(hi) < 0 {
				t.Errorf("epsilon %v, k=%d: %d is not the largest", eps, k, keep)
			}
		}
		if FlipUnary(eps)+KeepBinary(eps) != one62 {
			t.Errorf("epsilon %v: Q + K1 is not 2^62", eps)
		}
	}
}

// TestNarrowerEnclosuresGiveTheSame starts from enclosures that are too wide to decide.
func TestNarrowerEnclosuresGiveTheSame(t *testing.T) {
	for eps := MinEpsilon; eps <= MaxEpsilon; eps += 3001 {
		for _, k := range []uint64{2, 4, 1000} {
			for _, start := range []uint{1, 8, 33, 70} {
				if got, want := certified(eps, k, start), KeepKary(eps, k); got != want {
					t.Errorf("epsilon %v, k=%d from %d bits: %d, want %d", eps, k, start, got, want)
				}
			}
		}
		lo, hi := expBounds(eps, 64)
		if lo.Cmp(hi) >= 0 || new(big.Int).Sub(hi, lo).BitLen() > 40 {
			t.Errorf("epsilon %v: e^epsilon·2^64 in [%v, %v]", eps, lo, hi)
		}
		l, h := exponential(eps)
		scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
		if new(big.Rat).SetInt(lo).Cmp(l.Mul(l, scale)) > 0 || new(big.Rat).SetInt(hi).Cmp(h.Mul(h, scale)) < 0 {
			t.Errorf("epsilon %v is not in its enclosure", eps)
		}
	}
}

// TestRandomisersUseTheirIntegers compares what a randomiser was made with with the published
// integers.
func TestRandomisersUseTheirIntegers(t *testing.T) {
	for _, eps := range epsilons {
		b, err := NewBinaryResponse(eps)
		if err != nil || b.Keep() != KeepBinary(eps) {
			t.Errorf("binary: %v, %v", b, err)
		}
		m, err := NewBitMean(eps, 1<<32)
		if err != nil || m.BinaryResponse != b || m.steps != 1<<32 {
			t.Errorf("bit mean: %v, %v", m, err)
		}
		c, err := NewKaryResponse(eps, 7)
		if err != nil || c.Keep() != KeepKary(eps, 7) || c.k != 7 {
			t.Errorf("k-ary: %v, %v", c, err)
		}
		u, err := NewUnaryEncoding(eps, 100)
		if err != nil || u.Flip() != FlipUnary(eps) || u.d != 100 || u.Size() != 13 {
			t.Errorf("unary: %v, %v", u, err)
		}
		h, err := NewHadamard(eps, 32)
		if err != nil || h.Bit() != b || h.d != 32 {
			t.Errorf("hadamard: %v, %v", h, err)
		}
	}
}

func TestParametersOutOfRange(t *testing.T) {
	for name, f := range map[string]func(){
		"epsilon": func() { KeepBinary(499) }, "flip": func() { FlipUnary(80_001) }, "k": func() { KeepKary(500, 1) }, "large": func() { KeepKary(500, MaxKary+1) },
	} {
		panics(t, name, f)
	}
	refuse := func(name string, err error) {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	_, err := NewBinaryResponse(0)
	refuse("epsilon 0", err)
	_, err = NewBitMean(10_000, 0)
	refuse("no steps", err)
	_, err = NewBitMean(0, 8)
	refuse("a mean at epsilon 0", err)
	for _, k := range []uint64{0, 1, MaxKary + 1} {
		_, err = NewKaryResponse(10_000, k)
		refuse("k", err)
	}
	for _, d := range []uint64{0, 1, MaxUnary + 1} {
		_, err = NewUnaryEncoding(10_000, d)
		refuse("bits", err)
	}
	_, err = NewUnaryEncoding(90_000, 8)
	refuse("epsilon 9", err)
	for _, d := range []uint64{0, 3, 12, 2 * MaxHadamard} {
		_, err = NewHadamard(10_000, d)
		refuse("values", err)
	}
	_, err = NewHadamard(0, 8)
	refuse("a transform at epsilon 0", err)
}
