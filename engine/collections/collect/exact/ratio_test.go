package exact

import (
	"fmt"
	"math/big"
	"testing"
)

// These tests compute the laws of whole randomisers as rationals, for every input, and compare the
// ratios of all pairs.

func TestBinaryRatio(t *testing.T) {
	laws := func(b BinaryResponse) (all []law) {
		for _, bit := range []bool{false, true} {
			all = append(all, enumerate(t, func(r *Rand) string { return fmt.Sprint(b.Randomize(r, bit)) }))
		}
		return all
	}
	for _, eps := range epsilons {
		k1 := KeepBinary(eps)
		checkTight(t, "binary", eps, ratio(t, laws(BinaryResponse{k1})))
		checkBroken(t, "binary", eps, ratio(t, laws(BinaryResponse{k1 + 1})))
	}
}

// kary returns the laws by formula: words that Uniform draws anew have no place in an enumeration.
func kary(c KaryResponse) (all []law) {
	p := new(big.Rat).SetFrac64(int64(c.keep), int64(one62))
	o := new(big.Rat).SetFrac64(int64(one62-c.keep), int64(one62))
	o.Quo(o, big.NewRat(int64(c.k-1), 1))
	for v := range c.k {
		l := law{}
		for y := range c.k {
			if y == v {
				l.add(fmt.Sprint(y), p)
			} else {
				l.add(fmt.Sprint(y), o)
			}
		}
		all = append(all, l)
	}
	return all
}

func TestKaryRatio(t *testing.T) {
	for _, eps := range epsilons {
		for k := uint64(2); k <= 8; k++ {
			keep := KeepKary(eps, k)
			checkTight(t, fmt.Sprint(k, "-ary"), eps, ratio(t, kary(KaryResponse{k, keep})))
			checkBroken(t, fmt.Sprint(k, "-ary"), eps, ratio(t, kary(KaryResponse{k, keep + 1})))
		}
	}
}

// TestKaryCodeHasTheLaw enumerates the code where k − 1 is a power of two.
func TestKaryCodeHasTheLaw(t *testing.T) {
	for _, k := range []uint64{2, 3, 5} {
		c := KaryResponse{k, KeepKary(10_000, k)}
		for v, want := range kary(c) {
			same(t, enumerate(t, func(r *Rand) string { return fmt.Sprint(c.Randomize(r, uint64(v))) }), want)
		}
	}
}

func same(t *testing.T, got, want law) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for output, p := range want {
		if got[output] == nil || got[output].Cmp(p) != 0 {
			t.Errorf("output %s has probability %v, want %v", output, got[output], p)
		}
	}
}

// unary returns the laws by formula from what the bits' coins have been shown to be
// (TestSixtyFourCoinsAreExact).
func unary(u UnaryEncoding) (all []law) {
	q := new(big.Rat).SetFrac64(int64(u.flip), int64(one62))
	for v := range u.d {
		l := law{}
		for y := range uint64(1) << u.d {
			p := big.NewRat(1, 2)
			for i := range u.d {
				switch {
				case i == v:
				case y>>i&1 == 1:
					p.Mul(p, q)
				default:
					p.Mul(p, new(big.Rat).Sub(big.NewRat(1, 1), q))
				}
			}
			l.add(fmt.Sprint(y), p)
		}
		all = append(all, l)
	}
	return all
}

func TestUnaryRatio(t *testing.T) {
	for _, eps := range epsilons {
		for _, d := range []uint64{2, 3, 5, 8} {
			if d == 8 && eps != 10_000 {
				continue
			}
			flip := FlipUnary(eps)
			checkTight(t, fmt.Sprint("unary ", d), eps, ratio(t, unary(UnaryEncoding{d, flip})))
			checkBroken(t, fmt.Sprint("unary ", d), eps, ratio(t, unary(UnaryEncoding{d, flip - 1})))
		}
	}
}

func TestHadamardRatio(t *testing.T) {
	laws := func(h Hadamard) (all []law) {
		for v := range h.d {
			for _, negative := range []bool{false, true} {
				all = append(all, enumerate(t, func(r *Rand) string { return fmt.Sprint(h.Randomize(r, negative, v)) }))
			}
		}
		return all
	}
	for _, d := range []uint64{1, 2, 4, 8} {
		for _, eps := range []Epsilon{500, 10_000, 80_000} {
			k1 := KeepBinary(eps)
			checkTight(t, fmt.Sprint("hadamard ", d), eps, ratio(t, laws(Hadamard{BinaryResponse{k1}, d})))
			checkBroken(t, fmt.Sprint("hadamard ", d), eps, ratio(t, laws(Hadamard{BinaryResponse{k1 + 1}, d})))
		}
	}
}

func TestBitMeanRatio(t *testing.T) {
	laws := func(b BitMean) (all []law) {
		for i := range b.steps + 1 {
			l := enumerate(t, func(r *Rand) string { return fmt.Sprint(b.Randomize(r, i)) })
			all = append(all, l)
			// E = (1−p) + (2p−1)·i/M
			p := new(big.Rat).SetFrac64(int64(b.keep), int64(one62))
			want := new(big.Rat).Sub(new(big.Rat).Add(p, p), big.NewRat(1, 1))
			want.Mul(want, big.NewRat(int64(i), int64(b.steps))).Add(want, big.NewRat(1, 1)).Sub(want, p)
			if l["true"].Cmp(want) != 0 {
				t.Errorf("%d of %d: probability of a one %v, want %v", i, b.steps, l["true"], want)
			}
		}
		return all
	}
	for _, steps := range []uint64{1, 2, 4, 8} {
		for _, eps := range []Epsilon{500, 10_000, 80_000} {
			k1 := KeepBinary(eps)
			checkTight(t, "bit mean", eps, ratio(t, laws(BitMean{BinaryResponse{k1}, steps})))
			checkBroken(t, "bit mean", eps, ratio(t, laws(BitMean{BinaryResponse{k1 + 1}, steps})))
		}
	}
}
