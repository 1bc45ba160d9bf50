package strict

import (
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// within is the accuracy that the package documentation states.
const within = 0x1p-50

// prec is the precision of the reference.
const prec = 200

func bf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

// bigExp returns e^x by its series at x/2^40, squared 40 times.
func bigExp(x float64) *big.Float {
	y := bf(0).SetMantExp(bf(x), -40)
	sum, term := bf(1), bf(1)
	for n := 1; n < 20; n++ {
		term.Quo(term.Mul(term, y), bf(float64(n)))
		sum.Add(sum, term)
	}
	for range 40 {
		sum.Mul(sum, sum)
	}
	return sum
}

// off returns |got − want|/|want|.
func off(got float64, want *big.Float) float64 {
	d := bf(0).Sub(bf(got), want)
	r, _ := d.Quo(d, want).Float64()
	return math.Abs(r)
}

func TestAccuracy(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		x := (rng.Float64() - 0.5) * math.Ldexp(1, rng.IntN(40)-30) // up to ±512
		e := bigExp(x)
		if d := off(Exp(x), e); !(d < within) {
			t.Fatalf("Exp(%g) is off by %g", x, d)
		}
		if d := off(Log(Exp(x)), bf(x)); math.Abs(x) > 0.1 && !(d < 20*within) {
			t.Fatalf("Log(Exp(%g)) is off by %g", x, d)
		}
		if x == 0 {
			continue
		}
		rest := bf(0).Sub(bf(0).Sub(e, bf(1)), bf(x))
		if d := off(Rest(x), rest); !(d < 8*within) {
			t.Fatalf("Rest(%g) is off by %g", x, d)
		}
		// ln y against e^·: with l = Log1p(x), (1+x)/e^l − 1 is the absolute error.
		if x > -0.999 && x < 1e6 {
			l := Log1p(x)
			q := bf(0).Quo(bf(0).Add(bf(1), bf(x)), bigExp(l))
			d, _ := q.Sub(q, bf(1)).Float64()
			if !(math.Abs(d) < within*math.Abs(l)) {
				t.Fatalf("Log1p(%g) is off by %g", x, d/l)
			}
		}
	}
}

func TestAgainstMath(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		x := math.Ldexp(1+rng.Float64(), rng.IntN(200)-100)
		if got, want := Log(x), math.Log(x); math.Abs(got-want) > within*math.Abs(want) {
			t.Fatalf("Log(%g) = %g, math has %g", x, got, want)
		}
		y := (rng.Float64() - 0.5) * 1400
		if got, want := Exp(y), math.Exp(y); math.Abs(got-want) > within*want {
			t.Fatalf("Exp(%g) = %g, math has %g", y, got, want)
		}
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Exp(0)", Exp(0), 1}, {"Exp(-Inf)", Exp(-inf), 0}, {"Exp(Inf)", Exp(inf), inf}, {"Exp(NaN)", Exp(nan), nan},
		{"Exp(-746)", Exp(-746), 0}, {"Exp(710)", Exp(710), inf},
		{"Log(1)", Log(1), 0}, {"Log(0)", Log(0), -inf}, {"Log(-1)", Log(-1), nan}, {"Log(Inf)", Log(inf), inf}, {"Log(NaN)", Log(nan), nan},
		{"Log1p(0)", Log1p(0), 0}, {"Log1p(-1)", Log1p(-1), -inf}, {"Log1p(-2)", Log1p(-2), nan}, {"Log1p(NaN)", Log1p(nan), nan},
		{"Rest(0)", Rest(0), 0}, {"Rest(NaN)", Rest(nan), nan}, {"Rest(Inf)", Rest(inf), inf},
	} {
		if c.got != c.want && !(c.got != c.got && c.want != c.want) {
			t.Errorf("%s = %g, want %g", c.name, c.got, c.want)
		}
	}
}

// TestGoldenBits pins every bit of the results on a fixed set of arguments: a machine that computes
// otherwise would refuse the parameters of another.
func TestGoldenBits(t *testing.T) {
	t.Parallel()
	const want = 0x746189390502ddd6
	h := fnv.New64a()
	put := func(x float64) {
		var b [8]byte
		for i, u := 0, math.Float64bits(x); i < 8; i, u = i+1, u>>8 {
			b[i] = byte(u)
		}
		_, _ = h.Write(b[:])
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		x := (rng.Float64() - 0.5) * math.Ldexp(1, rng.IntN(60)-50)
		put(Exp(x))
		put(Rest(x))
		put(Log(math.Abs(x)))
		put(Log1p(math.Abs(x)))
	}
	if got := h.Sum64(); got != want {
		t.Errorf("bits hash to %#x, want %#x", got, uint64(want))
	}
}
