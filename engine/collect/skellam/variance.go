package skellam

import (
	"errors"
	"fmt"
	"math"

	"scrim/engine/collect/internal/strict"
)

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
