package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// gaussian holds what the fixed-size path needs of one variance σ² < 2^102.
//
// The algorithm is [CKS20] Algorithm 3: Y from Lap_Z(t), accepted with probability exp(−γ), γ =
// (|Y|−σ²/t)²/(2σ²) = (|Y|t−σ²)²/(2σ²t²). It is exact for every integer t >= 1 (t only decides how
// often Y is accepted), so t = ⌊σ⌋+1 may be off by rounding of the square root.
//
// Every decision compares a uniform real, of which 64 bits are drawn, with γ/k. γ is known as an
// interval of fixed-point numbers that provably contains it; when the 64 bits do not put the
// uniform clearly on one side, more of its bits are drawn and the comparison is done with the exact
// rational. So rounding never decides: the law is that of the rational algorithm.
type gaussian struct {
	sigma2 Variance
	t      uint64
	maxV   int     // largest V with (V+1)t <= 2^62
	den    float64 // 2σ²t², relative error under 2^-50
}

func newGaussian(v Variance) gaussian {
	s2 := math.Ldexp(float64(v.Hi), 64) + float64(v.Lo)
	g := gaussian{sigma2: v, t: uint64(math.Sqrt(s2)) + 1}
	g.maxV = int(min((1<<62)/g.t, 1<<40)) - 1
	g.den = 2 * s2 * float64(g.t) * float64(g.t)
	return g
}

// gaussian draws N_Z(0, σ²). It returns false when it met a value beyond 2^62, which for σ < 2^51
// takes more than 2000 successes in a row of probability 1/e.
//
// A caller that then draws anew from the big path would change the law by under 2^-2900; that is
// the only departure from the exact law here.
func (s *sampler) gaussian(v Variance) (int64, bool) {
	if v.Hi|v.Lo == 0 {
		panic("noise: variance must be positive")
	}
	if s.last.sigma2 != v {
		s.last = newGaussian(v)
	}
	g := &s.last
	for {
		y, ok := s.laplaceMagnitude(g.t, g.maxV)
		if !ok {
			return 0, false
		}
		negative := s.bits.Uint64()>>63 == 1
		if negative && y == 0 {
			continue
		}
		if !s.accept(g, y) {
			continue
		}
		if negative {
			return -int64(y), true
		}
		return int64(y), true
	}
}

// laplaceMagnitude draws U + tV: P[y] proportional to exp(−y/t), y >= 0.
func (s *sampler) laplaceMagnitude(t uint64, maxV int) (uint64, bool) {
	var u uint64
	for {
		u = below(s.bits, t)
		q, _ := bits.Div64(u, 0, t) // ⌊2^64 u/t⌋; u < t
		if s.bernExp(q, 1, ratio{num: u, den: t}) {
			break
		}
	}
	v := 0
	for s.bernExpOne() {
		if v++; v > maxV {
			return 0, false
		}
	}
	return u + t*uint64(v), true
}

// accept returns true with probability exp(−γ(y)).
func (s *sampler) accept(g *gaussian, y uint64) bool {
	// |Y|t − σ² in 128 bits: |Y| <= 2^62, t <= 2^51, σ² < 2^102.
	hi, lo := bits.Mul64(y, g.t)
	dlo, borrow := bits.Sub64(lo, g.sigma2.Lo, 0)
	dhi, borrow := bits.Sub64(hi, g.sigma2.Hi, borrow)
	if borrow != 0 {
		dlo, borrow = bits.Sub64(0, dlo, 0)
		dhi, _ = bits.Sub64(0, dhi, borrow)
	}
	// Four roundings in d, squared, and four in den leave a relative error under 16 units of 2^-53.
	d := float64(dhi)*(1<<64) + float64(dlo)
	gamma := d * d / g.den
	n := math.Floor(gamma)
	frac := uint64((gamma - n) * (1 << 64)) // gamma−n is exact and below 1
	slack := gamma*(1<<15) + 2              // 2^-49 γ in units of 2^-64
	if !(slack < 1<<62) {
		return s.acceptExact(g, dhi, dlo)
	}
	e := uint64(slack) + 1
	if frac < e || frac+2*e < frac { // γ may lie on the other side of an integer
		return s.acceptExact(g, dhi, dlo)
	}
	for i := 0.0; i < n; i++ {
		if !s.bernExpOne() {
			return false
		}
	}
	return s.bernExp(frac-e, 2*e, ratio{g: g, dhi: dhi, dlo: dlo, whole: n})
}

// acceptExact is accept on big integers.
func (s *sampler) acceptExact(g *gaussian, dhi, dlo uint64) bool {
	num, den := ratio{g: g, dhi: dhi, dlo: dlo}.exact()
	return bigBernExp(s.bits, num, den)
}

// ratio describes an exact rational: num/den, or γ − whole of a Gaussian's acceptance.
type ratio struct {
	num, den uint64
	g        *gaussian
	dhi, dlo uint64
	whole    float64
}

func (r ratio) exact() (num, den *big.Int) {
	if r.g == nil {
		return new(big.Int).SetUint64(r.num), new(big.Int).SetUint64(r.den)
	}
	num = Variance{r.dhi, r.dlo}.Big()
	num.Mul(num, num)
	t := new(big.Int).SetUint64(r.g.t)
	den = r.g.sigma2.Big()
	den.Mul(den, t).Mul(den, t).Lsh(den, 1)
	w, _ := big.NewFloat(r.whole).Int(nil)
	return num.Sub(num, w.Mul(w, den)), den
}

// bernExp returns true with probability exp(−x), 0 <= x < 1, where x·2^64 lies in [lo, lo+width]
// and equals exact: [CKS20] Algorithm 1. With k trials Bernoulli(x/1), Bernoulli(x/2), … up to the
// first failure, the result is whether k is odd.
func (s *sampler) bernExp(lo, width uint64, exact ratio) bool {
	hi, carry := bits.Add64(lo, width, 0)
	if carry != 0 {
		hi = math.MaxUint64 // x < 1 whatever the interval says; the comparison below stays safe
	}
	for k := uint64(1); ; k++ {
		u := s.bits.Uint64()
		// The uniform lies in [u, u+1)·2^-64; it is compared with x/k, that is u·k with x·2^64.
		ph, pl := bits.Mul64(u, k)
		success := false
		switch {
		case ph > 0 || pl > hi || (pl == hi && carry == 0):
		case pl < lo && lo-pl >= k: // (u+1)k <= lo
			success = true
		default:
			success = s.compare(u, k, exact)
		}
		if !success {
			return k&1 == 1
		}
	}
}

// compare decides whether a uniform real whose first 64 bits are u is below x/k, drawing more bits.
func (s *sampler) compare(u, k uint64, x ratio) bool {
	num, den := x.exact()
	den.Mul(den, new(big.Int).SetUint64(k))
	return bigCompare(s.bits, u, num, den)
}

// bernExpOne returns true with probability 1/e: bernExp at x = 1, where Bernoulli(1/k) needs no
// rounding. k = 1 always succeeds; for k >= 2 the uniform is below 1/k iff u·k < 2^64, except that
// u = ⌊2^64/k⌋ for k not a power of two leaves the rest to later bits.
func (s *sampler) bernExpOne() bool {
	for k := uint64(2); ; k++ {
		u := s.bits.Uint64()
		hi, lo := bits.Mul64(u, k)
		success := hi == 0
		if success && lo > -k { // u·k < 2^64 < (u+1)·k
			success = bigCompare(s.bits, u, big.NewInt(1), new(big.Int).SetUint64(k))
		}
		if !success {
			return k&1 == 1
		}
	}
}

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
