package blanket

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"testing"
)

// needed has the table of the protocol's description: noise V for h ≥ 10^6, which itself is good to
// 1 %.
var needed = []struct {
	eps10k uint32
	delta  float64
	v      [5]float64 // for 1, 3, 5, 6 and 8 levels
}{
	{10000, 1e-6, [5]float64{61.2, 127, 208, 249, 332}},
	{10000, 1e-9, [5]float64{105, 207, 338, 405, 537}},
	{5000, 1e-9, [5]float64{274, 769, 1275, 1526, 2035}},
	{20000, 1e-9, [5]float64{41.9, 62.8, 92.8, 110, 145}},
}

var tableLevels = [5]int{1, 3, 5, 6, 8}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, c := range needed {
		for i, want := range c.v {
			for _, h := range []uint64{1_000_000, 7_200_000} {
				checkNoise(t, c.eps10k, c.delta, h, tableLevels[i], want)
			}
		}
	}
	checkNoise(t, 10000, 1e-9, 72000, 5, 339.3)
	checkNoise(t, 10000, 1e-9, 7200, 5, 355)
	if d := Delta(1, 338, 7200, 5); math.Abs(d/2.1e-9-1) > 0.05 {
		t.Errorf("V=338 at h=7200 gives delta %g, want 2.1e-9", d)
	}
}

func checkNoise(t *testing.T, eps10k uint32, delta float64, h uint64, levels int, want float64) {
	t.Helper()
	eps := float64(eps10k) / 1e4
	v, p, err := Noise(eps10k, delta, h, levels)
	if err != nil || math.Abs(v/want-1) > 0.01 {
		t.Errorf("(%g, %g), h=%d, %d levels: got V=%g, %v, want %g", eps, delta, h, levels, v, err, want)
		return
	}
	if v != Mean(h, p) || math.Abs(v/(float64(h)*float64(p)/One)-1) > 1e-15 {
		t.Errorf("V=%g does not belong to P=%d", v, p)
	}
	if d := at(eps, float64(p)/One, h, levels); !(d <= delta) {
		t.Errorf("(%g, %g), h=%d, %d levels: P=%d gives delta %g", eps, delta, h, levels, p, d)
	}
	// Less noise must not do.
	for _, less := range []float64{0.97, 0.998} {
		if d := Delta(eps, v*less, h, levels); d <= delta {
			t.Errorf("(%g, %g), h=%d, %d levels: V·%g gives delta %g", eps, delta, h, levels, less, d)
		}
	}
}

// TestSmallEpsilon: with many contributors the noise is nearly normal, and V is what 2L normal
// counts of variance V need. At ε = 0.05 that takes orders above 255.
func TestSmallEpsilon(t *testing.T) {
	t.Parallel()
	const h, levels, delta = 100_000_000, 5, 1e-9
	for _, eps10k := range []uint32{500, 1000, 3000} {
		eps, want, order := float64(eps10k)/1e4, math.Inf(1), 0.0
		for a := 1.25; a < 3000; a *= 1.001 {
			if room := eps + math.Log(delta*a)/(a-1) - math.Log1p(-1/a); room > 0 && a*levels/room < want {
				want, order = a*levels/room, a
			}
		}
		v, _, err := Noise(eps10k, delta, h, levels)
		if err != nil || v < want*0.995 || v > want*1.01 {
			t.Errorf("epsilon %g: got V=%g, %v, normal noise needs %g", eps, v, err, want)
		}
		if eps10k == 500 && order < 300 {
			t.Errorf("the best order is %g: nothing is tested", order)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		eps    uint32
		delta  float64
		h      uint64
		levels int
		want   error
	}{
		{"epsilon 0", 0, 1e-9, 1000, 5, ErrParameter},
		{"epsilon large", 80001, 1e-9, 1000, 5, ErrParameter},
		{"delta 0", 10000, 0, 1000, 5, ErrParameter},
		{"delta 1", 10000, 1, 1000, 5, ErrParameter},
		{"delta NaN", 10000, math.NaN(), 1000, 5, ErrParameter},
		{"h 63", 10000, 1e-9, 63, 5, ErrParameter},
		{"h huge", 10000, 1e-9, 1<<40 + 1, 5, ErrParameter},
		{"no level", 10000, 1e-9, 1000, 0, ErrParameter},
		{"33 levels", 10000, 1e-9, 1000, 33, ErrParameter},
		{"p above a quarter", 10000, 1e-9, 720, 5, ErrTooFew},
		{"delta out of reach", 10000, 1e-300, 1_000_000, 5, ErrTooFew},
	} {
		if v, p, err := Noise(c.eps, c.delta, c.h, c.levels); !errors.Is(err, c.want) || v != 0 || p != 0 {
			t.Errorf("%s: got %g, %d, %v, want %v", c.name, v, p, err, c.want)
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		eps, v float64
		h      uint64
		levels int
	}{
		{nan, 100, 1000, 5}, {-1, 100, 1000, 5}, {inf, 100, 1000, 5}, {1, nan, 1000, 5}, {1, 0, 1000, 5}, {1, -1, 1000, 5}, {1, inf, 1000, 5},
		{1, 251, 1000, 5}, {1, 10, 63, 5}, {1, 10, 0, 5}, {1, 100, 1000, 0}, {1, 100, 1000, 33}, {1, 1e-300, 1000, 5}, {0, 1e-9, 1000, 32},
	} {
		if d := Delta(c.eps, c.v, c.h, c.levels); !(d > 0.999 && d <= 1) {
			t.Errorf("Delta%v = %g, want 1", c, d)
		}
	}
}

// TestMoreNeverHurts: more honest contributors with the same p, a larger ε, fewer levels.
func TestMoreNeverHurts(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0.25, 0.05, 1e-3, 1e-5} {
		last := 1.0
		for h := uint64(64); h < 10_000_000; h += h / 3 {
			d := at(1, p, h, 3)
			if d < 1e-20 {
				break // where redrawn noise is what costs most
			}
			if d > last {
				t.Fatalf("p=%g: delta grows to %g at h=%d", p, d, h)
			}
			if at(1.1, p, h, 3) > d || at(1, p, h, 2) > d {
				t.Fatalf("p=%g h=%d: a larger epsilon or fewer levels cost more", p, h)
			}
			last = d
		}
	}
}

func TestCap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes  uint64
		levels int
		p      uint64
		want   uint64
	}{
		// λ = 0, 100, 1364·p: levels + ⌈λ + 12√λ + 40⌉
		{1364, 5, 0, 45}, {400, 4, One / 4, 4 + 100 + 120 + 40}, {1364, 5, 2_030_000, 5 + 51}, {87380, 8, One / 4, 8 + 21845 + 1774 + 40},
	} {
		if got := Cap(c.nodes, c.levels, c.p); got != c.want {
			t.Errorf("Cap(%d, %d, %d) = %d, want %d", c.nodes, c.levels, c.p, got, c.want)
		}
	}
}

// TestGoldenBits pins the published numbers: a machine that finds others would refuse every
// collection.
func TestGoldenBits(t *testing.T) {
	t.Parallel()
	const want = 0x987c85534f124a1a
	h := fnv.New64a()
	for _, eps := range []uint32{700, 3000, 10000, 25000, 80000} {
		for _, n := range []uint64{100, 7200, 99_999, 7_200_000} {
			for levels := 1; levels < 9; levels += 3 {
				v, p, err := Noise(eps, 1e-8, n, levels)
				_, _ = fmt.Fprint(h, math.Float64bits(v), p, err != nil, math.Float64bits(at(2, 0.01, n, levels)))
			}
		}
	}
	if got := h.Sum64(); got != want {
		t.Errorf("bits hash to %#x, want %#x", got, uint64(want))
	}
}

// BenchmarkNoise has five levels and ten million contributors.
func BenchmarkNoise(b *testing.B) {
	for b.Loop() {
		if _, _, err := Noise(10000, 1e-9, 7_200_000, 5); err != nil {
			b.Fatal(err)
		}
	}
}
