package estimator

import "math"

// FractionOf is what a value of the form Fraction is made of: Offset + Num/Den, or the square of
// that, of two numbers whose noise is about normal, of no bias, and goes together.
type FractionOf struct {
	Offset, Num, Den     float64
	NumVar, Both, DenVar float64 // variances of the noise of Num and Den, and their covariance
	Cut                  Cut     // what a clip may move Offset + Num/Den by
	Square               bool    // the square is shown
	Low, High            float64 // the values that are possible
}

// Value is the value as shown: the nearest that is possible.
func (f FractionOf) Value() float64 {
	v := f.Offset + f.Num/f.Den
	if f.Square {
		v *= v
	}
	return min(max(v, f.Low), f.High)
}

// StdErr is the standard deviation of the value's noise by its linear part; NaN where the value is
// not known.
func (f FractionOf) StdErr(known bool) float64 {
	if !known {
		return math.NaN()
	}
	q := f.Num / f.Den
	s := math.Sqrt(max(0, f.NumVar-2*q*f.Both+q*q*f.DenVar)) / math.Abs(f.Den)
	if f.Square {
		s *= 2 * math.Abs(f.Offset+q)
	}
	return s
}
