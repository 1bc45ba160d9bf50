package cube

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestStrategiesAreWhatTheProofTakesThemFor checks strategies of many sizes: rows of T add up to 0,
// G is TᵀT, no entry of it is beyond its bounds, which are reached, G⁺ is its inverse on vectors
// that add up to 0, and the numbers that are multiplied stay within what checkSize takes.
func TestStrategiesAreWhatTheProofTakesThemFor(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 7, 12, 31, 120, 366, MaxRanges} {
		s := strategyOf(n)
		top, low, reach := 0.0, 0.0, 0.0
		for r := range n {
			sum, size := int64(0), 0.0
			for _, x := range s.t[r*n : (r+1)*n] {
				sum += x
				size += math.Abs(float64(x))
			}
			reach = max(reach, size)
			if sum != 0 {
				t.Fatalf("%d values: row %d adds up to %d", n, r, sum)
			}
		}
		for r := range n {
			for c := range n {
				top, low = max(top, s.g[r*n+c]), max(low, -s.g[r*n+c])
			}
		}
		if top != s.top || low != s.low || reach != s.reach || top > 1.01 || reach > 1<<14 {
			t.Errorf("%d values: top %v, low %v, reach %v; declared %v, %v, %v", n, top, low, reach, s.top, s.low, s.reach)
		}
		if n > 200 { // the products take long
			continue
		}
		whole := mat.NewDense(n, n, nil)
		for i, x := range s.t {
			whole.Set(i/n, i%n, float64(x)/(1<<rangeBits))
		}
		g, inverse := mat.NewDense(n, n, s.g), mat.NewDense(n, n, s.inverse)
		var square, unit mat.Dense
		square.Mul(whole.T(), whole)
		unit.Mul(g, inverse)
		if !mat.Equal(&square, g) || !mat.EqualApprox(&unit, centring(n), 1e-9) {
			t.Errorf("%d values: G is not TᵀT, or G⁺ not its inverse", n)
		}
	}
}

// intervals are the weights of all of n values.
func intervals(n int) (all [][]float64) {
	for a := range n {
		for b := a + 1; b <= n; b++ {
			f := make([]float64, n)
			for c := a; c < b; c++ {
				f[c] = 1
			}
			all = append(all, f)
		}
	}
	return all
}

// TestIntervalsAreNearTheBest compares the mean variance of all intervals of 120 values with a
// lower bound for all strategies in which no cell costs more than 1 − 1/n: for any weights d of
// cells that add up to 1 it is at least (tr (D^½ W D^½)^½)²/(1 − 1/n), W what intervals want, since
// among strategies of the same Σ d·cost that is the least [LM12]. It is within an eighth of it; C
// alone, as without ranges, is four times as far.
func TestIntervalsAreNearTheBest(t *testing.T) {
	const n = 120
	s := strategyOf(n)
	d := Dimension{Size: n, Ranges: true}
	w, plain, own, mean, all := mat.NewSymDense(n, nil), 0.0, 0.0, 0.0, intervals(n)
	share := 1 / float64(len(all))
	for _, f := range all {
		own += d.squared(f) * share
		plain += Dimension{Size: n}.squared(f) * share
		sum := 0.0
		for _, x := range f {
			sum += x / n
		}
		mean += sum * sum * share
		centred := mat.NewVecDense(n, nil)
		for c, x := range f {
			centred.SetVec(c, x-sum)
		}
		w.SymRankOne(w, share, centred)
	}
	near(t, "intervals", s.spread, own)
	near(t, "shares", s.mean, mean)
	weights := mat.NewSymDense(n, nil)
	edge := 0.2 // cells at both ends count more
	for a := range n {
		for b := a; b < n; b++ {
			weight := 1.0
			for _, c := range []int{a, b} {
				if c == 0 || c == n-1 {
					weight *= math.Sqrt(1 + edge)
				}
			}
			weights.SetSym(a, b, w.At(a, b)*weight/(n+2*edge))
		}
	}
	var e mat.EigenSym
	e.Factorize(weights, false)
	roots := 0.0
	for _, x := range e.Values(nil) {
		roots += math.Sqrt(max(0, x))
	}
	bound := roots * roots / (1 - 1.0/n)
	t.Logf("mean variance of intervals %.3f, at least %.3f, without ranges %.3f; of a value %.3f", own/(1-1.0/n)*s.top, bound, plain, s.cell)
	if got := own * s.top / (1 - 1.0/n); got < bound || got > 1.125*bound || plain < 3.5*got {
		t.Errorf("a mean variance of %v, at least %v, without ranges %v", got, bound, plain)
	}
}

// TestALevelLeftOutIsFoundOut: where the largest entries of T are measured twice as large as they
// are charged for, or the noise is that of a residual without ranges, a person loses more than ρ.
func TestALevelLeftOutIsFoundOut(t *testing.T) {
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		c := build(t, Params{Dims: ordered(Of(0), 12, 2), Workload: Ways(2, 2), Rho: 0.3, Relation: relation})
		atMostRho(t, relation.String(), c, c.worst(t, c.everyone()), 0.8)
		broken := *c
		own := *c.ranges[0]
		own.t = append([]int64(nil), own.t...)
		for r := range own.n {
			for v := range own.n {
				if r%2 == 0 {
					own.t[r*own.n+v] *= 2
				}
			}
		}
		broken.ranges = []*strategy{&own, nil}
		if loss, _ := broken.worst(t, c.everyone()).Float64(); loss <= c.p.Rho {
			t.Errorf("%v: rows of twice the size lose %v, of rho %v: not found out", relation, loss, c.p.Rho)
		}
		broken = *c
		broken.noise = append([]*big.Int(nil), c.noise...)
		for i, b := range c.sets {
			if b.Has(0) {
				small := new(big.Int).Mul(c.noise[i], big.NewInt(12*12))
				broken.noise[i] = small.Rsh(small, 2*rangeBits)
			}
		}
		if loss, _ := broken.worst(t, c.everyone()).Float64(); loss <= c.p.Rho {
			t.Errorf("%v: noise for whole numbers of another scale loses %v, of rho %v: not found out", relation, loss, c.p.Rho)
		}
	}
}

// TestRangesHaveTheNoiseTheyDeclare compares the spread of single days, of ranges and of random
// sums of ranges, over 600 releases, with the closed forms; with those of a cube without ranges
// they are found out. stattest states the false alarms.
func TestRangesHaveTheNoiseTheyDeclare(t *testing.T) {
	p := Params{Dims: ordered(Of(1), 2, 30), Workload: Ways(2, 2), Rho: 0.02, Rows: 4}
	c := build(t, p)
	p.Dims = dims(2, 30)
	without := build(t, p)
	r, n := rand.New(stattest.Source(t, "sums")), stattest.Noiser(t, "noise")
	var weights [][]float64
	for _, days := range []int{1, 7, 20} {
		w := make([]float64, 60)
		for d := range days {
			w[30+5+d] = 1
		}
		weights = append(weights, w)
	}
	weights = append(weights, randoms(r, 60))
	seen := make([][]float64, len(weights))
	for range 600 {
		a := c.Release(n, c.Tables())
		for i, w := range weights {
			x, se := a.Sum(Of(0, 1), w)
			near(t, "errors", se, c.SumStdErr(Of(0, 1), w))
			seen[i] = append(seen[i], x/se)
		}
	}
	for i, w := range weights {
		stattest.Accept(t, stattest.Variance("sum", seen[i], 1, 3))
		if i == 2 {
			other := c.SumStdErr(Of(0, 1), w) / without.SumStdErr(Of(0, 1), w)
			for j := range seen[i] {
				seen[i][j] *= other
			}
			stattest.Reject(t, stattest.Variance("as without ranges", seen[i], 1, 3))
		}
	}
}

// TestTooManyValuesForRanges: more than MaxRanges are refused.
func TestTooManyValuesForRanges(t *testing.T) {
	if _, err := New(Params{Dims: ordered(Of(0), MaxRanges+1), Workload: Ways(1, 1), Rho: 1}); err == nil {
		t.Error("a dimension of too many values is measured for ranges")
	}
}

// TestWhatRangesGain compares standard deviations of sums over days, with and without ranges, in
// those of a table of one cell: of a view of 120 days alone, and of one of 120 days, three regions
// and two products, over all regions and products and within one of each. The table of
// docs/views.md has these numbers.
func TestWhatRangesGain(t *testing.T) {
	const rho = 0.5
	for name, sizes := range map[string][]int{"120 days": {120}, "120 days, 3 × 2": {120, 3, 2}} {
		p := Params{Dims: dims(sizes...), Workload: Ways(len(sizes), len(sizes)), Rho: rho, Rows: 1 << 20}
		plain := build(t, p)
		p.Dims = ordered(Of(0), sizes...)
		ranges := build(t, p)
		cells := 1
		for _, n := range sizes[1:] {
			cells *= n
		}
		r := rand.New(stattest.Source(t, "random ranges"))
		for _, within := range []bool{false, true} {
			if within && cells == 1 {
				continue
			}
			weights := func(from, to int) []float64 {
				w := make([]float64, 120*cells)
				for d := from; d < to; d++ {
					for c := range cells {
						if !within || c == 0 {
							w[d*cells+c] = 1
						}
					}
				}
				return w
			}
			all := plain.p.all()
			compare := func(of string, each [][2]int) float64 {
				a, b := 0.0, 0.0
				for _, e := range each {
					w := weights(e[0], e[1])
					a += math.Pow(plain.SumStdErr(all, w), 2)
					b += math.Pow(ranges.SumStdErr(all, w), 2)
				}
				unit := float64(p.Rows) * math.Sqrt(float64(len(each)))
				a, b = math.Sqrt(a)/unit, math.Sqrt(b)/unit
				t.Logf("%s, within one cell %v: %s: %.2f without, %.2f with: %.2f times", name, within, of, a, b, a/b)
				return a / b
			}
			long := func(days int) (each [][2]int) {
				for a := 0; a+days <= 120; a++ {
					each = append(each, [2]int{a, a + days})
				}
				return each
			}
			var some [][2]int
			for range 300 {
				a, b := r.IntN(121), r.IntN(121)
				if a != b {
					some = append(some, [2]int{min(a, b), max(a, b)})
				}
			}
			day, week, month, two, any, last := compare("a day", long(1)), compare("7 days", long(7)), compare("30 days", long(30)),
				compare("60 days", long(60)), compare("random ranges", some), compare("all", long(120))
			if day < 0.4 || week < 0.9 || month < 1.4 || two < 1.5 || any < 1.4 || last < 0.6 {
				t.Errorf("%s, within one cell %v: gains of %.2f, %.2f, %.2f, %.2f, %.2f and %.2f", name, within, day, week, month, two, any, last)
			}
		}
	}
}

// TestRowsAreNotShorterThanOne: one row in any cell has a length from 1 to hardly more, and one
// half of that in no cell has.
func TestRowsAreNotShorterThanOne(t *testing.T) {
	c := build(t, Params{Dims: ordered(Of(0), 40, 3), Workload: Ways(2, 2), Rho: 0.3, Rows: 5})
	for _, at := range c.points() {
		if one, half := c.Length([]Entry{{at, 1}}), c.Length([]Entry{{at, 0.5}}); one < 1 || one > 1.01 || half >= 1 {
			t.Errorf("a row in %v has the length %v, half of one %v", at, one, half)
		}
	}
}
