package exact

import (
	"math"
	"testing"
)

// divergence returns the Rényi divergence of order α > 1 of p from q, by logarithms so that nothing
// overflows.
func divergence(p, q []float64, alpha float64) float64 {
	largest, terms := math.Inf(-1), make([]float64, len(p))
	for i := range p {
		terms[i] = alpha*math.Log(p[i]) - (alpha-1)*math.Log(q[i])
		largest = max(largest, terms[i])
	}
	sum := 0.0
	for _, x := range terms {
		sum += math.Exp(x - largest)
	}
	return (largest + math.Log(sum)) / (alpha - 1)
}

// loss returns the zCDP loss between two laws: the largest D_α/α, both ways, over the orders.
func loss(p, q []float64) float64 {
	most := 0.0
	for alpha := 1 + 1./64; alpha <= 128; alpha *= 1.03 {
		most = max(most, divergence(p, q, alpha)/alpha, divergence(q, p, alpha)/alpha)
	}
	return most
}

// TestLossInZCDP compares the loss with ε²/2, and ε²/4 for unary encoding. At small ε the bounds
// are nearly reached, so that 3% less would not hold.
func TestLossInZCDP(t *testing.T) {
	for eps := MinEpsilon; eps <= MaxEpsilon; eps += 250 {
		e := eps.Float()
		check := func(name string, got, bound float64, tight bool) {
			if got > bound*(1+1e-9) {
				t.Errorf("%s at epsilon %v: loss %v, want at most %v", name, eps, got, bound)
			}
			if tight && eps <= 2500 && got < 0.97*bound {
				t.Errorf("%s at epsilon %v: loss %v is far under %v", name, eps, got, bound)
			}
		}
		b, _ := NewBinaryResponse(eps)
		p := b.P()
		check("binary", loss([]float64{p, 1 - p}, []float64{1 - p, p}), e*e/2, true)
		// the transforms differ at half of the indices
		check("hadamard, values", loss(half(p, p), half(p, 1-p)), e*e/2, false)
		check("hadamard, signs", loss(half(p, 1-p), half(1-p, p)), e*e/2, true)
		for _, k := range []uint64{3, 4, 64, 1024} {
			c, _ := NewKaryResponse(eps, k)
			p, o := c.P(), c.Other()
			rest := 1 - p - o
			check("k-ary", loss([]float64{p, o, rest}, []float64{o, p, rest}), e*e/2, false)
		}
		u, _ := NewUnaryEncoding(eps, 2)
		q := u.Q()
		check("unary", loss(two(0.5, q), two(q, 0.5)), e*e/4, true)
	}
}

// half is the law of a uniform index of two and a bit that is 1 with probability a or b.
func half(a, b float64) []float64 { return []float64{a / 2, (1 - a) / 2, b / 2, (1 - b) / 2} }

// two is the law of two bits.
func two(a, b float64) []float64 {
	return []float64{a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)}
}
