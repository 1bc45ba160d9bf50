package blanket

import (
	"errors"
	"fmt"
	"math"

	"scrim/engine/collect/internal/strict"
)

// Limits of this package.
const (
	MinHonest = 64
	MaxHonest = 1 << 40
	MaxLevels = 32
	MinEps10k = 500     // ε = 0.05
	MaxEps10k = 80000   // ε = 8
	One       = 1 << 32 // P of probability 1
	MaxP      = One / 4 // p ≤ 1/4: beyond, reports are mostly noise
)

// ErrParameter is wrapped by every error of this package about a parameter out of range, ErrTooFew
// where no accepted noise will do: there are too few contributors for this ε, δ and tree.
var (
	ErrParameter = errors.New("blanket: parameter out of range")
	ErrTooFew    = errors.New("blanket: too few contributors")
)

// Noise returns the noise that every node of a tree of levels levels needs so that a batch with h
// honest contributors is (ε, delta)-indistinguishable: p as P in units of 2^-32, and V = h·p, the
// honest contributors' expected noise messages at a node. eps10k is ε in ten-thousandths. P is
// within 2^-10, relative, of the least that Delta accepts, and above it.
//
// The result is the same on every machine. Neighbours replace one value. Errors: ErrParameter for ε
// outside [0.05, 8], delta outside (0, 1), h outside [64, 2^40] or levels outside [1, 32];
// ErrTooFew if p would be above 1/4. Source: the package documentation.
func Noise(eps10k uint32, delta float64, h uint64, levels int) (v float64, p uint64, err error) {
	if err := check(eps10k, delta, h, levels); err != nil {
		return 0, 0, err
	}
	eps := float64(eps10k) / 1e4
	enough := func(p uint64) bool { return at(eps, float64(p)/One, h, levels) <= delta }
	// A count of zero is charged with (1−p)^h ≥ e^(−2hp), so less than hp = 2 never does for delta
	// ≤ 0.01; where it might, starting there costs accuracy only.
	low := min(max(2*One/h, 1), MaxP/2)
	high := 2 * low
	for !enough(high) {
		if high == MaxP {
			return 0, 0, fmt.Errorf("%w: %d honest contributors cannot hide one at epsilon %g, delta %g on %d levels", ErrTooFew, h, eps, delta, levels)
		}
		low, high = high, min(2*high, MaxP)
	}
	for high-low > high>>10 && high-low > 1 {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return Mean(h, high), high, nil
}

// Mean returns h·P/2^32, the V that belongs to P.
func Mean(h, p uint64) float64 { return float64(float64(h)*float64(p)) / One }

func check(eps10k uint32, delta float64, h uint64, levels int) error {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case !(delta > 0 && delta < 1):
		return fmt.Errorf("%w: want delta in (0, 1), have %g", ErrParameter, delta)
	case h < MinHonest || h > MaxHonest:
		return fmt.Errorf("%w: want 64 to 2^40 honest contributors, have %d", ErrParameter, h)
	case levels < 1 || levels > MaxLevels:
		return fmt.Errorf("%w: want 1 to %d levels, have %d", ErrParameter, MaxLevels, levels)
	}
	return nil
}

// Cap returns the constant number of messages of a report on a tree of nodes nodes and levels
// levels:
//
//	levels + ⌈λ + 12√λ + 40⌉,  λ = nodes·P/2^32
//
// The noise is beyond it with probability below 1e-31, for every λ; a contributor then draws all of
// it anew, which Delta charges for. nodes·P is below 2^53.
func Cap(nodes uint64, levels int, p uint64) uint64 {
	l := float64(nodes*p) / One
	return uint64(levels) + uint64(math.Ceil(l+float64(12*math.Sqrt(l))+40))
}

// redrawn bounds the probability that a contributor draws their noise anew.
const redrawn = 1e-31

// away is the δ that redrawn noise costs, for the at most 2h honest contributors of a batch.
func away(eps float64, h uint64) float64 {
	return float64((1 + strict.Exp(eps)) * float64(float64(2*h)*redrawn))
}
