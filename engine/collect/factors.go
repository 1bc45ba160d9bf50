package collect

import (
	"math"
	"math/bits"

	"scrim/engine/collect/exact"
	"scrim/engine/collect/internal/strict"
)

// factors are the constants of one ε that sizes and errors are made of. They have the same bits on
// every machine, since integers that devices compare follow from them.
type factors struct {
	e  float64 // e^ε
	a  float64 // A = (e^ε+1)/(e^ε-1): a debiased bit of randomised response varies by up to A/2
	a4 float64 // (e^ε+3)/(e^ε-1), the same of four-ary response
	v1 float64 // 4e^ε/(e^ε-1)²: variance of a debiased bit of unary encoding
}

func factorsOf(eps exact.Epsilon) factors {
	e := strict.Exp(eps.Float())
	return factors{e: e, a: (e + 1) / (e - 1), a4: (e + 3) / (e - 1), v1: 4 * e / float64((e-1)*(e-1))}
}

// ceil returns the least integer not below x. x is nonnegative and below 2^62.
func ceil(x float64) uint64 { return uint64(math.Ceil(x)) }

// square returns x², rounded once.
func square(x float64) float64 { return float64(x * x) }

// rootUp returns the least integer whose square is at least n.
func rootUp(n uint64) uint64 {
	r := uint64(math.Sqrt(float64(n)))
	for r > 0 && float64(r)*float64(r) > float64(n) {
		r--
	}
	for hi, lo := bits.Mul64(r, r); hi == 0 && lo < n; hi, lo = bits.Mul64(r, r) {
		r++
	}
	return r
}

// treeMin returns how many reports a tree of fan-out 4 and h levels needs for a standard error of a
// prefix of a quarter: 0.72·h·sqrt(V1/N) <= 1/4. The 0.72 is of the consistent tree, measured; see
// Forecast.
func treeMin(f factors, h int) uint64 { return ceil(float64(square(treeError*4*float64(h)) * f.v1)) }

// treeError is the standard error of a prefix of a consistent tree of fan-out 4, in units of
// h·sqrt(variance of a debiased node / reports).
const treeError = 0.72

// haarMin returns the same of LDP_HAAR with k levels, whose typical prefix has A·k/sqrt(12N).
func haarMin(f factors, k int) uint64 { return ceil(square(f.a*float64(k)) * 16 / 12) }

// sphereMean returns c_d, the mean length of a uniform direction of d coordinates, a power of two,
// along a vector on whose side it lies: c_1 = 1, c_2 = 2/π, c_{d+2} = c_d·d/(d+1).
func sphereMean(d int) float64 {
	if d == 1 {
		return 1
	}
	c := 2 / math.Pi
	for k := 2; k < d; k += 2 {
		c = float64(c*float64(k)) / float64(k+1)
	}
	return c
}
