package exponential

import (
	"math"
	"math/big"
	"math/bits"
)

// fraction is a number in [0, 1) in units of 2^-192, least significant word first.
type fraction [3]uint64

// most is the largest fraction; it stands for 1.
var most = fraction{math.MaxUint64, math.MaxUint64, math.MaxUint64}

// times returns x·y cut down to a unit.
func (x *fraction) times(y *fraction) fraction {
	var p [6]uint64
	for i, a := range x {
		carry := uint64(0)
		for j, b := range y {
			hi, lo := bits.Mul64(a, b)
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c // hi <= 2^64 − 2
			lo, c = bits.Add64(lo, carry, 0)
			p[i+j], carry = lo, hi+c
		}
		p[i+3] = carry
	}
	return fraction{p[3], p[4], p[5]}
}

// powers holds ω^k, ω = e^{-rate}, by the digits of k in base 256.
type powers struct {
	digits  [][]fraction // digits[l][j] = ω^(j·256^l), as far as it is not 0
	floored bool         // no power is under least
	uniform bool         // every power is that of 0
}

// least is the weight 2^-128 of a pure choice: no point has less.
var least = fraction{1: 1}

const (
	digitBits = 8
	workBits  = 320 // of big.Float: 128 more than a fraction
)

// newPowers returns the powers for a finite rate > 0.
//
// The first power of each digit is off by at most one unit (it is cut from 320 bits), and each
// further one, a product of two numbers below 1, by two units more than the one before: 512 at
// most.
func newPowers(rate float64) powers {
	var p powers
	exponent := new(big.Float).SetPrec(workBits).SetFloat64(rate)
	for len(p.digits)*digitBits < 64 {
		base := expNegative(exponent)
		row := []fraction{most}
		for w := base; w != (fraction{}) && len(row) < 1<<digitBits; w = w.times(&base) {
			row = append(row, w)
		}
		p.digits = append(p.digits, row)
		if len(row) == 1 {
			break // this digit and all above it give 0
		}
		exponent.SetMantExp(exponent, digitBits)
	}
	return p
}

// at returns the weight of distance k: ω^k, off by less than 8·513 < 2^13 units, and of a pure
// choice at least 2^-128.
func (p *powers) at(k uint64) fraction {
	w := p.of(k)
	if p.floored && w[1]|w[2] == 0 {
		return least
	}
	return w
}

// of returns ω^k.
func (p *powers) of(k uint64) fraction {
	w, first := most, true
	if p.uniform {
		return w
	}
	for l := 0; k > 0; l++ {
		j := k & (1<<digitBits - 1)
		if k >>= digitBits; j == 0 {
			continue
		}
		if l >= len(p.digits) || j >= uint64(len(p.digits[l])) {
			return fraction{}
		}
		if x := &p.digits[l][j]; first {
			w, first = *x, false
		} else {
			w = w.times(x)
		}
	}
	return w
}

// expNegative returns e^{-x} for x > 0, cut down to a unit.
//
// e^{-x} = (e^{-x/2^s})^{2^s} with x/2^s < 2^-8, and a Taylor series for the inner power: the term
// 40 is below 2^-470. Each squaring doubles the relative error, s <= 16 times, so 320 bits leave
// more than 290.
func expNegative(x *big.Float) fraction {
	if x.Cmp(big.NewFloat(134)) > 0 { // 192·ln 2 = 133.08…
		return fraction{}
	}
	s := max(x.MantExp(nil)+8, 0)
	y := new(big.Float).SetMantExp(x, -s)
	sum := big.NewFloat(1).SetPrec(workBits)
	term := big.NewFloat(1).SetPrec(workBits)
	for i := int64(1); i <= 40; i++ {
		term.Mul(term, y).Quo(term, new(big.Float).SetInt64(-i))
		sum.Add(sum, term)
	}
	for range s {
		sum.Mul(sum, sum)
	}
	units, _ := sum.SetMantExp(sum, 192).Int(nil)
	if units.BitLen() > 192 {
		return most
	}
	var w fraction
	for i := range w {
		w[i] = new(big.Int).And(new(big.Int).Rsh(units, uint(64*i)), new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	}
	return w
}
