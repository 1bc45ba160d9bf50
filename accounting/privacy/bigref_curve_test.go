package privacy

import (
	"math/big"

	"scrim/test/bigref"
)

// The slow accountant's Rényi divergences: each from the two laws themselves.

func bpow(x, y *big.Float) *big.Float { return bigref.Exp(bigref.Mul(y, bigref.Log(x))) }
func bneg(x *big.Float) *big.Float    { return bigref.New().Neg(x) }
func bpure(p Pure) *big.Float         { return bigref.New().SetMantExp(bigref.New().SetUint64(uint64(p)), -40) }
func brho(r Rho) *big.Float           { return bigref.New().SetMantExp(bigref.New().SetUint64(uint64(r)), -40) }

// moment returns p^α·q^(1−α).
func moment(p, q, alpha *big.Float) *big.Float {
	return bigref.Mul(bpow(p, alpha), bpow(q, bigref.Sub(bigref.Of(1), alpha)))
}

// refResponse returns M of the two laws of a coin of bias e^ε : 1.
func refResponse(eps, alpha *big.Float) *big.Float {
	q := bigref.Quo(bigref.Of(1), bigref.Add(bigref.Of(1), bigref.Exp(eps)))
	p := bigref.Sub(bigref.Of(1), q)
	return bigref.Add(moment(p, q, alpha), moment(q, p, alpha))
}

// refRange returns M of the worst two laws on two points whose quotients are e^t and e^(t−ε): t by
// search, M has one maximum.
func refRange(eps, alpha *big.Float) *big.Float {
	less, lessPower := bigref.Exp(bneg(eps)), bigref.Exp(bneg(bigref.Mul(alpha, eps)))
	at := func(t *big.Float) *big.Float {
		up, power := bigref.Exp(t), bigref.Exp(bigref.Mul(alpha, t))
		down := bigref.Mul(up, less)
		// q·e^t + (1−q)·e^(t−ε) = 1
		q := bigref.Quo(bigref.Sub(bigref.Of(1), down), bigref.Sub(up, down))
		return bigref.Add(bigref.Mul(q, power), bigref.Mul(bigref.Sub(bigref.Of(1), q), bigref.Mul(power, lessPower)))
	}
	lo, hi := bigref.New(), bigref.New().Set(eps)
	for range 60 { // the maximum is flat: 60 steps leave 2^-35 of t and 2^-70 of M
		third := bigref.Quo(bigref.Sub(hi, lo), bigref.Of(3))
		a, b := bigref.Add(lo, third), bigref.Sub(hi, third)
		if at(a).Cmp(at(b)) < 0 {
			lo = a
		} else {
			hi = b
		}
	}
	return at(lo)
}

// refLattice returns M of discrete Laplace noise of scale steps/ε, moved by steps: sums of
// geometric series, left of both peaks, right of both, and one term after the other between.
func refLattice(eps *big.Float, steps int, alpha *big.Float) *big.Float {
	h := bigref.Quo(eps, bigref.Of(float64(steps)))
	q := bigref.Exp(bneg(h))
	peak := bigref.Quo(bigref.Sub(bigref.Of(1), q), bigref.Add(bigref.Of(1), q))
	tail := bigref.Quo(bigref.Of(1), bigref.Sub(bigref.Of(1), q))
	far := bigref.Exp(bneg(eps)) // q^steps
	left := bigref.Mul(tail, bpow(far, bigref.Sub(bigref.Of(1), alpha)))
	right := bigref.Mul(tail, bpow(far, alpha))
	sum := bigref.Add(left, right)
	term := bpow(far, bigref.Sub(bigref.Of(1), alpha))
	ratio := bpow(q, bigref.Sub(bigref.Add(alpha, alpha), bigref.Of(1)))
	for range steps - 1 {
		term = bigref.Mul(term, ratio)
		sum = bigref.Add(sum, term)
	}
	return bigref.Mul(peak, sum)
}

// refLaplace returns M of Laplace noise of scale 1/ε, moved by 1: three integrals of exponentials.
func refLaplace(eps, alpha *big.Float) *big.Float {
	c := bigref.Sub(bigref.Add(alpha, alpha), bigref.Of(1))
	left := bigref.Exp(bigref.Mul(eps, bigref.Sub(alpha, bigref.Of(1))))
	right := bigref.Exp(bneg(bigref.Mul(eps, alpha)))
	// of ε·e^(−εα·y + ε(α−1)(1−y)) over y from 0 to 1
	between := bigref.Quo(bigref.Sub(left, right), c)
	return bigref.Add(bigref.Quo(bigref.Add(left, right), bigref.Of(2)), bigref.Quo(between, bigref.Of(2)))
}

// refDivergence returns the divergence of order 1+beta of all runs of an event.
func refDivergence(e Event, beta float64) *big.Float {
	alpha := bigref.Of(1 + beta)
	eps := bpure(e.Epsilon)
	var m *big.Float
	switch e.Kind {
	case Threshold:
		return bigref.New()
	case Exponential:
		m = refRange(eps, alpha)
	case Laplace:
		m = refLaplace(eps, alpha)
	case DiscreteLaplace:
		m = refLattice(eps, int(e.Steps), alpha)
	case RandomizedResponse:
		m = refResponse(eps, alpha)
	default:
		d := bigref.Mul(alpha, brho(e.Rho))
		if e.Epsilon > 0 {
			if r := bigref.Quo(bigref.Log(refResponse(eps, alpha)), bigref.Of(beta)); r.Cmp(d) < 0 {
				d = r
			}
		}
		return bigref.Mul(d, bigref.Of(float64(e.Count)))
	}
	return bigref.Mul(bigref.Quo(bigref.Log(m), bigref.Of(beta)), bigref.Of(float64(e.Count)))
}

// refCurve is what the account knows of a list of events, in exact numbers.
type refCurve struct {
	rho, pure *big.Float
	k         [len(curveOrders)]*big.Float // β·d of the events with a pure ε
	half      Rho                          // of their GDP, as it is counted
}

func refCurveOf(events []Event) refCurve {
	c := refCurve{rho: bigref.New(), pure: bigref.New()}
	for i := range c.k {
		c.k[i] = bigref.New()
	}
	runs := gdp{}
	for _, e := range events {
		n := bigref.Of(float64(e.Count))
		runs = runs.add(e.gdp())
		if e.Epsilon == 0 {
			c.rho = bigref.Add(c.rho, bigref.Mul(n, brho(e.Rho)))
			continue
		}
		c.pure = bigref.Add(c.pure, bigref.Mul(n, bpure(e.Epsilon)))
		for i, beta := range curveOrders[:len(curveOrders)-1] {
			c.k[i] = bigref.Add(c.k[i], bigref.Mul(bigref.Of(beta), refDivergence(e, beta)))
		}
	}
	c.half, _ = runs.total()
	return c
}

// delta returns the least δ at ε: between each two orders of the grid, and with the pure ε beside
// ρ.
func (c refCurve) delta(eps float64) *big.Float {
	best := bigref.Of(1)
	lo, klo := 0.0, bigref.New()
	for i, hi := range curveOrders[:len(curveOrders)-1] {
		slope := bigref.Quo(bigref.Sub(c.k[i], klo), bigref.Of(hi-lo))
		offset := bigref.Sub(klo, bigref.Mul(slope, bigref.Of(lo)))
		if d := refBetween(c.rho, bigref.Sub(bigref.Of(eps), slope), offset, lo, hi); d.Cmp(best) < 0 {
			best = d
		}
		lo, klo = hi, c.k[i]
	}
	if rest := bigref.Sub(bigref.Of(eps), c.pure); rest.Sign() > 0 || rest.Sign() == 0 && c.rho.Sign() == 0 {
		if c.rho.Sign() == 0 {
			return bigref.New()
		}
		if d := refBetween(c.rho, rest, bigref.New(), 0x1p-80, 0x1p80); d.Cmp(best) < 0 {
			best = d
		}
	}
	return best
}

// refBetween returns the least e^(β((1+β)ρ − ε) + k)·(β/(1+β))^(1+β)/β for lo <= β <= hi, by
// bisection on its slope.
func refBetween(rho, eps, k *big.Float, lo, hi float64) *big.Float {
	slope := func(beta *big.Float) int {
		alpha := bigref.Add(beta, bigref.Of(1))
		s := bigref.Sub(bigref.Mul(bigref.Add(alpha, beta), rho), eps)
		return bigref.Add(s, bigref.Log(bigref.Quo(beta, alpha))).Sign()
	}
	a, b := bigref.Of(max(lo, 0x1p-80)), bigref.Of(hi)
	switch {
	case slope(a) >= 0:
		b = a
	case slope(b) > 0:
		for range 80 {
			if mid := bigref.New().Sqrt(bigref.Mul(a, b)); slope(mid) < 0 {
				a = mid
			} else {
				b = mid
			}
		}
	}
	alpha := bigref.Add(b, bigref.Of(1))
	t := bigref.Add(k, bigref.Mul(b, bigref.Sub(bigref.Mul(alpha, rho), eps)))
	t = bigref.Add(t, bigref.Mul(alpha, bigref.Log(bigref.Quo(b, alpha))))
	if t.Cmp(bigref.Of(-4000)) < 0 {
		t = bigref.Of(-4000) // sums with absurdly small values would be long
	}
	return bigref.Quo(bigref.Exp(t), b)
}
