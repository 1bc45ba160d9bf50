package mix

import (
	"errors"
	"fmt"
	"math"

	"scrim/engine/collect/internal/strict"
)

// Limits of the claim and of this package. MaxBits leaves room for sums of signed windows in an
// int64; MaxShares is beyond what any accepted parameters need for a useful δ.
const (
	MinHonest = 64
	MinShares = 4
	MaxShares = 64
	MaxBits   = 62
	MinEps10k = 500   // ε = 0.05
	MaxEps10k = 80000 // ε = 8
)

// ErrParameter is wrapped by every error of this package: a public parameter is out of range.
var ErrParameter = errors.New("mix: parameter out of range")

// slack is on the private side and covers every rounding here, each of which is below 1e-12,
// relative.
const slack = 1.01

// Shares returns the least number m of shares, at least MinShares, for which splitting and mixing
// coords numbers of Z_q, q = 2^bits, among h honest contributors costs at most deltaMix beside the
// (ε, δ) of the noisy sums themselves:
//
//	coords·(1 + e^ε)·1.01·Eta(h, bits, m) ≤ deltaMix
//
// eps10k is ε in ten-thousandths. The result is the same on every machine. Errors: ε outside [0.05,
// 8], deltaMix outside (0, 1), h < 64, bits outside [1, 62], coords < 1, or no m up to MaxShares
// will do. Neighbours replace one value. Source: the package documentation.
func Shares(eps10k uint32, deltaMix float64, h uint64, bits, coords int) (int, error) {
	if err := check(eps10k, deltaMix, h, bits, coords); err != nil {
		return 0, err
	}
	for m := MinShares; m <= MaxShares; m++ {
		if Slack(eps10k, h, bits, m, coords) <= deltaMix {
			return m, nil
		}
	}
	return 0, fmt.Errorf("%w: more than %d shares needed for delta %g among %d honest contributors", ErrParameter, MaxShares, deltaMix, h)
}

func check(eps10k uint32, deltaMix float64, h uint64, bits, coords int) error {
	switch {
	case eps10k < MinEps10k || eps10k > MaxEps10k:
		return fmt.Errorf("%w: want epsilon in [0.05, 8], have %g", ErrParameter, float64(eps10k)/1e4)
	case !(deltaMix > 0 && deltaMix < 1):
		return fmt.Errorf("%w: want delta in (0, 1), have %g", ErrParameter, deltaMix)
	case h < MinHonest:
		return fmt.Errorf("%w: want at least %d honest contributors, have %d", ErrParameter, MinHonest, h)
	case bits < 1 || bits > MaxBits:
		return fmt.Errorf("%w: want sums of 1 to %d bits, have %d", ErrParameter, MaxBits, bits)
	case coords < 1:
		return fmt.Errorf("%w: want at least one coordinate, have %d", ErrParameter, coords)
	}
	return nil
}

// Slack returns the δ that mixing with m shares costs, coords·(1 + e^ε)·1.01·Eta(h, bits, m), +Inf
// where Eta has no bound.
func Slack(eps10k uint32, h uint64, bits, m, coords int) float64 {
	both := 1 + strict.Exp(float64(eps10k)/1e4)
	return float64(float64(float64(float64(coords)*both)*slack) * Eta(h, bits, m))
}

// Eta returns the bound √B of the total variation between the bags of any two honest inputs with
// equal sums, for h honest contributors, q = 2^bits and m shares; +Inf where the claim does not
// hold (h < 64, m < 4, bits outside [1, 62]) or is void. Source: the package documentation.
func Eta(h uint64, bits, m int) float64 {
	if h < MinHonest || m < MinShares || bits < 1 || bits > MaxBits {
		return math.Inf(1)
	}
	n, s := float64(h), float64(m-2)
	lnQ, lnH, lnHalf := float64(float64(bits)*math.Ln2), strict.Log(n), strict.Log(n/2)
	single := float64(strict.Exp(lnQ-float64(s*lnH)) * larger(lnHalf, s, strict.Log(2/(n-1))))
	lnX := lnQ + float64(s*(1-lnH)) + strict.Log(larger(lnHalf, s, 1-lnHalf))
	if lnX > 6.5 { // x > 665: the bound is void long before
		return math.Inf(1)
	}
	return math.Sqrt(single + strict.Rest(strict.Exp(lnX)))
}

// larger returns 1 + (h/2)·e^(s·l): one term of one row, and fewer than h/2 of larger sets, each
// e^(s·l) of it.
func larger(lnHalf, s, l float64) float64 { return 1 + strict.Exp(lnHalf+float64(s*l)) }
