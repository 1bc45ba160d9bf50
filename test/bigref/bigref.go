// Package bigref computes with numbers of 256 bits: what tests compare the account's formulas with.
package bigref

import "math/big"

const bigPrec = 256

// Of returns x.
func Of(x float64) *big.Float { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }

// New returns 0.
func New() *big.Float { return new(big.Float).SetPrec(bigPrec) }

// Add returns a+b.
func Add(a, b *big.Float) *big.Float { return New().Add(a, b) }

// Sub returns a−b.
func Sub(a, b *big.Float) *big.Float { return New().Sub(a, b) }

// Mul returns a·b.
func Mul(a, b *big.Float) *big.Float { return New().Mul(a, b) }

// Quo returns a/b.
func Quo(a, b *big.Float) *big.Float { return New().Quo(a, b) }

// Exp returns e^x: the Taylor series at x/2^k, squared k times.
func Exp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)) + 16
	y := New().SetMantExp(x, -k)
	sum, term := Of(1), Of(1)
	for i := 1; i < 24; i++ {
		term = Quo(Mul(term, y), Of(float64(i)))
		sum = Add(sum, term)
	}
	for range k {
		sum = Mul(sum, sum)
	}
	return sum
}

var bln2 = func() *big.Float { return blnMant(Of(2)) }()

// Log returns ln x for x > 0.
func Log(x *big.Float) *big.Float {
	m := New()
	e := x.MantExp(m)
	return Add(blnMant(m), Mul(Of(float64(e)), bln2))
}

// blnMant returns ln m for m in [1/2, 2], as 2·artanh((m−1)/(m+1)) after eight square roots.
func blnMant(m *big.Float) *big.Float {
	r := m
	for range 8 {
		r = New().Sqrt(r)
	}
	z := Quo(Sub(r, Of(1)), Add(r, Of(1)))
	z2, p, sum := Mul(z, z), z, New()
	for i := 1; i < 36; i += 2 {
		sum = Add(sum, Quo(p, Of(float64(i))))
		p = Mul(p, z2)
	}
	return Mul(Of(512), sum)
}
