package device

import (
	"math"
	"strconv"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// read returns, coordinate by coordinate, what a decoder makes of reports of y's directions:
// (2·bit-1)·u·clip·A/c_d.
func read(t *testing.T, y []float64, clip float64, times int, towards func(*exact.Rand, *geometry.Sphere, geometry.Seed) bool) [][]float64 {
	t.Helper()
	b, err := exact.NewBinaryResponse(10_000)
	if err != nil {
		t.Fatal(err)
	}
	d, scale := len(y), 1/(2*float64(b.Keep())/(1<<62)-1)
	r := exact.New(stattest.Source(t, "sphere "+strconv.Itoa(d)))
	s := geometry.NewSphere([32]byte{byte(d)})
	samples, u := make([][]float64, d), make([]float64, d)
	for range times {
		seed := geometry.NewSeed(r.Uint64(), r.Uint64())
		value := -clip * scale / geometry.SphereMean(d)
		if b.Randomize(r, towards(r, s, seed)) {
			value = -value
		}
		s.DirectionTo(u, seed)
		for j := range u {
			samples[j] = append(samples[j], value*u[j])
		}
	}
	return samples
}

// TestSphereIsUnbiased is what the decoder of LDP_SCM3 rests on: reports average to the vector, if
// it is within Clip, and to its direction times Clip beyond.
func TestSphereIsUnbiased(t *testing.T) {
	const clip, times = 5.0, 100_000
	a := (math.E + 1) / (math.E - 1)
	for _, d := range []int{1, 2, 8} {
		for _, length := range []float64{0, 3, 12} {
			y := make([]float64, d)
			for j := range y {
				y[j] = float64(j) - 1.5
			}
			if n := geometry.Norm(y); n > 0 {
				for j := range y {
					y[j] *= length / n
				}
			}
			want := append([]float64(nil), y...)
			geometry.Clip(want, clip)
			deviation := clip * a / geometry.SphereMean(d) / math.Sqrt(float64(d))
			honest := read(t, y, clip, times, func(r *exact.Rand, s *geometry.Sphere, seed geometry.Seed) bool {
				return side(r, s, seed, y, clip)
			})
			for j, sample := range honest {
				stattest.Accept(t, stattest.Mean("coordinate", sample, want[j], deviation))
			}
			if length != 3 {
				continue
			}
			broken := read(t, y, clip, times, func(_ *exact.Rand, s *geometry.Sphere, seed geometry.Seed) bool {
				return s.Agrees(y, seed) // forgets the vector's length
			})
			j := 0 // the largest coordinate: farthest off
			for i := range want {
				if math.Abs(want[i]) > math.Abs(want[j]) {
					j = i
				}
			}
			stattest.Reject(t, stattest.Mean("coordinate without length", broken[j], want[j], deviation))
		}
	}
}

// TestSphereReportsHoldSeedAndSide checks the payload's layout: reports at a high epsilon mostly
// agree with their seed.
func TestSphereReportsHoldSeedAndSide(t *testing.T) {
	p := roundOf(t, collect.LDPSCM3, "", 3)
	v := collect.Value{-9, 1, 2}
	y := New(p).shifted(v)
	if geometry.Norm(y) < p.Published.Clip {
		t.Fatal("the vector is within the clip, so its side is not sure")
	}
	s := geometry.NewSphere(p.Fingerprint())
	var agree []float64
	for _, b := range payloads(t, p, 0, v, 5000) {
		same := 0.0
		if s.Agrees(y, geometry.Seed(b[:16])) == (b[16] == 1) {
			same = 1
		}
		agree = append(agree, same)
	}
	keep := math.E / (1 + math.E)
	stattest.Accept(t, stattest.Mean("side", agree, keep, math.Sqrt(keep*(1-keep))))
	stattest.Reject(t, stattest.Mean("side by chance", agree, 0.5, 0.5))
}
