package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
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

// TestPureAndChoicesAreGaussian: what is pure, or a choice, is nowhere beyond the curve that it is
// counted as; half as much would not do.
func TestPureAndChoicesAreGaussian(t *testing.T) {
	t.Parallel()
	// two outcomes: the excess of the quotient over e^s, of probabilities p and x with log-odds
	// 2r apart
	worst := func(r, mid float64, s float64) float64 {
		p, x := 1/(1+math.Exp(r-mid)), 1/(1+math.Exp(-r-mid))
		return math.Max(0, x-math.Exp(s)*p) + math.Max(0, (1-x)-math.Exp(s)*(1-p))
	}
	for _, eps := range []float64{0.001, 0.05, 0.3, 1, 2, 5, 12} {
		for _, c := range []struct {
			kind EventKind
			r    float64
		}{{RandomizedResponse, eps}, {Laplace, eps}, {Exponential, eps / 2}} {
			e := Event{Kind: c.kind, Epsilon: PureOf(eps), Count: 1}
			half, small := e.gdp(), false
			for mid := -6.0; mid <= 6; mid += 0.25 {
				for s := 0.0; s <= eps; s += eps / 64 {
					w := worst(c.r, mid, s)
					if d := float64(GaussianDelta(half, Epsilon(s))); w > d*(1+1e-9) {
						t.Fatalf("%v of ε = %v at e^%v: %v, counted as %v", c.kind, eps, s, w, d)
					}
					small = small || w > float64(GaussianDelta(half/2, Epsilon(s)))
				}
			}
			if !small && eps <= 1 {
				t.Errorf("%v of ε = %v would pass as half of its GDP: the test says little", c.kind, eps)
			}
		}
	}
}

func TestGDPOfEvents(t *testing.T) {
	t.Parallel()
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
		{Event{Kind: RandomizedResponse, Epsilon: PureOf(1), Count: 2}, math.Pi / 2},
		{Event{Kind: Exponential, Epsilon: PureOf(1), Count: 1}, math.Pi / 16},
		{Event{Kind: NoiseAndChoices, Rho: RhoOf(0.25), Count: 2}, math.Pi / 4},
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
