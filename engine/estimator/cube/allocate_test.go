package cube

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// rootMeanSquare is that of a cell's standard error over the marginals of the workload, each
// counted once, in those of a single marginal that has all of ρ.
func (c *Cube) rootMeanSquare() float64 {
	v := 0.0
	for _, m := range c.p.Workload {
		v += math.Pow(c.StdErr(m.Set), 2)
	}
	return math.Sqrt(v / float64(len(c.p.Workload)) * 2 * c.p.Rho)
}

// adult are the sizes of eight columns of UCI Adult with its missing values: work class, education,
// marital status, occupation, relationship, race, sex, income.
var adult = []int{9, 16, 7, 15, 6, 5, 2, 2}

// TestNoiseOfPublishedCubes: m marginals that share ρ evenly have √m times the noise of one that
// has all of it. One cube of all of them has less. ρ is small, so that variances are not rounded.
func TestNoiseOfPublishedCubes(t *testing.T) {
	for _, v := range []struct {
		sizes      []int
		ways, many int
		even, want float64
	}{
		{adult, 2, 36, 6.0, 4.27},
		{adult, 3, 92, 9.6, 5.8},
		{[]int{20, 12, 5, 7}, 4, 15, 3.87, 3.09},
	} {
		c := build(t, Params{Dims: dims(v.sizes...), Workload: Ways(len(v.sizes), v.ways), Rho: 1e-6})
		if n := len(c.p.Workload); n != v.many || math.Abs(math.Sqrt(float64(n))/v.even-1) > 0.005 {
			t.Errorf("%v, %d ways: %d marginals, noise %v at even shares, want %d and %v", v.sizes, v.ways, n, math.Sqrt(float64(n)), v.many, v.even)
		}
		if got := c.rootMeanSquare(); math.Abs(got/v.want-1) > 0.005 {
			t.Errorf("%v, %d ways: noise %v, want %v", v.sizes, v.ways, got, v.want)
		}
		p := c.p
		p.Relation = estimator.ReplaceOne
		t.Logf("%v, %d ways: noise %.3f, exchanged %.3f", v.sizes, v.ways, c.rootMeanSquare(), build(t, p).rootMeanSquare())
	}
}

// aim is the weighted variance at w, but for a factor.
func (p Params) aim(w precision, sets []Set) float64 {
	v, aim := 0.0, p.aims()
	for _, b := range sets {
		v += aim[b] / w[b]
	}
	return v
}

// TestNoOtherAllocationIsBetter moves precision about at random: at equal loss none has less of the
// weighted variance; under replace-one none has 0.2 % less.
func TestNoOtherAllocationIsBetter(t *testing.T) {
	r := rand.New(stattest.Source(t, "moves"))
	for name, c := range small(t) {
		if c.p.Relation == estimator.ReplaceOne && c.p.cost(c.w) > c.p.Rho {
			t.Errorf("%s: cost %v of rho %v", name, c.p.cost(c.w), c.p.Rho)
		}
		least, room := c.p.aim(c.w, c.sets), 1-1e-8
		if c.p.Relation == estimator.ReplaceOne {
			room = 1 - 2e-3
		}
		w, now := slices.Clone(c.w), least
		for i := range 4000 {
			moved := slices.Clone(w)
			for _, b := range c.sets {
				moved[b] *= math.Exp(r.NormFloat64() / float64(3+i/10))
			}
			scale := c.p.Rho / c.p.cost(moved)
			for b := range moved {
				moved[b] *= scale
			}
			if x := c.p.aim(moved, c.sets); x < now { // downhill from wherever it is better
				w, now = moved, x
			}
		}
		if now < room*least {
			t.Errorf("%s: a weighted variance of %v where %v is possible", name, least, now)
		}
	}
}

// TestExchangeRoundsConverge: the search for exchanges ends by its gap, and not by its rounds, in
// cubes of many dimensions; and always gives the same numbers.
func TestExchangeRoundsConverge(t *testing.T) {
	for _, sizes := range [][]int{{2, 2}, {20, 12, 5, 7}, {2, 50, 3}, adult, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}} {
		for ways := 1; ways <= 3; ways++ {
			p := Params{Dims: dims(sizes...), Workload: Ways(len(sizes), ways), Rho: 1e-6, Relation: estimator.ReplaceOne}
			c, again := build(t, p), build(t, p)
			if !slices.Equal(c.w, again.w) {
				t.Errorf("%v, %d ways: two allocations differ", sizes, ways)
			}
			if _, gap := p.exchanged(c.sets, p.aims()); gap > 1+exchangeGap {
				t.Errorf("%v, %d ways: within a factor of %v of the least", sizes, ways, gap)
			}
		}
	}
}
