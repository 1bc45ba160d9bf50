package accounting

import (
	"fmt"
	"math"
	"testing"
)

func TestCheckValues(t *testing.T) {
	for _, c := range []struct{ rho, eps float64 }{{0.01, 0.6217}, {0.05, 1.4716}, {0.1, 2.1419}, {0.5, 5.2215}, {1, 7.7662}} {
		got := EpsilonOf(Loss{Rho: RhoOf(c.rho)}, 1e-6)
		if fmt.Sprintf("%.4f", float64(got)) != fmt.Sprintf("%.4f", c.eps) {
			t.Errorf("rho %v: epsilon %.8f, want %v", c.rho, float64(got), c.eps)
		}
	}
	if got := RhoFor(1, 1e-6).Float(); fmt.Sprintf("%.6f", got) != "0.024356" {
		t.Errorf("rho for epsilon 1: %.9f", got)
	}
	_ = math.Inf
}

func BenchmarkEpsilonOf(b *testing.B) {
	for b.Loop() {
		EpsilonOf(Loss{Rho: RhoOf(0.1), DeltaEvent: 1e-8, DeltaTV: 1e-30}, 1e-6)
	}
}

func BenchmarkDeltaOf(b *testing.B) {
	for b.Loop() {
		DeltaOf(Loss{Rho: RhoOf(0.1), DeltaEvent: 1e-8, DeltaTV: 1e-30}, 1)
	}
}

func BenchmarkRhoFor(b *testing.B) {
	for b.Loop() {
		RhoFor(1, 1e-6)
	}
}
