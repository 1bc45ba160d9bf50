package shuffle

import "math"

// shares is the law of a shuffled sum's error in steps: of the difference of two negative binomial
// variables of the given shape and ratio alpha, plus rounding of the given variance, taken for
// normal. With shape 1 it is discrete Laplace.
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

// inversion gives probabilities of a law that is even, from its characteristic function on a grid:
//
//	P[|X| ≤ x] = (h/π)·(x + 2·Σ_{k≥1} φ(kh)·sin(khx)/kh)
//
// which is exact but for what lies beyond 2π/h − x, where nothing is left, and for the law's own
// steps, between which it interpolates.
type inversion struct {
	h     float64
	terms []float64 // 2φ(kh)/kh, from k = 1 on
}

// invert lays the grid out.
func (s shares) invert() inversion {
	scale := -1 / math.Log(s.alpha)
	v := inversion{h: math.Pi / (scale*(60+12*math.Sqrt(2*s.shape)) + 12*math.Sqrt(s.rounding))}
	for t := v.h; t < math.Pi; t = v.h * float64(len(v.terms)+1) {
		phi := s.characteristic(t)
		v.terms = append(v.terms, 2*phi/t)
		if phi < 1e-15 {
			break
		}
	}
	return v
}

// within returns the probability that the error is within ±x steps.
func (v inversion) within(x float64) float64 {
	sin, cos := math.Sincos(v.h * x)
	s, c, sum := 0.0, 1.0, x
	for _, term := range v.terms {
		s, c = s*cos+c*sin, c*cos-s*sin // of khx
		sum += term * s
	}
	return sum * v.h / math.Pi
}

// point returns the x that the error is within with probability conf.
func (s shares) point(conf float64) float64 {
	v, sd := s.invert(), math.Sqrt(s.variance())
	lo, hi := 0.0, sd
	for v.within(hi) < conf && hi < 100*sd {
		hi *= 2
	}
	for range 60 {
		if mid := lo + (hi-lo)/2; v.within(mid) < conf {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
