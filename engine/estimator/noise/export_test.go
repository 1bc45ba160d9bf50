package noise

import "math/big"

// BigGaussian returns draws of the big-integer path.
func BigGaussian(b Bits) func(*big.Int) *big.Int {
	return func(s2 *big.Int) *big.Int { return bigGaussian(b, s2) }
}

// BigBernExp returns draws of the big-integer BernExp.
func BigBernExp(b Bits) func(num, den *big.Int) bool {
	return func(num, den *big.Int) bool { return bigBernExp(b, num, den) }
}

// SlowlyRounded is Rounded with every decision by big integers.
func SlowlyRounded(b Bits) Noiser {
	n := New(b)
	return &rounder{Noiser: n, bits: wordsOf{n}, slow: true}
}
