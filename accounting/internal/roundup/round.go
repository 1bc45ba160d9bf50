// Package roundup does float64 arithmetic on non-negative numbers with the result rounded up: never
// below the true value. NaN stays NaN; every caller has refused it before.
package roundup

import "math"

// up returns the next float64 above x.
func Next(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// addUp returns a+b, exact or rounded up. The rounding error of a sum is a float64 itself (Knuth's
// two-sum), so its sign is known.
func Add(a, b float64) float64 {
	s := a + b
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return s
	}
	bb := s - a
	if err := (a - (s - bb)) + (b - bb); err > 0 {
		return Next(s)
	}
	return s
}

// mulUp returns a·b, exact or rounded up. Products that underflow are rounded up too.
func Mul(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	p := a * b
	if math.IsInf(p, 0) || math.IsNaN(p) {
		return p
	}
	// Below the normal range the error term itself may be lost, so there the result always moves
	// up.
	if p < 0x1p-960 || math.FMA(a, b, -p) > 0 {
		return Next(p)
	}
	return p
}

// expUp returns at least e^x, for x of any sign. math.Exp is documented to be within one ulp; four
// are added, which also covers an assembly version that is a little worse.
func Exp(x float64) float64 {
	e := math.Exp(x)
	return Next(Next(Next(Next(e))))
}

// floatUp returns the smallest float64 that is at least u.
func Float(u uint64) float64 {
	f := float64(u)
	if f < 0x1p64 && uint64(f) < u {
		return Next(f)
	}
	return f
}
