package scalar

import (
	"math"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

func coarseOf(relation estimator.Relation) Coarse {
	p := estimator.Params{Rho: 0.5, Relation: relation, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 40, Hi: 1 << 40}}
	return NewCoarse(p, NewMeans(p), 0.5)
}

// TestOctavesKeepTheirOrder: each number is within its octave, and octaves ascend with numbers.
func TestOctavesKeepTheirOrder(t *testing.T) {
	c := coarseOf(estimator.AddRemove)
	last := c.first
	for _, x := range []int64{-1 << 50, -1<<50 + 1, -4097, -4096, -1024, -1023, -128, -127, 0, 127, 128, 255, 256, 1 << 20, 1 << 50} {
		k := c.bucket(x)
		if k < last {
			t.Errorf("%d is in octave %d, after %d", x, k, last)
		}
		last = k
		if lo, hi := c.ends(k); k != 0 && (float64(x) < lo || float64(x) > hi) {
			t.Errorf("%d is outside of [%v, %v]", x, lo, hi)
		}
	}
}

// TestOctavesWithoutNoise: centre and radius reach all persons, and the loss pays for one bucket a
// person.
func TestOctavesWithoutNoise(t *testing.T) {
	for _, c := range []struct {
		values []int64
		low    float64 // least and greatest centre
		high   float64
		alike  bool
	}{
		{[]int64{0}, 0, 0, true},
		{[]int64{5}, 4, 8, false},
		{[]int64{-5}, -8, -4, false},
		{[]int64{0, 1}, 0.25, 1, false},
		{[]int64{-100, 100}, -20, 20, false},
		{[]int64{3, 5, 7}, 3, 6, false},
	} {
		search := coarseOf(estimator.AddRemove)
		var numbers []int64
		for _, v := range c.values {
			for range 100 {
				numbers = append(numbers, v<<MeanBits)
			}
		}
		octaves, ok := search.Release(stattest.Zero{}, numbers)
		centre, radius, alike := octaves.About()
		got := float64(centre) / (1 << MeanBits)
		if !ok || alike != c.alike || got < c.low || got > c.high {
			t.Errorf("%v: centre %v, alike %v, found %v", c.values, got, alike, ok)
		}
		for _, x := range numbers {
			if d := math.Abs(float64(x - centre)); d > float64(radius) && !alike {
				t.Errorf("%v: %d is %v from the centre %d, radius %d", c.values, x, d, centre, radius)
			}
		}
	}
	if one, two := coarseOf(estimator.AddRemove).noise.Sigma(), coarseOf(estimator.ReplaceOne).noise.Sigma(); math.Abs(two*two-2*one*one) > 1e-9 {
		t.Errorf("noise %v, and %v where a person is exchanged", one, two)
	}
}

// TestNoiseAloneHasNoOctaves: without persons nothing stands out. There are 110 octaves and windows
// of four widths, each above with a chance of 3.4·10⁻⁶: in 2,000 searches three are expected, and
// more than 15 once in 10^6.
func TestNoiseAloneHasNoOctaves(t *testing.T) {
	n, found := stattest.Noiser(t, "octaves"), 0
	c := coarseOf(estimator.AddRemove)
	for range 2000 {
		if _, ok := c.Release(n, nil); ok {
			found++
		}
	}
	if found > 15 {
		t.Errorf("octaves of nobody stand out in %d of 2000 searches", found)
	}
}

// TestDistancesOfOctaves: how far numbers are from a centre, by octaves, is within a factor of two
// of what it is, and no less than what tells 0 from the first octave.
func TestDistancesOfOctaves(t *testing.T) {
	for _, c := range []struct {
		values            []int64
		centre            int64
		quartile, average float64
	}{
		{[]int64{20, 24, 28}, 24, 4, 8. / 3},
		{[]int64{-100, 100}, 0, 100, 100},
		{[]int64{0, 0, 0, 0, 0, 0, 0, 8}, 0, 1. / 8, 1},
		{[]int64{0}, 0, 1. / 8, 1. / 8},
	} {
		var numbers []int64
		for _, v := range c.values {
			for range 100 {
				numbers = append(numbers, v<<MeanBits)
			}
		}
		octaves, _ := coarseOf(estimator.AddRemove).Release(stattest.Zero{}, numbers)
		centre := c.centre << MeanBits
		for name, x := range map[string][2]float64{
			"quartile": {octaves.Distance(centre, 0.75), c.quartile}, "average": {octaves.MeanDistance(centre), c.average},
		} {
			if got := x[0] / (1 << MeanBits); got < x[1]/2 || got > x[1]*2 {
				t.Errorf("%v: %s %v, want %v", c.values, name, got, x[1])
			}
		}
	}
}
