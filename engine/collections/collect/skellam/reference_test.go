package skellam

import (
	"math"
	"math/big"
)

// The slow, obvious divergence: 300 bits, every integer, powers by multiplication.

const prec = 300

func bf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// bessel returns I_0(μ) … I_n(μ): the last two by their power series, the others downwards by
// I_{k−1} = I_{k+1} + (2k/μ)·I_k.
func bessel(mu float64, n int) []*big.Float {
	out := make([]*big.Float, n+1)
	out[n], out[n-1] = series(mu, n), series(mu, n-1)
	for k := n - 1; k > 0; k-- {
		t := bf(float64(2 * k))
		t.Mul(t.Quo(t, bf(mu)), out[k])
		out[k-1] = t.Add(t, out[k+1])
	}
	return out
}

// series returns Σ (μ/2)^(2m+k)/(m!(m+k)!).
func series(mu float64, k int) *big.Float {
	half := bf(mu / 2)
	term := bf(1)
	for i := 1; i <= k; i++ {
		term.Mul(term, half)
		term.Quo(term, bf(float64(i)))
	}
	sum := new(big.Float).SetPrec(prec).Set(term)
	for m := 1; ; m++ {
		term.Mul(term, half)
		term.Mul(term, half)
		term.Quo(term, bf(float64(m)*float64(m+k)))
		sum.Add(sum, term)
		if term.MantExp(nil) < sum.MantExp(nil)-prec {
			return sum
		}
	}
}

func power(x *big.Float, n int) *big.Float {
	out := bf(1)
	for sq := new(big.Float).SetPrec(prec).Set(x); n > 0; n /= 2 {
		if n%2 == 1 {
			out.Mul(out, sq)
		}
		sq.Mul(sq, sq)
	}
	return out
}

// reference returns the divergences of order alpha for the given shifts.
func reference(mu float64, alpha int, shifts []int) []float64 {
	far := shifts[len(shifts)-1]
	reach := alpha*far + int(14*math.Sqrt(mu)) + 80
	i := bessel(mu, reach+far)
	at := func(k int) *big.Float { return i[max(k, -k)] }
	norm := bf(0)
	for k := -reach; k <= reach; k++ {
		norm.Add(norm, at(k))
	}
	out := make([]float64, len(shifts))
	for j, shift := range shifts {
		sum := bf(0)
		for k := -reach + shift; k <= reach; k++ {
			t := power(at(k-shift), alpha)
			sum.Add(sum, t.Quo(t, power(at(k), alpha-1)))
		}
		sum.Quo(sum, norm)
		out[j] = bigLog(sum) / float64(alpha-1)
	}
	return out
}

// bigLog returns ln x for x > 1 to full precision, however near to 1.
func bigLog(x *big.Float) float64 {
	m := bf(0)
	e := x.MantExp(m)
	if e > 1 {
		f, _ := m.Float64()
		return math.Log(f) + float64(e)*math.Ln2
	}
	f, _ := m.Sub(x, bf(1)).Float64()
	return math.Log1p(f)
}
