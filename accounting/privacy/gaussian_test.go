package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/accounting/internal/codec"
)

// refPrec is how many bits the reference has: tails of 2^-1200 beside terms of 2^1200 in a series.
const refPrec = 3000

func ref(x float64) *big.Float { return new(big.Float).SetPrec(refPrec).SetFloat64(x) }
func refNew() *big.Float       { return new(big.Float).SetPrec(refPrec) }

// refPi is Machin's formula.
var refPi = func() *big.Float {
	arctan := func(n float64) *big.Float {
		sum, p := refNew(), refNew().Quo(ref(1), ref(n))
		for k := 1.0; p.MantExp(nil) > -refPrec; k += 2 {
			term := refNew().Quo(p, ref(k))
			if int(k)%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			p.Quo(p, ref(n*n))
		}
		return sum
	}
	pi := refNew().Mul(ref(4), arctan(5))
	return refNew().Mul(ref(4), pi.Sub(pi, arctan(239)))
}()

// refExp is the Taylor series at x/2^64, squared.
func refExp(x *big.Float) *big.Float {
	y, sum, term := refNew().SetMantExp(x, -64), ref(1), ref(1)
	for k := 1.0; k < 60; k++ {
		term.Mul(term, y).Quo(term, ref(k))
		sum.Add(sum, term)
	}
	for range 64 {
		sum.Mul(sum, sum)
	}
	return sum
}

// refTail is Q(x) by the power series of the normal distribution function.
func refTail(x *big.Float) *big.Float {
	square := refNew().Mul(x, x)
	sum, p := refNew(), refNew().Set(x)
	for n := 0.0; p.Sign() != 0 && p.MantExp(nil) > -refPrec; n++ {
		term := refNew().Quo(p, ref(2*n+1))
		if int(n)%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		p.Mul(p, square).Quo(p, ref(2*n+2))
	}
	sum.Quo(sum, refNew().Sqrt(refNew().Mul(ref(2), refPi)))
	return refNew().Sub(ref(0.5), sum)
}

// refGaussian is δ(ε) of μ-GDP as it stands.
func refGaussian(half Rho, eps float64) *big.Float {
	mu := refNew().SetMantExp(refNew().SetUint64(uint64(half)), -39)
	mu.Sqrt(mu)
	z, m := refNew().Quo(ref(eps), mu), refNew().Quo(mu, ref(2))
	below := refTail(refNew().Sub(z, m))
	return below.Sub(below, refNew().Mul(refExp(ref(eps)), refTail(refNew().Add(z, m))))
}

// justAbove reports whether got is at least want, and at most a billionth more.
func justAbove(got float64, want *big.Float) bool {
	return ref(got).Cmp(want) >= 0 && ref(got).Cmp(refNew().Mul(want, ref(1+1e-9))) <= 0
}

func TestGaussianDeltaIsTheExactCurve(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 1))
	for range 60 {
		eps := math.Exp(math.Log(0.01) + r.Float64()*math.Log(3000))
		mu := eps / (0.3 + 8*r.Float64()) // δ from about .3 to 1e-16
		half := RhoOf(mu * mu / 2)
		if got, want := float64(GaussianDelta(half, Epsilon(eps))), refGaussian(half, eps); !justAbove(got, want) {
			t.Errorf("μ = %v, ε = %v: %v, want %s", mu, eps, got, want.Text('g', 15))
		}
		delta := math.Exp2(-r.Float64()*40 - 2)
		top := GaussianFor(Epsilon(eps), Delta(delta))
		if refGaussian(top, eps).Cmp(ref(delta)) > 0 {
			t.Errorf("ε = %v, δ = %v: μ²/2 = %v is too much", eps, delta, top.Float())
		}
		if more := RhoOf(top.Float() * (1 + 1e-9)); refGaussian(more+1, eps).Cmp(ref(delta)) <= 0 {
			t.Errorf("ε = %v, δ = %v: μ²/2 = %v is not the largest", eps, delta, top.Float())
		}
		back := float64(GaussianEpsilon(top, Delta(delta)))
		if refGaussian(top, back).Cmp(ref(delta)) > 0 || refGaussian(top, back*(1-1e-9)).Cmp(ref(delta)) <= 0 {
			t.Errorf("μ²/2 = %v, δ = %v: ε = %v is not the least", top.Float(), delta, back)
		}
	}
	// The specification's figure, beside what zCDP gives.
	if got := GaussianFor(1, 1e-6).Float(); math.Abs(got-0.02801) > 5e-6 {
		t.Errorf("(1, 1e-6) is μ²/2 = %v", got)
	}
}

func TestGaussianDeltaAtItsEnds(t *testing.T) {
	t.Parallel()
	nan := Epsilon(math.NaN())
	for _, c := range []struct {
		half Rho
		eps  Epsilon
		want Delta
	}{{0, 0, 0}, {0, 1, 0}, {unboundedGDP, 1, 1}, {1, nan, 1}, {1, -1, 1}, {1, Epsilon(math.Inf(1)), 0}, {MaxRho, 1, 1}} {
		if got := GaussianDelta(c.half, c.eps); got != c.want {
			t.Errorf("δ of %v at %v: %v, want %v", c.half, c.eps, got, c.want)
		}
	}
	for _, c := range []struct {
		eps   Epsilon
		delta Delta
		want  Rho
	}{{nan, 1e-6, 0}, {-1, 1e-6, 0}, {1, 0, 0}, {1, Delta(math.NaN()), 0}, {1, 1, MaxRho}} {
		if got := GaussianFor(c.eps, c.delta); got != c.want {
			t.Errorf("of (%v, %v): %v, want %v", c.eps, c.delta, got, c.want)
		}
	}
	if got := GaussianEpsilon(1<<40, 0); !math.IsInf(float64(got), 1) {
		t.Errorf("at δ = 0: %v", got)
	}
	// monotone over all sizes, which the searches rest on
	for _, eps := range []Epsilon{1e-6, 0.1, 1, 40, 1e6} {
		last := Delta(0)
		for half := Rho(1); half < MaxRho; half *= 4 {
			if d := GaussianDelta(half, eps); d < last {
				t.Errorf("δ at ε = %v falls from %v to %v at %v", eps, last, d, half.Float())
			} else {
				last = d
			}
		}
	}
}

// boundedMore is what a run of size r counts beside r with x behind it.
func boundedMore(r, x float64) float64 { return math.Min((math.Pi/2-1)*r, r*r/(6*x)) }

// TestBoundedRunsAreGaussian: a run whose quotient has its logarithm in an interval, and then
// Gaussian noise, is at no threshold beyond the curve that both are counted as. Counted half as
// much more than its size, it would be.
func TestBoundedRunsAreGaussian(t *testing.T) {
	t.Parallel()
	curve := func(half, s float64) float64 { // for every s
		if half == 0 {
			return math.Max(0, -math.Expm1(s))
		}
		if s < 0 {
			return -math.Expm1(s) + math.Exp(s)*float64(GaussianDelta(RhoOf(half), Epsilon(-s)))
		}
		return float64(GaussianDelta(RhoOf(half), Epsilon(s)))
	}
	for _, eps := range []float64{0.05, 0.3, 1, 2, 5, 12} {
		for _, k := range []EventKind{RandomizedResponse, Exponential} {
			g := Event{Kind: k, Epsilon: PureOf(eps), Count: 1}.gdp()
			r := g.bounded.Float()
			eta := math.Sqrt(2 * r)
			if g.most != g.bounded || g.noise != 0 || math.Abs(eta/eps-map[EventKind]float64{RandomizedResponse: 1, Exponential: 0.5}[k]) > 1e-6 {
				t.Fatalf("%v of ε = %v: %+v", k, eps, g)
			}
			for _, part := range []float64{0, 0.05, 0.2, 0.292, 0.35, 0.5, 1, 3, 20} {
				x := part * r
				counted, little := x+r+boundedMore(r, x), x+r+boundedMore(r, x)/2
				small := false
				for step := range 16 { // logarithms up and down, 2η apart
					up := 2 * eta * (float64(step) + 0.5) / 16
					down := up - 2*eta
					p := math.Expm1(-down) / (math.Exp(-down) - math.Exp(-up)) // of up, under the first law
					if k == RandomizedResponse && step == 8 {
						up, down, p = eta, -eta, 1/(1+math.Exp(-eta))
					}
					for s := -3.0; s <= 3; s += 1. / 16 {
						at := s * math.Sqrt(2*counted)
						w := p*curve(x, at-up) + (1-p)*curve(x, at-down)
						if d := curve(counted, at); w > d*(1+1e-9)+1e-12 {
							t.Fatalf("%v of ε = %v, and %v of its size behind: %v at e^%v, counted as %v", k, eps, part, w, at, d)
						}
						small = small || w > curve(little, at)*(1+1e-9)
					}
				}
				if !small && eps <= 0.3 {
					t.Errorf("%v of ε = %v, and %v of its size behind, would pass with half of what it counts more: the test says little", k, eps, part)
				}
			}
		}
	}
}

// TestTotalOfRunsInAnyOrder: what runs count one after the other, from the last to the first, is at
// most the total, whatever their order, and the total is near to it in the worst. It grows with
// whatever is added, and is never beyond π/2 times all sizes.
func TestTotalOfRunsInAnyOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(22, 1))
	near := 0.0
	for range 400 {
		n := 1 + r.IntN(6)
		sizes := make([]float64, n)
		isNoise := make([]bool, n)
		sum, bound := gdp{}, 0.0
		for i := range sizes {
			sizes[i] = math.Exp(-3*r.Float64()) / 100
			if n%2 == 0 {
				sizes[i] = 0.01
			}
			isNoise[i] = r.IntN(3) == 0
			e := Event{Kind: NoiseAndChoices, Rho: RhoOf(sizes[i]), Count: 1}
			if isNoise[i] {
				e.Kind = Gaussian
			}
			before, _ := sum.total()
			sum = sum.add(e.gdp())
			if after, ok := sum.total(); !ok || after < before+e.Rho {
				t.Fatalf("%v more is counted as %v", e, after-before)
			}
			if bound += sizes[i]; !isNoise[i] {
				bound += (math.Pi/2 - 1) * sizes[i]
			}
		}
		half, _ := sum.total()
		if half.Float() > bound+1e-11 {
			t.Fatalf("%v of %v: %v, alone %v", isNoise, sizes, half.Float(), bound)
		}
		worst := 0.0
		var try func(x float64, left []int)
		try = func(x float64, left []int) {
			worst = max(worst, x)
			for i, at := range left {
				rest := append(append([]int(nil), left[:i]...), left[i+1:]...)
				y := x + sizes[at]
				if !isNoise[at] {
					y += boundedMore(sizes[at], x)
				}
				try(y, rest)
			}
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		try(0, all)
		if worst > half.Float() {
			t.Fatalf("%v of %v: %v in one order, counted as %v", isNoise, sizes, worst, half.Float())
		}
		near = max(near, worst/half.Float())
	}
	if near < 0.97 {
		t.Errorf("the total is never near: %v of it", near)
	}
}

// TestGDPIsKept: what is written reads the same. What an earlier program wrote, with bounded runs
// among the noise, is read as it is, and covers the same runs summed apart; less does not.
func TestGDPIsKept(t *testing.T) {
	t.Parallel()
	events := []Event{{Kind: Gaussian, Rho: RhoOf(0.01), Count: 2}, {Kind: Laplace, Epsilon: PureOf(0.1), Count: 3}, {Kind: NoiseAndChoices, Rho: RhoOf(0.02), Count: 1}}
	now := Amount{Curve: CurveOf(events)}
	if now.Curve.gdp.bounded == 0 || now.Curve.gdp.most != RhoOf(0.02) {
		t.Errorf("%+v", now.Curve.gdp)
	}
	then := now
	then.Curve.gdp = gdp{noise: RhoOf(0.02 + math.Pi/2*(3*0.005+0.02))}
	less := now
	less.Curve.gdp = gdp{noise: RhoOf(0.02 + 0.03)}
	for _, a := range []Amount{now, then, less, {Curve: CurveOf(events[1:])}} {
		d := codec.NewDecoder(a.Append(nil))
		if got := ReadAmount(d); got != a || d.Bad || d.Left() {
			t.Errorf("%+v reads as %+v", a.Curve.gdp, got.Curve.gdp)
		}
	}
	if !now.Covers(&now) || !then.Covers(&now) || now.Covers(&then) || less.Covers(&now) {
		t.Error("what covers what is wrong")
	}
	half, _ := now.Curve.GDP()
	if was, ok := then.Curve.GDP(); !ok || was < half {
		t.Errorf("then %v, now %v", was.Float(), half.Float())
	}
}

func TestGDPOfEvents(t *testing.T) {
	t.Parallel()
	// how much more than n times the size n equal runs count, in sizes
	totalOf := func(n float64) float64 {
		more := math.Pi/2 - 1
		return more + 1./6 + math.Log((n-1)*6*more)/6
	}
	for _, c := range []struct {
		event Event
		want  float64 // of μ²/2; NaN: none is known
	}{
		{Event{Kind: Gaussian, Rho: RhoOf(0.25), Count: 3}, 0.75},
		{Event{Kind: DiscreteGaussian, Rho: RhoOf(0.25), Count: 3}, math.NaN()},
		{Event{Kind: ZCDP, Rho: RhoOf(0.25), Count: 1}, math.NaN()},
		{Event{Kind: ZCDP, Rho: RhoOf(0.5), Epsilon: PureOf(1), Count: 1}, math.Pi / 4},
		{Event{Kind: Laplace, Epsilon: PureOf(1), Count: 1}, math.Pi / 4},
		{Event{Kind: DiscreteLaplace, Epsilon: PureOf(1), Steps: 2, Count: 1}, math.Pi / 4},
		{Event{Kind: RandomizedResponse, Epsilon: PureOf(1), Count: 2}, 1 + 0.5*totalOf(2)},
		{Event{Kind: Exponential, Epsilon: PureOf(1), Count: 1}, math.Pi / 16},
		{Event{Kind: NoiseAndChoices, Rho: RhoOf(0.25), Count: 2}, math.Pi / 4},
		{Event{Kind: Exponential, Epsilon: PureOf(1), Count: 4}, math.Pi / 4},
		{Event{Kind: Threshold, DeltaEvent: 1e-9, Count: 2}, 0},
	} {
		curve := c.event.Curve()
		half, ok := curve.GDP()
		if got := half.Float(); ok == math.IsNaN(c.want) || ok && (got < c.want || got > c.want+1e-11) {
			t.Errorf("%+v: %v, %v; want %v", c.event, got, ok, c.want)
		}
	}
	sum := CurveOf([]Event{{Kind: Gaussian, Rho: 5, Count: 1}, {Kind: DiscreteGaussian, Rho: 1, Count: 1}, {Kind: Gaussian, Rho: 7, Count: 1}})
	if _, ok := sum.GDP(); ok {
		t.Error("a sum with a discrete Gaussian has a GDP")
	}
}
