package skellam

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"scrim/engine/collections/collect/internal/strict"
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

// Limits of this package.
const (
	MinEps10k = 500     // ε = 0.05
	MaxEps10k = 80000   // ε = 8
	MinAlpha  = 2       // the orders that are tried
	MaxAlpha  = 512     //
	MaxDelta2 = 1 << 20 // ℓ2 sensitivity in steps of the grid
	MaxMu     = 1 << 40 // variance in squared steps: what Verify can tell from the bound
)

// Errors. ErrParameter: a public parameter is out of range. ErrNone: no order gives the ε and δ
// asked for. ErrBound: the exact divergence of some shift is above what the variance was chosen by.
// ErrUnresolved: the exact divergence could not be computed well enough to compare.
var (
	ErrParameter  = errors.New("skellam: parameter out of range")
	ErrNone       = errors.New("skellam: no order gives this epsilon and delta")
	ErrBound      = errors.New("skellam: exact divergence above the bound")
	ErrUnresolved = errors.New("skellam: exact divergence not resolved")
)

// RDP returns a bound of the Rényi divergence of order alpha between Skellam noise of variance mu
// on every coordinate and the same noise shifted by an integer vector of ℓ2 norm at most delta2 and
// ℓ1 norm at most delta1:
//
//	α·Δ₂²/(2μ) + min( ((2α−1)·Δ₂² + 6Δ₁)/(4μ²), 3Δ₁/(2μ) )
//
// rounded up. It is +Inf for alpha < 2 or mu not above 0. Neighbours replace one vector, so Δ₂ is
// twice the largest norm. Source: the package documentation.
func RDP(alpha int, mu float64, delta2, delta1 uint64) float64 {
	if alpha < MinAlpha || !(mu > 0) {
		return math.Inf(1)
	}
	main, square, shift := parts(alpha, delta2, delta1)
	return float64((main/mu + min(square/mu/mu, shift/mu)) * (1 + 0x1p-48))
}

// parts returns αΔ₂²/2, ((2α−1)Δ₂² + 6Δ₁)/4 and 3Δ₁/2.
func parts(alpha int, delta2, delta1 uint64) (main, square, shift float64) {
	a, l2, l1 := float64(alpha), float64(delta2), float64(delta1)
	l2 = float64(l2 * l2)
	main = float64(a*l2) / 2
	square = (float64((float64(2*a)-1)*l2) + float64(6*l1)) / 4
	return main, square, float64(3*l1) / 2
}

// Variance returns the least whole number mu for which Skellam noise of variance mu on every
// coordinate hides shifts of ℓ2 norm up to delta2 and ℓ1 norm up to delta1 at ε = eps10k/10⁴ and
// deltaNoise, and the order alpha that shows it:
//
//	min over α = 2 … 512 of RDP(α) + ln(1 − 1/α) − ln(deltaNoise·α)/(α−1) ≤ ε
//
// The result is the same on every machine. Errors: ErrParameter for ε outside [0.05, 8], deltaNoise
// outside (0, 1), delta2 outside [1, 2^20], delta1 below delta2 or above its square, or a mu above
// MaxMu; ErrNone. Source: the package documentation.
func Variance(eps10k uint32, deltaNoise float64, delta2, delta1 uint64) (mu float64, alpha int, err error) {
	if err := check(eps10k, deltaNoise, delta2, delta1); err != nil {
		return 0, 0, err
	}
	eps := float64(eps10k) / 1e4
	inverse := 0.0 // the largest 1/μ
	for a := MinAlpha; a <= MaxAlpha; a++ {
		if x := largest(a, room(eps, deltaNoise, a), delta2, delta1); x > inverse {
			inverse, alpha = x, a
		}
	}
	if inverse == 0 {
		return 0, 0, fmt.Errorf("%w: epsilon %g, delta %g", ErrNone, eps, deltaNoise)
	}
	for mu = math.Ceil(1 / inverse); mu <= MaxMu; mu++ { // a step or two, for the ends of rounding
		if RDP(alpha, mu, delta2, delta1) <= room(eps, deltaNoise, alpha) {
			return mu, alpha, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: variance %g, at most 2^40 can be checked", ErrParameter, mu)
}

func check(eps10k uint32, deltaNoise float64, delta2, delta1 uint64) error {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case !(deltaNoise > 0 && deltaNoise < 1):
		return fmt.Errorf("%w: want delta in (0, 1), have %g", ErrParameter, deltaNoise)
	case delta2 < 1 || delta2 > MaxDelta2:
		return fmt.Errorf("%w: want a sensitivity from 1 to 2^20, have %d", ErrParameter, delta2)
	case delta1 < delta2 || delta1 > delta2*delta2:
		return fmt.Errorf("%w: want an l1 sensitivity from %d to %d, have %d", ErrParameter, delta2, delta2*delta2, delta1)
	}
	return nil
}

// room returns what the divergence of order alpha may be, ε − ln(1 − 1/α) + ln(δα)/(α−1), rounded
// down: each of the terms is below 100, so 2^-40 is far more than their errors.
func room(eps, delta float64, alpha int) float64 {
	a := float64(alpha)
	return eps - strict.Log1p(-1/a) + strict.Log(float64(delta*a))/(a-1) - 0x1p-40
}

// largest returns the largest x = 1/μ with RDP at most room: main·x + square·x² = room or (main +
// shift)·x = room, whichever comes later. It is 0 for a room that is not above 0.
func largest(alpha int, room float64, delta2, delta1 uint64) float64 {
	if !(room > 0) {
		return 0
	}
	main, square, shift := parts(alpha, delta2, delta1)
	root := math.Sqrt(float64(main*main) + float64(float64(4*square)*room))
	return max(float64(2*room)/(main+root), room/(main+shift))
}
