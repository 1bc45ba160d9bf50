package skellam

import (
	"fmt"
	"math"
	"math/bits"

	"scrim/engine/collect/internal/strict"
)

// Grid is the integer grid of a shuffled sum of vectors.
type Grid struct {
	Clip   uint64 // a vector of the largest norm is this many steps long
	Norm   uint64 // after rounding to integers no vector is longer
	Delta2 uint64 // ℓ2 sensitivity of the sum to replacing one vector
	Delta1 uint64 // ℓ1 sensitivity
}

// Limits of GridOf.
const (
	MaxDim      = 1 << 16
	MaxExpected = 1 << 40
)

// GridOf returns the grid for vectors of dim coordinates from n expected contributors at ε =
// eps10k/10⁴ and delta, the whole δ of the collection:
//
//	κ = max(64, ⌈3.5·√(n·ρ/dim)⌉),  ρ = ε²/(4·ln(1/δ))
//	Clip = ⌈κ·√dim⌉,  Norm = Clip + ⌈√dim⌉,  Delta2 = 2·Norm,  Delta1 = min(⌈√dim·Delta2⌉, Delta2²)
//
// so that rounding adds about 1 % of the noise's variance and the sensitivity grows by at most 2 %.
// A coordinate is rounded by less than one step, hence Norm; an integer vector of ℓ2 norm at most
// Δ₂ has ℓ1 norm at most √dim·Δ₂ and at most Δ₂². Errors: ErrParameter.
func GridOf(eps10k uint32, delta float64, n uint64, dim int) (Grid, error) {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return Grid{}, fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case !(delta > 0 && delta < 0.5):
		return Grid{}, fmt.Errorf("%w: want delta in (0, 0.5), have %g", ErrParameter, delta)
	case n < 1 || n > MaxExpected:
		return Grid{}, fmt.Errorf("%w: want 1 to 2^40 contributors, have %d", ErrParameter, n)
	case dim < 1 || dim > MaxDim:
		return Grid{}, fmt.Errorf("%w: want 1 to %d coordinates, have %d", ErrParameter, MaxDim, dim)
	}
	eps := float64(eps10k) / 1e4
	rho := float64(eps*eps) / float64(-4*strict.Log(delta))
	d := uint64(dim)
	steps := uint64(max(64, math.Ceil(float64(3.5*math.Sqrt(float64(float64(n)*rho)/float64(d))))))
	g := Grid{Clip: rootUp(steps * steps * d)}
	g.Norm = g.Clip + rootUp(d)
	g.Delta2 = 2 * g.Norm
	if g.Delta2 > MaxDelta2 {
		return Grid{}, fmt.Errorf("%w: a sensitivity of %d steps, at most 2^20 can be checked", ErrParameter, g.Delta2)
	}
	g.Delta1 = min(rootUp(d*g.Delta2*g.Delta2), g.Delta2*g.Delta2)
	return g, nil
}

// rootUp returns ⌈√x⌉ for x < 2^62.
func rootUp(x uint64) uint64 {
	r := uint64(math.Sqrt(float64(x)))
	for r*r > x {
		r--
	}
	for r*r < x {
		r++
	}
	return r
}

// Unit is what rates of the Poisson noise are multiples of: 1/Unit.
const Unit = 1 << 20

// Rate returns l = ⌈2^20·μ/(2h)⌉: the noise share of each of h honest contributors is the
// difference of two Poisson variables with mean l/2^20, so that theirs together is Skellam of
// variance at least mu. mu is a whole number up to MaxMu, as Variance returns it, and h is at least
// 1.
func Rate(mu float64, h uint64) uint64 {
	high, low := bits.Mul64(uint64(mu), Unit/2)
	q, rem := bits.Div64(high, low, h) // high < 2^19·2^40/2^64 = 0, so it fits
	if rem > 0 {
		q++
	}
	return q
}

// Window returns n·norm + ⌈16√(2μ)⌉: the coordinates of the sum of n vectors and their noise are
// within ± of it, but for a negligible probability while the batch has at most twice the honest
// contributors that the noise is sized for.
func Window(mu float64, n, norm uint64) uint64 {
	return n*norm + uint64(math.Ceil(float64(16*math.Sqrt(float64(2*mu)))))
}

// Bits returns the bits of the ring that sums of up to most vectors are taken in: those of the
// 2·Window + 1 possible values, and 8 more, so that a random number lands outside the window with
// probability 255/256.
func Bits(mu float64, most, norm uint64) int { return bits.Len64(2*Window(mu, most, norm)) + 8 }

// Split divides the δ of a collection into nine tenths for the noise and one for mixing, both
// rounded down: their sum is at most delta.
func Split(delta float64) (noise, mix float64) {
	return math.Nextafter(float64(0.9*delta), 0), math.Nextafter(float64(0.1*delta), 0)
}
