package device

import (
	"math"
	"slices"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// messages returns messages drawn from the stream of one name.
func messages(t testing.TB, stream string, p *collect.Params, cell uint32, v collect.Value) []collect.Message {
	t.Helper()
	m, err := Messages(exact.New(stattest.Source(t, stream)), p, cell, v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// signed returns the sum of shares modulo 2^bits as a number around 0.
func signed(m []collect.Message, bits int) int64 {
	sum := uint64(0)
	for _, x := range m {
		sum += x.Value()
	}
	return int64(sum<<(64-bits)) >> (64 - bits)
}

func TestMessagesAreAcceptedAndNumbered(t *testing.T) {
	rounds(t, collect.Shuffle, func(t *testing.T, p *collect.Params) {
		for _, c := range p.Cells {
			for _, v := range valuesOf(p) {
				m := messages(t, "accepted", p, c.Cell, v)
				if most := int(p.Messages()); len(m) > most || !p.Tree() && len(m) != most || len(m) < p.Batch.Levels {
					t.Errorf("%v has %d messages, the bundle room for %d", v, len(m), most)
				}
				for _, x := range m {
					if err := p.CheckMessageOf(c.Cell, x); err != nil {
						t.Errorf("%v: %v", v, err)
					}
				}
			}
		}
	})
}

// TestSharesOfASumAddUp repeats the draws of SHUF_SUM on the same stream: the shares add up to the
// rounded value plus the noise, modulo 2^Bits.
func TestSharesOfASumAddUp(t *testing.T) {
	p := roundOf(t, collect.ShufSum, "", 1)
	for i := range uint64(300) {
		x := -2 + float64(i)*12/300
		m, err := Messages(exact.New(&tape{then: i}), p, 0, collect.Value{x})
		if err != nil {
			t.Fatal(err)
		}
		r := exact.New(&tape{then: i})
		e, err := laplaceShare(r, 10_000, 10_000*p.Batch.Grid, p.Batch.Honest)
		if err != nil {
			t.Fatal(err)
		}
		whole, rest := geometry.Split(geometry.Fraction(x, -2, 10), p.Batch.Grid)
		want := int64(roundUp(r, whole, rest))
		if got := signed(m, p.Batch.Bits); got != want+e {
			t.Fatalf("%v: shares add up to %d, want %d + %d", x, got, want, e)
		}
	}
}

// TestSumIsUnbiased checks rounding and noise by their moments: over many devices the shares add up
// to the value on the grid, with the variance of the rounding and of the negative binomials.
func TestSumIsUnbiased(t *testing.T) {
	p := roundOf(t, collect.ShufSum, "", 1)
	p = p.Clone()
	p.Batch.Honest = 4 // so that noise is common
	r := exact.New(stattest.Source(t, "unbiased"))
	const value = 1.2345
	grid := float64(p.Batch.Grid)
	at := (value + 2) / 12 * grid
	fraction := at - math.Floor(at)
	alpha := math.Exp(-1 / grid)
	variance := 2*alpha/((1-alpha)*(1-alpha))/4 + fraction*(1-fraction)
	var sample []float64
	for range 20000 {
		m, err := Messages(r, p, 0, collect.Value{value})
		if err != nil {
			t.Fatal(err)
		}
		sample = append(sample, float64(signed(m, p.Batch.Bits))-at)
	}
	stattest.Accept(t, stattest.Mean("sum of shares", sample, 0, math.Sqrt(variance)))
	// a difference of gammas of shape 1/4: 3 + 3/(1/4)
	stattest.Accept(t, stattest.Variance("sum of shares", sample, variance, 15))
	stattest.Reject(t, stattest.Variance("half of the noise", sample, variance/2, 15))
}

// TestSharesAreUniform checks that each message of a sum by itself is uniform, the last one too.
func TestSharesAreUniform(t *testing.T) {
	p := roundOf(t, collect.ShufSum, "", 1)
	r := exact.New(stattest.Source(t, "uniform"))
	const cells = 16
	even := slices.Repeat([]float64{1.0 / cells}, cells)
	counts := make([][]int64, p.Batch.Shares)
	for j := range counts {
		counts[j] = make([]int64, cells)
	}
	plain := make([]int64, cells)
	for range 4000 {
		m, err := Messages(r, p, 0, collect.Value{3})
		if err != nil {
			t.Fatal(err)
		}
		for j, x := range m {
			counts[j][x.Value()>>(p.Batch.Bits-4)]++
		}
		plain[uint64(signed(m, p.Batch.Bits))<<(64-p.Batch.Bits)>>60]++
	}
	for j := range counts {
		stattest.Accept(t, stattest.ChiSquare("share", counts[j], even))
	}
	stattest.Reject(t, stattest.ChiSquare("an unsplit sum", plain, even))
}

// TestVectorsStayWithinTheirBound takes the noise away by its rate and finds the vector on the
// grid.
func TestVectorsStayWithinTheirBound(t *testing.T) {
	for _, p := range []*collect.Params{roundOf(t, collect.ShufVec, "", 1), roundOf(t, collect.ShufSCM3, "", 3)} {
		p = p.Clone()
		p.Batch.Rate = 0
		r := exact.New(stattest.Source(t, "vectors"))
		d := int(p.Cells[0].Domain)
		for _, v := range vectors {
			y := geometry.Vector(v, p.Null(), 3)
			if p.Protocol == collect.ShufSCM3 {
				y = New(p).shifted(v)
			}
			geometry.Clip(y, p.Batch.Clip)
			m, err := Messages(r, p, 0, v)
			if err != nil {
				t.Fatal(err)
			}
			square := int64(0)
			for j := range d {
				z := signed(m[j*p.Batch.Shares:][:p.Batch.Shares], p.Batch.Bits)
				square += z * z
				if want := y[j] / p.Batch.Clip * float64(p.Batch.Grid); math.Abs(float64(z)-want) > 1+1e-6 {
					t.Errorf("%v: coordinate %d is %d on the grid, want about %v", v, j, z, want)
				}
				if m[j*p.Batch.Shares].Coordinate() != uint16(j) {
					t.Errorf("coordinate %d is tagged %d", j, m[j*p.Batch.Shares].Coordinate())
				}
			}
			if square > int64(p.Batch.Bound*p.Batch.Bound) {
				t.Errorf("%v has the square %d on the grid, beyond %d squared", v, square, p.Batch.Bound)
			}
		}
	}
}

// TestVectorNoise checks rounding and noise of vectors by their moments.
func TestVectorNoise(t *testing.T) {
	p := roundOf(t, collect.ShufVec, "", 1)
	r := exact.New(stattest.Source(t, "vector noise"))
	rate := float64(p.Batch.Rate) / (1 << 20)
	scale := float64(p.Batch.Grid) / p.Batch.Clip
	v := collect.Value{1.01, -4.02, 0.003}
	sample := make([]float64, 0, 6000)
	fraction := 0.0
	for range 2000 {
		m, err := Messages(r, p, 0, v)
		if err != nil {
			t.Fatal(err)
		}
		for j := range v {
			sample = append(sample, float64(signed(m[j*p.Batch.Shares:][:p.Batch.Shares], p.Batch.Bits))-v[j]*scale)
		}
	}
	for _, x := range v {
		f := x*scale - math.Floor(x*scale)
		fraction += f * (1 - f) / 3
	}
	variance := 2*rate + fraction
	stattest.Accept(t, stattest.Mean("vector", sample, 0, math.Sqrt(variance)))
	stattest.Accept(t, stattest.Variance("vector", sample, variance, 4))
	stattest.Reject(t, stattest.Variance("vector with half the noise", sample, variance/2, 4))
}
