package blanket

import (
	"math"
	"slices"
	"testing"
)

func lnChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// law returns P[X = x] for X ~ Bin(h, p), x from 0 to where nothing is left.
func law(h int, p float64) []float64 {
	mean := float64(h) * p
	top := min(h, int(mean+30*math.Sqrt(mean)+60))
	out := make([]float64, top+1)
	for x := range out {
		out[x] = math.Exp(lnChoose(float64(h), float64(x)) + float64(x)*math.Log(p) + float64(h-x)*math.Log1p(-p))
	}
	return out
}

// pair is one node: the probabilities of a count when it is run, and in the other database.
type pair struct{ p, q float64 }

// nodes returns the outcomes of a node whose count is higher by one, and of one whose count is
// lower by one.
func nodes(pmf []float64) (higher, lower []pair) {
	for k := range len(pmf) + 1 {
		var with, without float64
		if k > 0 {
			with = pmf[k-1]
		}
		if k < len(pmf) {
			without = pmf[k]
		}
		higher = append(higher, pair{with, without})
		lower = append(lower, pair{without, with})
	}
	return higher, lower
}

// hockey returns the exact δ of one level: the sum over all outcomes of two nodes.
func hockey(eps float64, higher, lower []pair) float64 {
	sum, e := 0.0, math.Exp(eps)
	for _, a := range higher {
		for _, b := range lower {
			sum += math.Max(0, a.p*b.p-e*a.q*b.q)
		}
	}
	return sum
}

// TestExactOneLevel has the exact δ of the protocol's description and holds Delta above it, at
// sizes from the smallest on.
func TestExactOneLevel(t *testing.T) {
	t.Parallel()
	exact := func(eps, v float64, h int) float64 {
		higher, lower := nodes(law(h, v/float64(h)))
		return hockey(eps, higher, lower)
	}
	const many = 1_000_000
	if d := exact(1, 105.4, many); math.Abs(d/5.3e-13-1) > 0.02 {
		t.Errorf("V=105.4: exact delta %g, want 5.3e-13", d)
	}
	if at, below := exact(1, 72.1, many), exact(1, 71.9, many); !(at <= 1e-9*1.001 && below > 1e-9) {
		t.Errorf("exact delta at V=72.1 is %g, at V=71.9 %g, want 1e-9 between", at, below)
	}
	for _, c := range []struct {
		eps, v float64
		h      int
	}{
		{1, 16, 64}, {0.5, 16, 64}, {2, 5, 64}, {8, 12, 64}, {1, 250, 1000}, {0.1, 250, 1000}, {3, 20, 1000}, {1, 30, 10_000}, {0.5, 274, many}, {2, 41.9, many},
	} {
		got, want := Delta(c.eps, c.v, uint64(c.h), 1), exact(c.eps, c.v, c.h)
		if !(got >= want) {
			t.Errorf("eps=%g V=%g h=%d: Delta is %g, the exact delta %g", c.eps, c.v, c.h, got, want)
		}
		if want > 1e-12 && got > 5e3*want {
			t.Errorf("eps=%g V=%g h=%d: Delta is %g, the exact delta only %g", c.eps, c.v, c.h, got, want)
		}
	}
}

// losses is a law of privacy losses on the grid of a thousandth, rounded down, and what has no
// counterpart.
type losses struct {
	first int
	p     []float64
	sure  float64
}

const perUnit = 1000

func lossesOf(node []pair) losses {
	first, last := math.MaxInt, math.MinInt
	at := func(x pair) int { return int(math.Floor(math.Log(x.p/x.q) * perUnit)) }
	for _, x := range node {
		if x.p > 1e-30 && x.q > 0 {
			first, last = min(first, at(x)), max(last, at(x))
		}
	}
	l := losses{first: first, p: make([]float64, last-first+1)}
	for _, x := range node {
		switch {
		case x.q == 0:
			l.sure += x.p
		case x.p > 1e-30:
			l.p[at(x)-first] += x.p
		}
	}
	return l
}

func (l losses) then(m losses) losses {
	out := losses{first: l.first + m.first, p: make([]float64, len(l.p)+len(m.p)-1), sure: l.sure + m.sure - l.sure*m.sure}
	for i, a := range l.p {
		if a > 1e-30 {
			for j, b := range m.p {
				out.p[i+j] += a * b
			}
		}
	}
	return out
}

func (l losses) delta(eps float64) float64 {
	sum := l.sure
	for i, p := range l.p {
		sum += p * math.Max(0, -math.Expm1(eps-float64(l.first+i)/perUnit))
	}
	return sum
}

// TestCompositionFromBelow composes the losses of a few levels on a grid, rounded down: the result
// is at most the true δ, and Delta has to be above it.
func TestCompositionFromBelow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		eps, v float64
		h      int
		levels int
	}{
		{1, 62.5, 250, 3}, {1, 127, 20_000, 3}, {2, 62.8, 1_000_000, 3}, {1, 80, 20_000, 2},
	} {
		higher, lower := nodes(law(c.h, c.v/float64(c.h)))
		level := lossesOf(higher).then(lossesOf(lower))
		all := level
		for range c.levels - 1 {
			all = all.then(level)
		}
		got, below := Delta(c.eps, c.v, uint64(c.h), c.levels), all.delta(c.eps)
		t.Logf("%+v: Delta %.3g, composed %.3g", c, got, below)
		if !(got >= below) || got > 1e3*below {
			t.Errorf("%+v: Delta is %g, composition gives %g", c, got, below)
		}
		// Counting a level too few would be noticed where it matters.
		if c.levels == 3 && Delta(c.eps, c.v, uint64(c.h), 1) > below {
			t.Errorf("%+v: the test would accept one level for three", c)
		}
	}
}

// TestDirectFormula evaluates the bound as it is written, with log-gamma functions and sums of
// exponentials.
func TestDirectFormula(t *testing.T) {
	t.Parallel()
	var orders []float64
	for a := 1.5; a < 11; a += 0.5 {
		orders = append(orders, a)
	}
	for a := 11.0; a < 60; a++ {
		orders = append(orders, a)
	}
	for a := 60.0; a < 256; a += 5 {
		orders = append(orders, a)
	}
	for _, c := range []struct {
		eps, v float64
		h      int
		levels int
	}{{1, 338, 7200, 5}, {1, 16, 64, 1}, {0.5, 769, 1_000_000, 3}, {2, 145, 50_000, 8}, {0.2, 2500, 10_000, 2}} {
		h, p := float64(c.h), c.v/float64(c.h)
		loss := func(k float64) float64 { return math.Log(k * (1 - p) / ((h - k + 1) * p)) }
		best := math.Inf(1)
		for _, a := range orders {
			var up, down []float64
			for x := 0.0; x <= math.Min(h, c.v+40*math.Sqrt(c.v)+100); x++ {
				pmf := lnChoose(h, x) + x*math.Log(p) + (h-x)*math.Log1p(-p)
				if x < h {
					up = append(up, pmf+(a-1)*loss(x+1))
				}
				if x > 0 {
					down = append(down, pmf-(a-1)*loss(x))
				}
			}
			f := float64(c.levels)*(sumExp(up)+sumExp(down)) - (a-1)*c.eps - math.Log(a) + (a-1)*math.Log1p(-1/a)
			best = math.Min(best, f)
		}
		want := float64(c.levels)*(math.Pow(1-p, h)+math.Pow(p, h)) + math.Exp(best)
		if got := Delta(c.eps, c.v, uint64(c.h), c.levels); math.Abs(got/want-1) > 3e-6 || got < want*(1-1e-8) {
			t.Errorf("%+v: got %g, directly %g", c, got, want)
		}
	}
}

func sumExp(x []float64) float64 {
	top := slices.Max(x)
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// TestTails holds the bound outside the window against the exact tails, and shows that it never
// counts.
func TestTails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		h int
		p float64
	}{{64, 0.25}, {64, 0.01}, {10_000, 0.001}, {10_000, 0.25}, {1_000_000, 1e-5}, {1_000_000, 0.01}} {
		w := windowOf(c.p, float64(c.h))
		mean := float64(c.h) * c.p
		from := int(math.Max(0, math.Floor(mean-14*math.Sqrt(mean*(1-c.p))-40)))
		inside := 0.0
		for i := range w.weight {
			x := float64(from + i)
			inside += math.Exp(lnChoose(float64(c.h), x) + x*math.Log(c.p) + (float64(c.h)-x)*math.Log1p(-c.p))
		}
		if math.Abs(inside-1) > 1e-8 || w.outside > 1e-25 || mean > 10 && w.outside > 1e-38 {
			t.Errorf("%+v: the window holds %g, the bound outside is %g", c, inside, w.outside)
		}
		// The tail itself, where it exists: a geometric series above the first term left out.
		if x := from + len(w.weight); x < c.h {
			first := math.Exp(lnChoose(float64(c.h), float64(x)) + float64(x)*math.Log(c.p) + float64(c.h-x)*math.Log1p(-c.p))
			r := float64(c.h-x) * c.p / (float64(x+1) * (1 - c.p))
			if tail := first / (1 - r); tail > w.outside {
				t.Errorf("%+v: the tail is up to %g, the bound %g", c, tail, w.outside)
			}
		}
	}
}

// TestRedrawsAreRare: Bennett's exponent of the noise of one contributor passing Cap is above 72
// for every expected number of messages.
func TestRedrawsAreRare(t *testing.T) {
	t.Parallel()
	for l := 1e-9; l < 1e9; l *= 1.01 {
		u := 12/math.Sqrt(l) + 40/l
		exponent := l * ((1+u)*math.Log1p(u) - u)
		if !(exponent > 72) || math.Exp(-exponent) > redrawn {
			t.Fatalf("λ=%g: exponent %g", l, exponent)
		}
	}
	if a, want := away(1, 7200), (1+math.E)*2*7200*1e-31; math.Abs(a/want-1) > 1e-12 {
		t.Errorf("away = %g, want %g", a, want)
	}
}
