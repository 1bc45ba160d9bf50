package privacy

import (
	"crypto/sha256"
	"sync"

	"scrim/accounting/internal/codec"
)

// CurvesPrint tells programs apart that compute the curve of an event otherwise: a checkpoint holds
// sums of curves.
var CurvesPrint = sync.OnceValue(func() [sha256.Size]byte {
	h := sha256.New()
	for _, beta := range curveOrders {
		h.Write(codec.AppendFloat(nil, beta))
	}
	for _, e := range []Event{
		{Kind: ZCDP, Rho: 1 << 30, Count: 1}, {Kind: ZCDP, Rho: 1 << 30, Epsilon: 1 << 38, Count: 3},
		{Kind: Gaussian, Rho: 12345, Count: 2}, {Kind: DiscreteGaussian, Rho: 1 << 36, Count: 1},
		{Kind: Laplace, Epsilon: 1 << 38, Count: 1}, {Kind: Laplace, Epsilon: 1 << 42, Count: 7},
		{Kind: DiscreteLaplace, Epsilon: 1 << 39, Steps: 1, Count: 1}, {Kind: DiscreteLaplace, Epsilon: 1 << 41, Steps: 9, Count: 2},
		{Kind: Exponential, Epsilon: 1 << 39, Count: 1}, {Kind: RandomizedResponse, Epsilon: 1 << 40, Count: 1},
		{Kind: Threshold, DeltaEvent: 1e-9, Count: 1}, {Kind: NoiseAndChoices, Rho: 1 << 33, Count: 3},
	} {
		h.Write(e.Curve().append(nil))
	}
	return [sha256.Size]byte(h.Sum(nil))
})
