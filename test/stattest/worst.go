package stattest

import (
	"math/big"
	"testing"

	"scrim/engine/estimator/noise"
)

// Worst returns the largest Loss of full beside its replays by the releases of neighbours.
func Worst(t testing.TB, full *Recorder, neighbours ...func(noise.Noiser)) *big.Rat {
	t.Helper()
	most := new(big.Rat)
	for _, release := range neighbours {
		less := full.Replay(t)
		release(less)
		if l := Loss(t, full, less); l.Cmp(most) > 0 {
			most = l
		}
	}
	return most
}

// Sound checks that the worst loss of a release made for rho is rho at most, and that the check is
// able to fail: one made for three times that must lose more.
func Sound(t testing.TB, name string, rho float64, worst func(rho float64) *big.Rat) {
	t.Helper()
	declared := new(big.Rat).SetFloat64(rho)
	if l := worst(rho); l.Cmp(declared) > 0 {
		t.Errorf("%s: a person costs %v, declared %v", name, l.FloatString(6), rho)
	}
	if l := worst(3 * rho); l.Cmp(declared) <= 0 {
		t.Errorf("%s: a third of the noise passes", name)
	}
}
