package noise

import (
	"math/big"
)

// The functions here are [CKS20] Algorithms 1 to 3 on big integers: the path for large variances,
// and the reference that tests compare the fixed-size path with.

var one = big.NewInt(1)

// bigBelow returns a uniform integer in [0, n), n > 0, by rejection.
func bigBelow(b Bits, n *big.Int) *big.Int {
	size := new(big.Int).Sub(n, one).BitLen()
	words := (size + 63) / 64
	buf := make([]byte, words*8)
	x := new(big.Int)
	for {
		for i := range words {
			w := b.Uint64()
			for j := range 8 {
				buf[i*8+j] = byte(w >> (8 * j))
			}
		}
		x.SetBytes(buf)
		if x.Rsh(x, uint(words*64-size)); x.Cmp(n) < 0 {
			return x
		}
	}
}

// bigCompare decides whether a uniform real in [0,1) whose first 64 bits are u is below num/den,
// drawing more of its bits until that is certain.
func bigCompare(b Bits, u uint64, num, den *big.Int) bool {
	left := new(big.Int).SetUint64(u)
	left.Mul(left, den) // u·den against num·2^64, then on with 64 more bits each
	right := new(big.Int).Lsh(num, 64)
	for {
		// uniform·2^64w lies in [left/den, left/den + 1)
		if left.Cmp(right) >= 0 {
			return false
		}
		if new(big.Int).Add(left, den).Cmp(right) <= 0 {
			return true
		}
		left.Lsh(left, 64).Add(left, new(big.Int).Mul(new(big.Int).SetUint64(b.Uint64()), den))
		right.Lsh(right, 64)
	}
}

// bigBernExp returns true with probability exp(−num/den), num >= 0, den > 0.
func bigBernExp(b Bits, num, den *big.Int) bool {
	whole, rest := new(big.Int).QuoRem(num, den, new(big.Int))
	for ; whole.Sign() > 0; whole.Sub(whole, one) {
		if !bigBernExpUnit(b, one, one) {
			return false
		}
	}
	return bigBernExpUnit(b, rest, den)
}

// bigBernExpUnit is bigBernExp for 0 <= num/den <= 1.
func bigBernExpUnit(b Bits, num, den *big.Int) bool {
	d := new(big.Int).Set(den)
	for k := 1; ; k++ {
		if bigBelow(b, d).Cmp(num) >= 0 {
			return k&1 == 1
		}
		d.Add(d, den)
	}
}

// bigLaplace draws Lap_Z(num/den), P[y] proportional to exp(−|y|·den/num).
func bigLaplace(b Bits, num, den *big.Int) *big.Int {
	for {
		u := bigBelow(b, num)
		if !bigBernExpUnit(b, u, num) {
			continue
		}
		v := new(big.Int)
		for bigBernExpUnit(b, one, one) {
			v.Add(v, one)
		}
		y := v.Mul(v, num).Add(v, u)
		y.Quo(y, den)
		negative := b.Uint64()>>63 == 1
		if negative && y.Sign() == 0 {
			continue
		}
		if negative {
			y.Neg(y)
		}
		return y
	}
}

// bigGaussian draws N_Z(0, sigma2).
func bigGaussian(b Bits, sigma2 *big.Int) *big.Int {
	t := new(big.Int).Sqrt(sigma2)
	t.Add(t, one)
	den := new(big.Int).Mul(t, t)
	den.Mul(den, sigma2).Lsh(den, 1)
	for {
		y := bigLaplace(b, t, one)
		d := new(big.Int).Abs(y)
		d.Mul(d, t).Sub(d, sigma2)
		if bigBernExp(b, d.Mul(d, d), den) {
			return y
		}
	}
}
