package exact

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"scrim/test/stattest"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestDebiasingIsExact applies the debiasing functions to the expected shares of reports.
func TestDebiasingIsExact(t *testing.T) {
	for _, eps := range epsilons {
		b, _ := NewBinaryResponse(eps)
		c, _ := NewKaryResponse(eps, 5)
		u, _ := NewUnaryEncoding(eps, 64)
		for _, f := range []float64{0, 0.25, 1} {
			near(t, "binary", b.Debias(f*b.P()+(1-f)*(1-b.P())), f)
			near(t, "k-ary", c.Debias(f*c.P()+(1-f)*c.Other()), f)
			near(t, "unary", u.Debias(f/2+(1-f)*u.Q()), f)
			share := f*b.P() + (1-f)*(1-b.P())
			near(t, "binary variance", b.Variance(f), share*(1-share)*b.Scale()*b.Scale())
		}
		near(t, "scale", b.Scale(), 1/math.Tanh(eps.Float()/2))
		near(t, "unary variance", u.Variance(0), 1/math.Pow(math.Sinh(eps.Float()/2), 2))
		near(t, "unary variance", u.Variance(1), u.Variance(0)+1)
		near(t, "k-ary variance", c.Variance(0), (5-2+math.Exp(eps.Float()))/math.Pow(math.Expm1(eps.Float()), 2))
	}
}

// TestReportsAreUnbiased randomises values and compares the debiased reports with them: their mean,
// and their variance with the stated one.
func TestReportsAreUnbiased(t *testing.T) {
	const n, eps = 100_000, Epsilon(10_000)
	r := seeded(t, "reports")
	b, _ := NewBinaryResponse(eps)
	m, _ := NewBitMean(eps, 1<<32)
	c, _ := NewKaryResponse(eps, 6)
	h, _ := NewHadamard(eps, 16)
	u, _ := NewUnaryEncoding(eps, 70)
	mean := func(name string, want, variance float64, report func() float64) {
		x := make([]float64, n)
		for i := range x {
			x[i] = report()
		}
		stattest.Accept(t, stattest.Mean(name, x, want, math.Sqrt(variance)))
		stattest.Reject(t, stattest.Mean(name, x, want+0.15, math.Sqrt(variance)))
		for i := range x {
			x[i] -= want
		}
		stattest.Accept(t, stattest.Variance(name, x, variance, 8)) // of bits: 1/(pq) − 3 at most
		stattest.Reject(t, stattest.Variance(name, x, variance*1.1, 8))
	}
	one := func(bit bool) float64 {
		if bit {
			return 1
		}
		return 0
	}
	sign := func(bit bool) float64 { return 2*one(bit) - 1 }
	for _, bit := range []bool{false, true} {
		mean("binary", one(bit), b.Variance(one(bit)), func() float64 { return b.Debias(one(b.Randomize(r, bit))) })
	}
	mean("bit mean", 0.3, m.Variance(0.3), func() float64 { return m.Debias(one(m.Randomize(r, 1288490189))) })
	for _, v := range []uint64{0, 3, 5} {
		mean("k-ary own", 1, c.Variance(1), func() float64 { return c.Debias(one(c.Randomize(r, v) == v)) })
		mean("k-ary other", 0, c.Variance(0), func() float64 { return c.Debias(one(c.Randomize(r, v) == 2)) })
		for want, at := range map[float64]uint64{-1: v, 0: 9} {
			mean("hadamard", want, h.Variance(want), func() float64 {
				j, bit := h.Randomize(r, true, v)
				return h.Debias(sign(bit) * sign(Walsh(j, at)))
			})
		}
		mean("unary own", 1, u.Variance(1), func() float64 { return u.Debias(one(u.Bit(u.Randomize(r, v), v))) })
		mean("unary other", 0, u.Variance(0), func() float64 { return u.Debias(one(u.Bit(u.Randomize(r, v), 69))) })
	}
}

// TestUnaryBits compares every bit's frequency with its probability, and looks at the padding.
func TestUnaryBits(t *testing.T) {
	const n = 20_000
	for _, d := range []uint64{2, 7, 8, 9, 64, 65, 130, 256} {
		u, _ := NewUnaryEncoding(20_000, d)
		r, counts := seeded(t, fmt.Sprint("bits ", d)), make([]int64, d)
		report := make([]byte, u.Size())
		for range n {
			u.RandomizeTo(report, r, d-1)
			for i := range counts {
				if u.Bit(report, uint64(i)) {
					counts[i]++
				}
			}
			if over := d % 8; over != 0 && report[len(report)-1]<<over != 0 {
				t.Fatalf("%d bits: the last byte is %08b", d, report[len(report)-1])
			}
		}
		for i, c := range counts {
			p := u.Q()
			if uint64(i) == d-1 {
				p = 0.5
			}
			stattest.Accept(t, stattest.ChiSquare(fmt.Sprint("bit ", i), []int64{c, n - c}, []float64{p, 1 - p}))
			stattest.Reject(t, stattest.ChiSquare(fmt.Sprint("bit ", i), []int64{c, n - c}, []float64{0.3, 0.7}))
		}
	}
	u, _ := NewUnaryEncoding(20_000, 9)
	panics(t, "length", func() { u.RandomizeTo(make([]byte, 1), Secure(), 0) })
}

// TestValuesBeyondTheDomainAreTheLast: the same words give the same report.
func TestValuesBeyondTheDomainAreTheLast(t *testing.T) {
	c, _ := NewKaryResponse(10_000, 5)
	h, _ := NewHadamard(10_000, 8)
	u, _ := NewUnaryEncoding(10_000, 12)
	m, _ := NewBitMean(10_000, 100)
	a, b := seeded(t, "values"), seeded(t, "values")
	for range 100 {
		if c.Randomize(a, 4) != c.Randomize(b, 1<<63) {
			t.Error("k-ary")
		}
		i, x := h.Randomize(a, false, 7)
		if j, y := h.Randomize(b, false, 8); i != j || x != y {
			t.Error("hadamard")
		}
		if !bytes.Equal(u.Randomize(a, 11), u.Randomize(b, 12)) {
			t.Error("unary")
		}
		if m.Randomize(a, 100) != m.Randomize(b, 101) {
			t.Error("bit mean")
		}
	}
}
