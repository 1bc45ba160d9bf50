package accounting

import "math/big"

// The slow accountant's Rényi divergences: each from the two laws themselves.

func bpow(x, y *big.Float) *big.Float { return bexp(bmul(y, bln(x))) }
func bneg(x *big.Float) *big.Float    { return bnew().Neg(x) }
func bpure(p Pure) *big.Float         { return bnew().SetMantExp(bnew().SetUint64(uint64(p)), -40) }
func brho(r Rho) *big.Float           { return bnew().SetMantExp(bnew().SetUint64(uint64(r)), -40) }

// moment returns p^α·q^(1−α).
func moment(p, q, alpha *big.Float) *big.Float {
	return bmul(bpow(p, alpha), bpow(q, bsub(bf(1), alpha)))
}

// refResponse returns M of the two laws of a coin of bias e^ε : 1.
func refResponse(eps, alpha *big.Float) *big.Float {
	q := bquo(bf(1), badd(bf(1), bexp(eps)))
	p := bsub(bf(1), q)
	return badd(moment(p, q, alpha), moment(q, p, alpha))
}

// refRange returns M of the worst two laws on two points whose quotients are e^t and e^(t−ε): t by search, M has one maximum.
func refRange(eps, alpha *big.Float) *big.Float {
	less, lessPower := bexp(bneg(eps)), bexp(bneg(bmul(alpha, eps)))
	at := func(t *big.Float) *big.Float {
		up, power := bexp(t), bexp(bmul(alpha, t))
		down := bmul(up, less)
		q := bquo(bsub(bf(1), down), bsub(up, down)) // q·e^t + (1−q)·e^(t−ε) = 1
		return badd(bmul(q, power), bmul(bsub(bf(1), q), bmul(power, lessPower)))
	}
	lo, hi := bnew(), bnew().Set(eps)
	for range 60 { // the maximum is flat: 60 steps leave 2^-35 of t and 2^-70 of M
		third := bquo(bsub(hi, lo), bf(3))
		a, b := badd(lo, third), bsub(hi, third)
		if at(a).Cmp(at(b)) < 0 {
			lo = a
		} else {
			hi = b
		}
	}
	return at(lo)
}

// refLattice returns M of discrete Laplace noise of scale steps/ε, moved by steps: sums of geometric series, left of both peaks, right of
// both, and one term after the other between.
func refLattice(eps *big.Float, steps int, alpha *big.Float) *big.Float {
	h := bquo(eps, bf(float64(steps)))
	q := bexp(bneg(h))
	peak := bquo(bsub(bf(1), q), badd(bf(1), q))
	tail := bquo(bf(1), bsub(bf(1), q))
	far := bexp(bneg(eps)) // q^steps
	left := bmul(tail, bpow(far, bsub(bf(1), alpha)))
	right := bmul(tail, bpow(far, alpha))
	sum := badd(left, right)
	term := bpow(far, bsub(bf(1), alpha))
	ratio := bpow(q, bsub(badd(alpha, alpha), bf(1)))
	for range steps - 1 {
		term = bmul(term, ratio)
		sum = badd(sum, term)
	}
	return bmul(peak, sum)
}

// refLaplace returns M of Laplace noise of scale 1/ε, moved by 1: three integrals of exponentials.
func refLaplace(eps, alpha *big.Float) *big.Float {
	c := bsub(badd(alpha, alpha), bf(1))
	left := bexp(bmul(eps, bsub(alpha, bf(1))))
	right := bexp(bneg(bmul(eps, alpha)))
	between := bquo(bsub(left, right), c) // of ε·e^(−εα·y + ε(α−1)(1−y)) over y from 0 to 1
	return badd(bquo(badd(left, right), bf(2)), bquo(between, bf(2)))
}

// refDivergence returns the divergence of order 1+beta of all runs of an event.
func refDivergence(e Event, beta float64) *big.Float {
	alpha := bf(1 + beta)
	eps := bpure(e.Epsilon)
	var m *big.Float
	switch e.Kind {
	case Threshold:
		return bnew()
	case Exponential:
		m = refRange(eps, alpha)
	case Laplace:
		m = refLaplace(eps, alpha)
	case DiscreteLaplace:
		m = refLattice(eps, int(e.Steps), alpha)
	case RandomizedResponse:
		m = refResponse(eps, alpha)
	default:
		d := bmul(alpha, brho(e.Rho))
		if e.Epsilon > 0 {
			if r := bquo(bln(refResponse(eps, alpha)), bf(beta)); r.Cmp(d) < 0 {
				d = r
			}
		}
		return bmul(d, bf(float64(e.Count)))
	}
	return bmul(bquo(bln(m), bf(beta)), bf(float64(e.Count)))
}

// refCurve is what the account knows of a list of events, in exact numbers.
type refCurve struct {
	rho, pure *big.Float
	k         [len(curveOrders)]*big.Float // β·d of the events with a pure ε
}

func refCurveOf(events []Event) refCurve {
	c := refCurve{rho: bnew(), pure: bnew()}
	for i := range c.k {
		c.k[i] = bnew()
	}
	for _, e := range events {
		n := bf(float64(e.Count))
		if e.Epsilon == 0 {
			c.rho = badd(c.rho, bmul(n, brho(e.Rho)))
			continue
		}
		c.pure = badd(c.pure, bmul(n, bpure(e.Epsilon)))
		for i, beta := range curveOrders[:len(curveOrders)-1] {
			c.k[i] = badd(c.k[i], bmul(bf(beta), refDivergence(e, beta)))
		}
	}
	return c
}

// delta returns the least δ at ε: between each two orders of the grid, and with the pure ε beside ρ.
func (c refCurve) delta(eps float64) *big.Float {
	best := bf(1)
	lo, klo := 0.0, bnew()
	for i, hi := range curveOrders[:len(curveOrders)-1] {
		slope := bquo(bsub(c.k[i], klo), bf(hi-lo))
		offset := bsub(klo, bmul(slope, bf(lo)))
		if d := refBetween(c.rho, bsub(bf(eps), slope), offset, lo, hi); d.Cmp(best) < 0 {
			best = d
		}
		lo, klo = hi, c.k[i]
	}
	if rest := bsub(bf(eps), c.pure); rest.Sign() > 0 || rest.Sign() == 0 && c.rho.Sign() == 0 {
		if c.rho.Sign() == 0 {
			return bnew()
		}
		if d := refBetween(c.rho, rest, bnew(), 0x1p-80, 0x1p80); d.Cmp(best) < 0 {
			best = d
		}
	}
	return best
}

// refBetween returns the least e^(β((1+β)ρ − ε) + k)·(β/(1+β))^(1+β)/β for lo <= β <= hi, by bisection on its slope.
func refBetween(rho, eps, k *big.Float, lo, hi float64) *big.Float {
	slope := func(beta *big.Float) int {
		alpha := badd(beta, bf(1))
		s := bsub(bmul(badd(alpha, beta), rho), eps)
		return badd(s, bln(bquo(beta, alpha))).Sign()
	}
	a, b := bf(max(lo, 0x1p-80)), bf(hi)
	switch {
	case slope(a) >= 0:
		b = a
	case slope(b) > 0:
		for range 80 {
			if mid := bnew().Sqrt(bmul(a, b)); slope(mid) < 0 {
				a = mid
			} else {
				b = mid
			}
		}
	}
	alpha := badd(b, bf(1))
	t := badd(k, bmul(b, bsub(bmul(alpha, rho), eps)))
	t = badd(t, bmul(alpha, bln(bquo(b, alpha))))
	if t.Cmp(bf(-4000)) < 0 {
		t = bf(-4000) // sums with absurdly small values would be long
	}
	return bquo(bexp(t), b)
}
