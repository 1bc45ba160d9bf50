package skellam

import (
	"errors"
	"flag"
	"math"
	"testing"
	"time"
)

// whole makes TestSamplesAgainstAllIntegers sum at more settings: seconds of processor time instead
// of a fraction.
//
//	go test ./engine/collections/collect/skellam -run AllIntegers -skellam.whole
var whole = flag.Bool("skellam.whole", false, "sum over all integers at the larger variances, too")

// closest returns the largest quotient of a divergence and its bound.
func closest(exact []float64, mu float64, alpha int) float64 {
	top := 0.0
	for i, e := range exact {
		top = math.Max(top, e/RDP(alpha, mu, uint64(i+1), uint64(i+1)))
	}
	return top
}

// TestDivergencesAgainstReference compares with arithmetic of 300 bits.
func TestDivergencesAgainstReference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mu    float64
		alpha int
		most  int
	}{{1, 2, 3}, {4, 2, 10}, {4, 8, 4}, {16, 5, 12}, {64, 2, 50}, {64, 16, 9}, {400, 8, 40}, {400, 64, 6}, {2500, 20, 40}, {4096, 3, 50}, {4097, 3, 50}, {9000, 40, 40}, {40000, 60, 50}} {
		exact, err := divergences(c.mu, c.alpha, c.most, samples(c.mu, c.alpha, c.most, strideFor(c.mu)))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		shifts := []int{1, 2, c.most/2 + 1, c.most}
		for i, want := range reference(c.mu, c.alpha, shifts) {
			if got := exact[shifts[i]-1]; math.Abs(got/want-1) > 1e-14 {
				t.Errorf("%+v, shift %d: got %.17g, want %.17g, off by %g", c, shifts[i], got, want, got/want-1)
			}
		}
	}
}

// TestFormulaAtSmallVariances holds the bound against exact divergences where both differ visibly.
func TestFormulaAtSmallVariances(t *testing.T) {
	t.Parallel()
	n, top := 0, 0.0
	for _, mu := range []float64{4, 16, 64, 400, 2500} {
		for _, alpha := range []int{2, 8, 64} {
			shifts := []int{1, 7, 50}
			for i, e := range reference(mu, alpha, shifts) {
				s := uint64(shifts[i])
				r := e / RDP(alpha, mu, s, s)
				n, top = n+1, math.Max(top, r)
				if !(r <= 0.9998) {
					t.Errorf("mu=%g alpha=%d shift=%d: exact %g is %.9f of the bound", mu, alpha, s, e, r)
				}
				// Where the terms beyond the Gaussian's do not rule, half the noise must not pass.
				if float64(uint64(alpha)*s) < math.Sqrt(mu) && e <= RDP(alpha, 2*mu, s, s) {
					t.Errorf("mu=%g alpha=%d shift=%d: exact %g passes for twice the variance", mu, alpha, s, e)
				}
			}
		}
	}
	t.Logf("%d points, largest quotient %.6f", n, top)
}

// TestChosenOrders runs the check at the orders and variances that the table's parameters choose,
// and shows that a variance less by two in its own size would not pass.
func TestChosenOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eps10k uint32
		delta  float64
		n      uint64
		dim    int
	}{
		{10000, 1e-9, 1000, 1}, {10000, 1e-9, 1000, 8}, {10000, 1e-6, 1000, 8}, {5000, 1e-9, 1000, 8}, {20000, 1e-9, 1000, 8}, {10000, 1e-9, 10_000_000, 8},
		{500, 1e-9, 1000, 8}, {80000, 1e-15, 100_000, 128},
	} {
		g, err := GridOf(c.eps10k, c.delta, c.n, c.dim)
		if err != nil {
			t.Fatal(err)
		}
		mu, alpha, err := Variance(c.eps10k, c.delta, g.Delta2, g.Delta1)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := Verify(mu, alpha, g.Delta2); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		took := time.Since(start)
		most := int(g.Delta2)
		exact, err := divergences(mu, alpha, most, samples(mu, alpha, most, strideFor(mu)))
		if err != nil {
			t.Fatal(err)
		}
		slack := (1 - closest(exact, mu, alpha)) * mu
		t.Logf("%+v: mu=%g alpha=%d Delta2=%d: slack %.4f/mu, %v", c, mu, alpha, most, slack, took)
		if slack < 0.8 || slack > 1.2 {
			t.Errorf("%+v: the bound's slack is %g/mu, in theory about 1/mu", c, slack)
		}
		short, err := divergences(mu-2, alpha, most, samples(mu, alpha, most, strideFor(mu)))
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(short, mu, alpha); !errors.Is(err, ErrBound) {
			t.Errorf("%+v: noise of variance %g passes for %g: %v", c, mu-2, mu, err)
		}
	}
}

// TestKnownQuotients has two figures of the protocol's description: at α = 35 the exact divergences
// are at most 0.9999998 and, nearer, 1 − 1/μ of the bound.
func TestKnownQuotients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mu   float64
		most int
	}{{5.6e5, 130}, {4.6e6, 370}} {
		exact, err := divergences(c.mu, 35, c.most, samples(c.mu, 35, c.most, strideFor(c.mu)))
		if err != nil {
			t.Fatal(err)
		}
		if q := closest(exact, c.mu, 35); !(q <= 0.9999998) || q < 1-2e-6 {
			t.Errorf("mu=%g: the largest quotient is %.9f", c.mu, q)
		}
	}
}

// TestSamplesAgainstAllIntegers compares the sums over samples with sums over every integer.
func TestSamplesAgainstAllIntegers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		mu          float64
		alpha, most int
	}{{5000, 20, 60}, {5.6e5, 35, 40}}
	if *whole {
		cases = append(cases, struct {
			mu          float64
			alpha, most int
		}{5.6e5, 35, 130}, struct {
			mu          float64
			alpha, most int
		}{4.6e6, 35, 370}, struct {
			mu          float64
			alpha, most int
		}{1e9, 35, 40})
	}
	for _, c := range cases {
		some, err := divergences(c.mu, c.alpha, c.most, samples(c.mu, c.alpha, c.most, strideFor(c.mu)))
		if err != nil {
			t.Fatal(err)
		}
		every := samples(c.mu, c.alpha, c.most, 1)
		all, err := divergences(c.mu, c.alpha, c.most, every)
		if err != nil {
			t.Fatal(err)
		}
		rounding := 2e-14 + 0x1p-52*math.Sqrt(float64(len(every))) // of the long sums
		for i := range all {
			if d := math.Abs(some[i]/all[i] - 1); d > rounding {
				t.Fatalf("%+v, shift %d: samples give %.17g, all integers %.17g", c, i+1, some[i], all[i])
			}
		}
	}
}

// TestUnresolvedIsNotYes: too coarse a lattice and too narrow a window are noticed.
func TestUnresolvedIsNotYes(t *testing.T) {
	t.Parallel()
	const mu, alpha, most = 5.6e5, 35, 130
	sigma := int(math.Sqrt(mu))
	for name, points := range map[string][]int{
		"coarse":       samples(mu, alpha, most, 2*sigma),
		"coarse a bit": samples(mu, alpha, most, sigma),
		"cut above":    samples(mu, alpha, most-30, sigma/3)[:len(samples(mu, alpha, most-30, sigma/3))-25],
		"cut below":    samples(mu, alpha, most, sigma/3)[22:],
	} {
		if _, err := divergences(mu, alpha, most, points); !errors.Is(err, ErrUnresolved) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		mu     float64
		alpha  int
		delta2 uint64
		want   error
	}{
		{0, 2, 1, ErrParameter}, {0.5, 2, 1, ErrParameter}, {-1, 2, 1, ErrParameter}, {math.NaN(), 2, 1, ErrParameter}, {math.Inf(1), 2, 1, ErrParameter},
		{2 * MaxMu, 2, 1, ErrParameter}, {100, 1, 1, ErrParameter}, {100, 513, 1, ErrParameter}, {100, 2, 0, ErrParameter}, {100, 2, MaxDelta2 + 1, ErrParameter},
		{100, 100, 100, ErrUnresolved}, {1, 512, MaxDelta2, ErrUnresolved},
	} {
		if err := Verify(c.mu, c.alpha, c.delta2); !errors.Is(err, c.want) {
			t.Errorf("Verify%v: %v, want %v", c, err, c.want)
		}
	}
}

// TestSmallestAndLargest: the check works at the ends of its range.
func TestSmallestAndLargest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mu     float64
		alpha  int
		delta2 uint64
	}{{1, 2, 2}, {1, 16, 1}, {2, 3, 5}, {4095, 100, 10}, {4097, 100, 10}, {1 << 34, 100, 300}} {
		if err := Verify(c.mu, c.alpha, c.delta2); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestStartIsForgotten: the steps do not depend on where the backward recurrence begins.
func TestStartIsForgotten(t *testing.T) {
	t.Parallel()
	for _, mu := range []float64{3, 100, 1e4, 1e8} {
		near, far := []int{100}, []int{100, 100 + 30*int(math.Sqrt(mu))}
		a, b := windows(near, 90), windows(far, 90)
		a.fill(mu, near)
		b.fill(mu, far)
		x, y := a.below(100, 90), b.below(100, 90)
		for i := range 90 {
			if u, v := x(), y(); math.Abs(u/v-1) > 1e-12 {
				t.Fatalf("mu=%g, step %d: %.17g or %.17g", mu, 99-i, u, v)
			}
		}
	}
}
