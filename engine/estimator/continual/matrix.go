package continual

import (
	"math"
	"math/big"

	"scrim/engine/estimator"
)

// coefficientBits is the resolution of the matrix: its smallest entry of 3,660 days is 0.0093, ten
// thousand steps of 2^-20. What the rounding changes is known exactly: sensitivity and totals are
// of the rounded matrix.
const coefficientBits = 20

// matrix is the lower triangular matrix B, whose entry in row i and column j is c[i−j].
type matrix struct {
	c []int64 // in steps of 2^-coefficientBits
	// comes is the squared length of the first column, which is the longest; exchanged the most of
	// the difference of two columns, or of one.
	comes, exchanged int64
	// inverse has the coefficients of B⁻¹: a day's value is Σ inverse[k]·y[t−k].
	inverse []float64
	// values and totals are the lengths of the rows of B⁻¹ and of A·B⁻¹, by day.
	values, totals []float64
}

// newMatrix returns the square root of the matrix of ones of so many days:
//
//	c[0] = 1    c[k] = c[k−1]·(2k−1)/(2k) = binom(2k, k)/4^k
//
// each rounded down to a multiple of 2^-20, by integers alone, so that it is the same wherever a
// series goes on. As power series it is Σ c[k]·s^k = (1 − s)^(−1/2), and A is 1/(1 − s) [FHU23].
func newMatrix(days int) *matrix {
	const guard = 108 // bits below the resolution
	m := &matrix{}
	at := new(big.Int).Lsh(big.NewInt(1), coefficientBits+guard)
	for k := range days {
		if k > 0 {
			at.Mul(at, big.NewInt(int64(2*k-1)))
			at.Quo(at, big.NewInt(int64(2*k)))
		}
		c := new(big.Int).Rsh(at, guard)
		m.c = append(m.c, c.Int64())
	}
	m.measure()
	m.invert()
	return m
}

// measure finds how far one person moves the rows who adds 1 to one day, or who is exchanged for
// one on another day. Of MaxDays entries of at most 2^20 all sums are below 2^53.
func (m *matrix) measure() {
	days := len(m.c)
	length := make([]int64, days+1) // squared, of the column with so many entries
	for k, c := range m.c {
		length[k+1] = length[k] + c*c
	}
	m.comes = length[days]
	m.exchanged = m.comes
	for apart := 1; apart < days; apart++ {
		inner := int64(0) // of columns so far apart, the later one with n entries
		for n := 1; n+apart <= days; n++ {
			inner += m.c[n-1] * m.c[n-1+apart]
			m.exchanged = max(m.exchanged, length[n]+length[n+apart]-2*inner)
		}
	}
}

// moves is the squared length by which one person moves the rows who adds at most 1 to all days
// together, in squared steps.
func (m *matrix) moves(r estimator.Relation) int64 {
	if r == estimator.ReplaceOne {
		return m.exchanged
	}
	return m.comes
}

// invert finds what totals are made by, and their errors for noise of length 1.
func (m *matrix) invert() {
	values, totals, running := 0.0, 0.0, 0.0
	for k := range m.c {
		x := 0.0
		if k == 0 {
			x = 1
		}
		for j := 1; j <= k; j++ {
			x -= math.Ldexp(float64(m.c[j]), -coefficientBits) * m.inverse[k-j]
		}
		m.inverse = append(m.inverse, x)
		running += x
		values, totals = values+x*x, totals+running*running
		m.values, m.totals = append(m.values, math.Sqrt(values)), append(m.totals, math.Sqrt(totals))
	}
}

// row is Σ c[k]·x[t−k], the exact number of day t in steps of the matrix.
func (m *matrix) row(x []*big.Int, t int) *big.Int {
	sum, c, product := new(big.Int), new(big.Int), new(big.Int)
	for j := range t + 1 {
		if x[j].Sign() != 0 {
			sum.Add(sum, product.Mul(c.SetInt64(m.c[t-j]), x[j]))
		}
	}
	return sum
}
