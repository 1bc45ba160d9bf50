package skellam

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestTable has the vectors of the protocol's description: σ/Δ₂ to five digits in every dimension,
// and the grid of dimension 8.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eps10k uint32
		delta  float64
		ratio  float64
	}{{10000, 1e-9, 5.7787}, {10000, 1e-6, 4.5309}, {5000, 1e-9, 11.2465}, {20000, 1e-9, 2.9848}} {
		for _, dim := range []int{1, 8, 128} {
			g, err := GridOf(c.eps10k, c.delta, 1000, dim)
			if err != nil {
				t.Fatal(err)
			}
			mu, _, err := Variance(c.eps10k, c.delta, g.Delta2, g.Delta1)
			if err != nil {
				t.Fatal(err)
			}
			if r := math.Sqrt(mu) / float64(g.Delta2); math.Abs(r-c.ratio) > 6e-5 {
				t.Errorf("(%d, %g), dimension %d: σ/Δ₂ = %.5f, want %g", c.eps10k, c.delta, dim, r, c.ratio)
			}
			if want := (Grid{182, 185, 370, 1047}); dim == 8 && g != want {
				t.Errorf("grid: got %+v, want %+v", g, want)
			}
			if dim == 8 && c.ratio == 5.7787 && math.Abs(mu/4.5716e6-1) > 2e-5 {
				t.Errorf("mu = %g, want 4.5716e6", mu)
			}
		}
	}
}

// epsilon evaluates the condition as it is written.
func epsilon(mu, delta float64, l2, l1 float64) float64 {
	best := math.Inf(1)
	for a := 2.0; a <= 512; a++ {
		rdp := a*l2*l2/(2*mu) + math.Min(((2*a-1)*l2*l2+6*l1)/(4*mu*mu), 3*l1/(2*mu))
		best = math.Min(best, rdp+math.Log(1-1/a)-math.Log(delta*a)/(a-1))
	}
	return best
}

// TestLeast: the variance is enough, one less is not, and 3 % less by far not.
func TestLeast(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		eps10k := uint32(2000 + rng.IntN(78000))
		delta := math.Pow(10, -3-12*rng.Float64())
		l2 := uint64(1 + rng.IntN(500))
		l1 := l2 + uint64(rng.Int64N(int64(l2*l2-l2+1)))
		mu, alpha, err := Variance(eps10k, delta, l2, l1)
		if err != nil {
			t.Fatal(err)
		}
		eps := float64(eps10k) / 1e4
		if e := epsilon(mu, delta, float64(l2), float64(l1)); !(e <= eps) {
			t.Fatalf("(%g, %g), %d, %d: mu=%g gives epsilon %g", eps, delta, l2, l1, mu, e)
		}
		if e := epsilon(mu-1, delta, float64(l2), float64(l1)); e < eps-1e-9 {
			t.Fatalf("(%g, %g), %d, %d: mu=%g is not the least, one less gives %g", eps, delta, l2, l1, mu, e)
		}
		if e := epsilon(0.97*mu, delta, float64(l2), float64(l1)); mu > 10 && e <= eps*1.001 {
			t.Fatalf("(%g, %g), %d, %d: 0.97·mu gives %g", eps, delta, l2, l1, e)
		}
		if b := RDP(alpha, mu, l2, l1); !(b <= room(eps, delta, alpha)) {
			t.Fatalf("alpha=%d does not show it", alpha)
		}
	}
}

// TestExactDelta computes the exact δ of one coordinate, from sums over all integers: what is
// declared holds, and for 0.6 of the variance it would not.
func TestExactDelta(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eps10k uint32
		delta  float64
		l2     uint64
	}{{10000, 1e-9, 130}, {10000, 1e-6, 130}, {20000, 1e-9, 130}, {80000, 1e-9, 20}, {3000, 1e-6, 40}} {
		mu, _, err := Variance(c.eps10k, c.delta, c.l2, c.l2)
		if err != nil {
			t.Fatal(err)
		}
		eps := float64(c.eps10k) / 1e4
		if d := hockey(mu, eps, int(c.l2)); !(d <= c.delta) || d < c.delta/100 {
			t.Errorf("%+v: mu=%g has delta %g", c, mu, d)
		}
		if d := hockey(0.6*mu, eps, int(c.l2)); d <= c.delta {
			t.Errorf("%+v: 0.6·mu has delta %g", c, d)
		}
	}
}

// hockey returns Σ max(0, P[X = k−shift] − e^ε·P[X = k]).
func hockey(mu, eps float64, shift int) float64 {
	points := samples(mu, 2, shift, 1)
	for k := points[len(points)-1] + 1; k < int(25*math.Sqrt(mu))+100; k++ {
		points = append(points, k)
	}
	s := windows(points, 1)
	heights := s.fill(mu, points)
	norm, sum := 0.0, 0.0
	for i := range points {
		p := math.Exp(-heights[i])
		norm += p
		if i >= shift {
			sum += math.Max(0, math.Exp(-heights[i-shift])-math.Exp(eps)*p)
		}
	}
	return sum / norm
}

// TestCoordinatesAddUp: scalar bounds of a vector's coordinates sum to at most the vector's bound.
func TestCoordinatesAddUp(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		mu := math.Pow(10, 8*rng.Float64())
		alpha := 2 + rng.IntN(500)
		var sum float64
		var squares, l1 uint64
		for range 1 + rng.IntN(20) {
			x := uint64(rng.IntN(1 + rng.IntN(100)))
			sum += RDP(alpha, mu, x, x)
			squares, l1 = squares+x*x, l1+x
		}
		l2 := rootUp(squares)
		if b := RDP(alpha, mu, l2, max(l1, l2)); sum > b*(1+1e-12) {
			t.Fatalf("mu=%g alpha=%d: coordinates have %g, the vector %g", mu, alpha, sum, b)
		}
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eps10k uint32
		delta  float64
		n      uint64
		dim    int
	}{{10000, 1e-9, 1000, 8}, {10000, 1e-9, 10_000_000, 8}, {80000, 1e-6, 1_000_000, 3}, {500, 1e-9, 1 << 40, 1}, {10000, 1e-9, 1000, 65536}, {25000, 1e-12, 123_456_789, 100}} {
		g, err := GridOf(c.eps10k, c.delta, c.n, c.dim)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		eps, d := float64(c.eps10k)/1e4, float64(c.dim)
		kappa := math.Max(64, math.Ceil(3.5*math.Sqrt(float64(c.n)*eps*eps/(4*math.Log(1/c.delta))/d)))
		if clip := math.Ceil(kappa * math.Sqrt(d) * (1 - 1e-15)); math.Abs(float64(g.Clip)-clip) > 1 {
			t.Errorf("%+v: Clip = %d, want %g", c, g.Clip, clip)
		}
		// Exact in integers: no vector of length Clip, each coordinate rounded by less than one, is
		// longer than Norm.
		root := new(big.Int).Sub(new(big.Int).SetUint64(g.Norm), new(big.Int).SetUint64(g.Clip))
		if root.Mul(root, root).Cmp(big.NewInt(int64(c.dim))) < 0 || g.Delta2 != 2*g.Norm {
			t.Errorf("%+v: %+v", c, g)
		}
		if l1 := math.Sqrt(d) * float64(g.Delta2); float64(g.Delta1) < math.Min(l1, float64(g.Delta2*g.Delta2))*(1-1e-12) || float64(g.Delta1) > l1+1 {
			t.Errorf("%+v: Delta1 = %d, want %g", c, g.Delta1, l1)
		}
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		mu := float64(1 + rng.Int64N(1<<rng.IntN(41)))
		h := 64 + rng.Uint64N(1<<rng.IntN(40))
		l := new(big.Int).SetUint64(Rate(mu, h))
		// 2·h·l/2^20 ≥ μ, and not with l−1.
		enough := func(l *big.Int) bool {
			v := new(big.Int).Mul(l, new(big.Int).SetUint64(2*h))
			return v.Cmp(new(big.Int).Lsh(big.NewInt(int64(mu)), 20)) >= 0
		}
		if !enough(l) || enough(new(big.Int).Sub(l, big.NewInt(1))) {
			t.Fatalf("Rate(%g, %d) = %v", mu, h, l)
		}
	}
}

func TestBitsAndSplit(t *testing.T) {
	t.Parallel()
	if w := Window(4571618, 1000, 185); w != 185000+48381 { // 16·√9143236 = 48380.4…
		t.Errorf("window %d", w)
	}
	for _, c := range []struct {
		mu         float64
		most, norm uint64
	}{{4571618, 1440, 185}, {1, 128, 65}, {1 << 40, 14_400_000, 1 << 19}} {
		values := 2*Window(c.mu, c.most, c.norm) + 1
		if q := math.Ldexp(1, Bits(c.mu, c.most, c.norm)-8); q < float64(values) || q/2 >= float64(values) {
			t.Errorf("%+v: %d values in %g", c, values, q)
		}
	}
	for _, delta := range []float64{1e-5, 1e-9, 3.3e-12, 1e-15} {
		noise, mix := Split(delta)
		exact := new(big.Float).SetPrec(200).SetFloat64(noise)
		exact.Add(exact, big.NewFloat(mix))
		if exact.Cmp(big.NewFloat(delta)) > 0 || noise < 0.8999999*delta || mix < 0.0999999*delta {
			t.Errorf("Split(%g) = %g, %g", delta, noise, mix)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		eps    uint32
		delta  float64
		l2, l1 uint64
		want   error
	}{
		{"epsilon 0", 0, 1e-9, 100, 100, ErrParameter},
		{"epsilon large", 80001, 1e-9, 100, 100, ErrParameter},
		{"delta 0", 10000, 0, 100, 100, ErrParameter},
		{"delta 1", 10000, 1, 100, 100, ErrParameter},
		{"delta NaN", 10000, math.NaN(), 100, 100, ErrParameter},
		{"no sensitivity", 10000, 1e-9, 0, 0, ErrParameter},
		{"l1 below l2", 10000, 1e-9, 100, 99, ErrParameter},
		{"l1 above the square", 10000, 1e-9, 100, 10001, ErrParameter},
		{"sensitivity huge", 10000, 1e-9, MaxDelta2 + 1, MaxDelta2 + 1, ErrParameter},
		{"variance huge", 500, 1e-9, MaxDelta2, MaxDelta2, ErrParameter},
		{"no order", 500, 1e-15, 100, 100, ErrNone},
	} {
		if mu, a, err := Variance(c.eps, c.delta, c.l2, c.l1); !errors.Is(err, c.want) || mu != 0 || a != 0 {
			t.Errorf("%s: got %g, %d, %v, want %v", c.name, mu, a, err, c.want)
		}
	}
	for _, c := range []struct {
		eps   uint32
		delta float64
		n     uint64
		dim   int
	}{{0, 1e-9, 1000, 8}, {10000, 0, 1000, 8}, {10000, 0.5, 1000, 8}, {10000, math.NaN(), 1000, 8}, {10000, 1e-9, 0, 8}, {10000, 1e-9, 1000, 0}, {10000, 1e-9, 1000, 65537}, {80000, 1e-5, 1 << 40, 1}} {
		if g, err := GridOf(c.eps, c.delta, c.n, c.dim); !errors.Is(err, ErrParameter) || g != (Grid{}) {
			t.Errorf("GridOf%v = %+v, %v", c, g, err)
		}
	}
	if r := RDP(1, 100, 1, 1); !math.IsInf(r, 1) {
		t.Errorf("RDP of order 1: %g", r)
	}
	if r := RDP(2, math.NaN(), 1, 1); !math.IsInf(r, 1) {
		t.Errorf("RDP of no variance: %g", r)
	}
}

// TestGoldenBits pins the published numbers and the digits of the check: a machine that finds
// others would refuse every collection.
func TestGoldenBits(t *testing.T) {
	t.Parallel()
	const want = 0x5a90f48f3b5e7692
	h := fnv.New64a()
	for _, eps := range []uint32{700, 3000, 10000, 25000, 80000} {
		for _, dim := range []int{1, 3, 8, 100} {
			for _, n := range []uint64{1000, 1_000_000} {
				g, err := GridOf(eps, 1e-8, n, dim)
				mu, alpha, err2 := Variance(eps, 0.9e-8, g.Delta2, g.Delta1)
				_, _ = fmt.Fprint(h, g, err != nil, math.Float64bits(mu), alpha, err2 != nil, math.Float64bits(RDP(alpha, mu, g.Delta2, g.Delta1)), Rate(mu, 7200))
				if dim == 3 && err == nil && err2 == nil {
					exact, err := divergences(mu, alpha, 20, samples(mu, alpha, 20, strideFor(mu)))
					for _, e := range exact {
						_, _ = fmt.Fprint(h, math.Float64bits(e), err != nil)
					}
				}
			}
		}
	}
	if got := h.Sum64(); got != want {
		t.Errorf("bits hash to %#x, want %#x", got, uint64(want))
	}
}

func BenchmarkVariance(b *testing.B) {
	for b.Loop() {
		if _, _, err := Variance(10000, 0.9e-9, 2440, 6902); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify has the parameters of eight coordinates from ten million contributors at (1,
// 1e-9).
func BenchmarkVerify(b *testing.B) {
	for b.Loop() {
		if err := Verify(198813555, 35, 2440); err != nil {
			b.Fatal(err)
		}
	}
}
