package shuffle

import "math"

// shares is the law of a shuffled sum's error in steps: of the difference of two negative binomial variables of
// the given shape and ratio alpha, plus rounding of the given variance, taken for normal. With shape 1 it is
// discrete Laplace.
type shares struct{ shape, alpha, rounding float64 }

// variance is 2·shape·α/(1−α)² + rounding.
func (s shares) variance() float64 {
	return 2*s.shape*s.alpha/((1-s.alpha)*(1-s.alpha)) + s.rounding
}

// characteristic is the law's characteristic function,
//
//	φ(t) = ((1−α)²/((1−α)² + 4α·sin²(t/2)))^shape·e^(−rounding·t²/2)
func (s shares) characteristic(t float64) float64 {
	sin := 2 * math.Sin(t/2) / (1 - s.alpha)
	return math.Exp(-s.shape*math.Log1p(s.alpha*sin*sin) - s.rounding*t*t/2)
}

// within returns the probability that the error is within ±x steps.
//
//	P = (h/π)·(x + 2·Σ_{k≥1} φ(kh)·sin(khx)/kh)
//
// is the inversion formula on a grid of h = 2π/period: it is exact but for what lies beyond period − x, where
// nothing is left, and for the law's own steps, between which it interpolates.
func (s shares) within(x float64) float64 {
	scale := -1 / math.Log(s.alpha)
	h := math.Pi / (scale*(60+12*math.Sqrt(2*s.shape)) + 12*math.Sqrt(s.rounding))
	sum := x
	for k := 1.0; k*h < math.Pi; k++ {
		t := k * h
		phi := s.characteristic(t)
		sum += 2 * phi * math.Sin(t*x) / t
		if phi < 1e-15 {
			break
		}
	}
	return sum * h / math.Pi
}

// point returns the x that the error is within with probability conf.
func (s shares) point(conf float64) float64 {
	lo, hi := 0.0, math.Sqrt(s.variance())
	for s.within(hi) < conf && hi < 1e3*math.Sqrt(s.variance()) {
		hi *= 2
	}
	for range 60 {
		if mid := lo + (hi-lo)/2; s.within(mid) < conf {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
