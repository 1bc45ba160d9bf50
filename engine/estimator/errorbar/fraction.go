package errorbar

import (
	"math"

	"scrim/engine/estimator"
)

// fraction returns the interval of a Fraction: all q with
//
//	(Num − q·Den)² ≤ z²·Var(Num − q·Den)
//
// which for the exact q is a normal number of mean 0 whatever Den is: Fieller's interval [F54] of
// two numbers whose noises go together.
func fraction(f estimator.FractionOf, alpha float64) (lo, hi float64) {
	z := point(alpha)
	z *= z
	a, b, c := f.Den*f.Den-z*f.DenVar, f.Num*f.Den-z*f.Both, f.Num*f.Num-z*f.NumVar
	lo, hi = math.Inf(-1), math.Inf(1)
	if a > 0 {
		root := math.Sqrt(max(0, b*b-a*c))
		lo, hi = f.Offset+(b-root)/a-f.Cut.Below(alpha), f.Offset+(b+root)/a+f.Cut.Above(alpha)
	}
	if f.Square {
		most := max(lo*lo, hi*hi)
		if lo <= 0 && hi >= 0 {
			lo, hi = 0, most
		} else {
			lo, hi = min(lo*lo, hi*hi), most
		}
	}
	return max(lo, f.Low), min(hi, f.High)
}
