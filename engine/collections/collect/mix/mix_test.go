package mix

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestTable has the numbers of the protocol's description for ε = 1, δ = 1e-9, and three more.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eps10k uint32
		delta  float64
		n, h   uint64
		ring   Ring
		m      int
		std    float64 // of the mean, in units of the range; 0: not tabulated
	}{
		{10000, 1e-9, 1e2, 72, Ring{64, 3840, 23}, 17, 1.668e-2},
		{10000, 1e-9, 1e3, 720, Ring{128, 7680, 26}, 12, 1.671e-3},
		{10000, 1e-9, 1e4, 7200, Ring{512, 30720, 31}, 10, 1.670e-4},
		{10000, 1e-9, 1e5, 72000, Ring{2048, 122880, 37}, 9, 1.668e-5},
		{10000, 1e-9, 1e6, 720000, Ring{4096, 245760, 41}, 8, 1.671e-6},
		{10000, 1e-9, 1e7, 7200000, Ring{16384, 983040, 46}, 7, 1.669e-7},
		{10000, 1e-6, 1e6, 720000, Ring{4096, 245760, 41}, 7, 0},
		{1000, 1e-9, 1e6, 720000, Ring{512, 307200, 38}, 8, 0},
	} {
		t.Run(fmt.Sprint(c.eps10k, c.delta, c.n), func(t *testing.T) {
			t.Parallel()
			b := Margin(c.n)
			if b.Honest != c.h {
				t.Fatalf("honest: got %d, want %d", b.Honest, c.h)
			}
			r, err := RingOf(c.eps10k, b)
			if err != nil || r != c.ring {
				t.Fatalf("ring: got %+v, %v, want %+v", r, err, c.ring)
			}
			m, err := Shares(c.eps10k, c.delta, b.Honest, r.Bits, 1)
			if err != nil || m != c.m {
				t.Fatalf("shares: got %d, %v, want %d", m, err, c.m)
			}
			// One share less must not do: the least m is the answer, and the bound depends on it.
			if s := Slack(c.eps10k, b.Honest, r.Bits, m-1, 1); s <= c.delta {
				t.Errorf("%d shares cost %g, within %g: not the least", m-1, s, c.delta)
			}
			if s := Slack(c.eps10k, b.Honest, r.Bits, m, 1); !(s <= c.delta) {
				t.Errorf("%d shares cost %g, more than %g", m, s, c.delta)
			}
			if got := std(c.eps10k, b, r); c.std != 0 && math.Abs(got/c.std-1) > 5e-4 {
				t.Errorf("std: got %.4g, want %.4g", got, c.std)
			}
		})
	}
}

// std is the standard deviation of the mean when all expected contributors report, in units of the
// range.
func std(eps10k uint32, b Batch, r Ring) float64 {
	n, d := float64(b.Expected), float64(r.Delta)
	a := math.Exp(-float64(eps10k) / 1e4 / d)
	return math.Sqrt(2*n/float64(b.Honest)*a/((1-a)*(1-a))+n/4) / (n * d)
}

func TestMargin(t *testing.T) {
	t.Parallel()
	for n := range uint64(3000) {
		b := Margin(n)
		// Min = ⌈4n/5⌉, Honest = ⌈9·Min/10⌉, exactly.
		if b.Min != (4*n+4)/5 || b.Honest != (9*b.Min+9)/10 || b.Max != 2*b.Honest {
			t.Fatalf("n=%d: %+v", n, b)
		}
		if bad := b.Min / 10; b.Min-bad < b.Honest {
			t.Fatalf("n=%d: with a tenth dishonest %d are left, noise is sized for %d", n, b.Min-bad, b.Honest)
		}
	}
	// Where a float's ceiling is one too high.
	if h := Margin(100).Honest; h != 72 {
		t.Errorf("got %d", h)
	}
}

func TestRingHoldsItsWindow(t *testing.T) {
	t.Parallel()
	for _, eps := range []uint32{500, 501, 3333, 10000, 79999, 80000} {
		for _, n := range []uint64{90, 100, 12345, 1e6, 1e9, 1 << 40} {
			b := Margin(n)
			r, err := RingOf(eps, b)
			if err != nil {
				if n < 1<<40 {
					t.Errorf("%d %d: %v", eps, n, err)
				}
				continue
			}
			e := float64(eps) / 1e4
			if d := float64(r.Delta); d < 64 || d < 4*e*math.Sqrt(float64(n))*(1-1e-12) || d > 64 && d/2 >= 4*e*math.Sqrt(float64(n))*(1+1e-12) {
				t.Errorf("%d %d: Delta = %g", eps, n, d)
			}
			if got, want := float64(r.Tail), math.Ceil(60*float64(r.Delta)/e*(1-1e-15)); math.Abs(got-want) > 1 {
				t.Errorf("%d %d: Tail = %g, want %g", eps, n, got, want)
			}
			values := b.Max*r.Delta + 2*r.Tail + 1
			if q := uint64(1) << r.Bits; values > q>>spareBits || values <= q>>(spareBits+1) {
				t.Errorf("%d %d: %d values in a ring of %d bits", eps, n, values, r.Bits)
			}
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
		bits   int
		coords int
	}{
		{"epsilon 0", 0, 1e-9, 100, 20, 1},
		{"epsilon small", 499, 1e-9, 100, 20, 1},
		{"epsilon large", 80001, 1e-9, 100, 20, 1},
		{"delta 0", 10000, 0, 100, 20, 1},
		{"delta 1", 10000, 1, 100, 20, 1},
		{"delta negative", 10000, -1e-9, 100, 20, 1},
		{"delta NaN", 10000, math.NaN(), 100, 20, 1},
		{"delta Inf", 10000, math.Inf(1), 100, 20, 1},
		{"delta out of reach", 10000, 1e-200, 100, 20, 1},
		{"h 63", 10000, 1e-9, 63, 20, 1},
		{"bits 0", 10000, 1e-9, 100, 0, 1},
		{"bits 63", 10000, 1e-9, 100, 63, 1},
		{"no coordinate", 10000, 1e-9, 100, 20, 0},
	} {
		if m, err := Shares(c.eps, c.delta, c.h, c.bits, c.coords); !errors.Is(err, ErrParameter) || m != 0 {
			t.Errorf("%s: got %d, %v", c.name, m, err)
		}
	}
	for _, c := range []struct {
		eps uint32
		n   uint64
	}{{0, 1000}, {10000, 0}, {10000, 1}, {10000, 50}, {10000, 1<<40 + 1}, {10000, math.MaxUint64}} {
		if r, err := RingOf(c.eps, Margin(c.n)); !errors.Is(err, ErrParameter) || r != (Ring{}) {
			t.Errorf("RingOf(%d, %d) = %+v, %v", c.eps, c.n, r, err)
		}
	}
	for _, c := range []struct {
		h       uint64
		bits, m int
	}{{63, 20, 10}, {64, 0, 10}, {64, 63, 10}, {64, 20, 3}, {64, 62, 4}} {
		if e := Eta(c.h, c.bits, c.m); !math.IsInf(e, 1) {
			t.Errorf("Eta%v = %g, want +Inf", c, e)
		}
	}
}

// TestEtaFalls: more honest contributors, more shares or a smaller ring never weaken the bound.
// Noise and shares are sized for the least number of honest contributors, so the first is part of
// the guarantee.
func TestEtaFalls(t *testing.T) {
	t.Parallel()
	for _, bits := range []int{1, 8, 23, 41, 62} {
		for m := MinShares; m < 24; m++ {
			last := math.Inf(1)
			for h := uint64(64); h < 1<<34; h += h/9 + 1 {
				e := Eta(h, bits, m)
				if e > last || Eta(h, bits, m+1) > e || bits < MaxBits && Eta(h, bits+1, m) < e {
					t.Fatalf("h=%d bits=%d m=%d: %g after %g", h, bits, m, e, last)
				}
				last = e
			}
		}
	}
}

// TestCoordinatesAddUp: d coordinates need no less than one, and cost d times as much.
func TestCoordinatesAddUp(t *testing.T) {
	t.Parallel()
	one, many := Slack(10000, 7200, 31, 10, 1), Slack(10000, 7200, 31, 10, 128)
	if math.Abs(many/one-128) > 1e-9 {
		t.Errorf("128 coordinates cost %g, one %g", many, one)
	}
	m, err := Shares(10000, one, 7200, 31, 128)
	if err != nil || m <= 10 {
		t.Errorf("128 coordinates at the cost of one: %d shares, %v", m, err)
	}
}

func BenchmarkShares(b *testing.B) {
	for b.Loop() {
		if _, err := Shares(10000, 1e-9, 72, 23, 1); err != nil {
			b.Fatal(err)
		}
	}
}
