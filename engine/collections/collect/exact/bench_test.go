package exact

import (
	"testing"

	"scrim/engine/estimator/noise"
)

// One report of each kind from the operating system's generator, as on a device.

func BenchmarkBinary(b *testing.B) {
	x, _ := NewBinaryResponse(10_000)
	for r := Secure(); b.Loop(); {
		x.Randomize(r, true)
	}
}

func BenchmarkKary(b *testing.B) {
	x, _ := NewKaryResponse(10_000, 4)
	for r := Secure(); b.Loop(); {
		x.Randomize(r, 1)
	}
}

func BenchmarkUnary4096(b *testing.B) {
	x, _ := NewUnaryEncoding(10_000, 4096)
	report := make([]byte, x.Size())
	for r := Secure(); b.Loop(); {
		x.RandomizeTo(report, r, 1)
	}
}

func BenchmarkHadamard(b *testing.B) {
	x, _ := NewHadamard(10_000, 1<<20)
	for r := Secure(); b.Loop(); {
		x.Randomize(r, true, 1)
	}
}

func BenchmarkShare4096(b *testing.B) {
	for r := Secure(); b.Loop(); {
		r.NegativeBinomial(720_000, 1, 4096)
		r.NegativeBinomial(720_000, 1, 4096)
	}
}

func BenchmarkLaplace(b *testing.B) {
	for r := Secure(); b.Loop(); {
		r.Laplace(1, 4096)
	}
}

func BenchmarkGaussian(b *testing.B) {
	for r := Secure(); b.Loop(); {
		r.Gaussian(noise.Variance{Lo: 1 << 40})
	}
}

// BenchmarkPoisson has the rates of a vector's coordinate in a batch of 10^5 and of 100
// contributors.
func BenchmarkPoisson(b *testing.B) {
	for name, rate := range map[string]uint64{"32": 32, "31748": 31748} {
		b.Run(name, func(b *testing.B) {
			for r := Secure(); b.Loop(); {
				r.Poisson(rate << RateBits)
			}
		})
	}
}

func BenchmarkKeepKary(b *testing.B) {
	for b.Loop() {
		KeepKary(10_000, 4)
	}
}
