// Package strict has the exponential and the logarithm with the same bits on every machine.
//
// A contributor's device recomputes what a server publishes of a collection and refuses what
// differs, so both sides must get the same number from the same parameters. The functions of
// package math do not promise that: some processors have their own versions in assembly, and the
// compiler may fuse x*y + z into one rounding where the processor can. Here, and in the packages
// that count on it, only +, −, ·, / and math.Sqrt, Frexp, Ldexp and Floor occur, which IEEE 754
// fixes to the last bit, and every product of floats stands directly inside a conversion,
// float64(x*y), which the language forbids to fuse. (A quotient by a power of two may still be
// fused as a product with its inverse: it is exact, so nothing changes.) TestProductsAreRounded
// checks the source of all of these packages for it, and TestGoldenBits the results.
//
// Accuracy: a few units in the last place (TestAccuracy allows 2^-50, relative). The accountants
// leave a far wider margin on the private side, so that no privacy claim hangs on a last digit;
// equality of the digits is for the comparison only.
package strict

import "math"

// ln 2 in two parts; the first has 20 trailing zero bits, so that its product with an exponent is
// exact.
const (
	ln2High = 0x1.62e42fefp-1
	ln2Low  = math.Ln2 - ln2High
)

// factorial inverses 1/2!, 1/3!, … as far as any series here goes.
var inverse = func() (c [21]float64) {
	f := 1.0
	for n := 2; n < len(c); n++ {
		f = float64(f * float64(n)) // exact up to 18!, and rounded alike everywhere beyond
		c[n] = 1 / f
	}
	return c
}()

// expTerms and restTerms are the last powers of the series: r^15/15! < 2^-62 for r ≤ ln(2)/2, and
// 1/21! < 2^-65 times 2.
const (
	expTerms  = 14
	restTerms = 20
)

// Exp returns e^x. Below −745 it is 0, above 709.7 it is +Inf; NaN stays NaN.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.7:
		return math.Inf(1)
	case x < -745:
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	return math.Ldexp(1+(r+rest(r, expTerms)), int(k))
}

// Rest returns e^x − 1 − x, which is at least 0, without cancellation for small x. Above 709 it is
// +Inf; NaN stays NaN.
func Rest(x float64) float64 {
	if x > -1 && x < 1 {
		return rest(x, restTerms)
	}
	if x > 709 {
		return math.Inf(1)
	}
	return (Exp(x) - 1) - x
}

// rest sums x^2/2! + … + x^last/last!.
func rest(x float64, last int) float64 {
	sum := inverse[last]
	for n := last - 1; n >= 2; n-- {
		sum = inverse[n] + float64(sum*x)
	}
	return float64(float64(sum*x) * x)
}

// Log returns ln x: −Inf for 0, NaN below 0. NaN and +Inf stay what they are.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, e := math.Frexp(x) // ½ ≤ m < 1
	if m < math.Sqrt2/2 {
		m, e = float64(m*2), e-1
	}
	k := float64(e)
	return float64(k*ln2High) + (logRatio((m-1)/(m+1)) + float64(k*ln2Low))
}

// Log1p returns ln(1+x) without cancellation for small x, as Log does for what is outside its
// domain.
func Log1p(x float64) float64 {
	if x > -0.25 && x < 0.25 {
		return logRatio(x / (2 + x))
	}
	return Log(1 + x)
}

// logRatio returns ln((1+s)/(1−s)) = 2(s + s³/3 + s⁵/5 + …) for |s| ≤ 3−2√2 = 0.172: the first term
// left out is less than 2^-63 of the sum.
func logRatio(s float64) float64 {
	z := float64(s * s)
	sum := 0.0
	for n := 23; n >= 3; n -= 2 {
		sum = float64(sum*z) + 1/float64(n)
	}
	return float64(2*s) + float64(float64(2*s)*float64(sum*z))
}
