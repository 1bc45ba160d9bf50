package errorbar

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// one is an answer of one value with a law.
func one(v float64, x estimator.Error) estimator.Estimate {
	x.Form = estimator.Quotient
	return estimator.Estimate{Values: []float64{v}, StdErr: []float64{1}, Error: &x}
}

// TestKnownIntervals: textbook numbers, and the ends where there is nothing to know.
func TestKnownIntervals(t *testing.T) {
	inf := math.Inf(1)
	near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 5e-4 || math.IsNaN(a) && math.IsNaN(b) }
	for name, c := range map[string]struct {
		e          estimator.Estimate
		level      float64
		wantL, hiW float64
	}{
		"normal":         {one(10, estimator.Error{Noise: []float64{2}}), 0.95, 10 - 3.91993, 10 + 3.91993},
		"normal, 50 %":   {one(10, estimator.Error{Noise: []float64{2}}), 0.5, 10 - 1.34898, 10 + 1.34898},
		"count":          {one(10, estimator.Error{Noise: []float64{2}, Step: []float64{1}}), 0.95, 6, 14},
		"public":         {one(10, estimator.Error{Noise: []float64{0}, Step: []float64{1}}), 0.95, 10, 10},
		"laplace":        {one(0, estimator.Error{Law: estimator.Laplace, Noise: []float64{2}}), 0.9, -2 * math.Log(10), 2 * math.Log(10)},
		"fieller":        {one(5, estimator.Error{Noise: []float64{0.1}, Under: []float64{0.05}, Centre: []float64{3}}), 0.95, 4.74020, 5.29859},
		"no denominator": {one(5, estimator.Error{Noise: []float64{0.1}, Under: []float64{0.6}}), 0.95, -inf, inf},
		"by StdErr":      {one(5, estimator.Error{Under: []float64{0.1}}), 0.95, 5 - 1.95996/0.804004, 5 + 1.95996/0.804004},
		"not a number":   {one(math.NaN(), estimator.Error{Noise: []float64{2}}), 0.95, math.NaN(), math.NaN()},
		"shrunk":         {one(4, estimator.Error{Noise: []float64{1}, Raw: []float64{8}}), 0.95, 4, 8 + 1.95996},
	} {
		lo, hi := Interval(c.e, 0, c.level)
		if !near(lo, c.wantL) || !near(hi, c.hiW) {
			t.Errorf("%s: got [%v, %v], want [%v, %v]", name, lo, hi, c.wantL, c.hiW)
		}
	}
	few := one(1, estimator.Error{Noise: []float64{2}})
	few.Status = estimator.TooFew
	for name, e := range map[string]estimator.Estimate{"too few": few, "no law": {Values: []float64{1}, StdErr: []float64{1}}, "unknown": {Values: []float64{1}, Error: &estimator.Error{}}} {
		if lo, hi := Interval(e, 0, 0.9); !math.IsNaN(lo) || !math.IsNaN(hi) || !math.IsNaN(Radius(e, 0.9)) {
			t.Errorf("%s: got [%v, %v]", name, lo, hi)
		}
	}
}

// TestIntervalsGrowWithTheLevel, and hold the value.
func TestIntervalsGrowWithTheLevel(t *testing.T) {
	m := &estimator.Moments{First: []float64{0.3}, Second: []float64{0.8}, Offset: []float64{0.25}, Noise: []float64{0.1}, Noise2: []float64{0.05}, Count: 100}
	for name, e := range map[string]estimator.Estimate{
		"gaussian": one(5, estimator.Error{Noise: []float64{0.1}, Under: []float64{0.05}, Centre: []float64{3}}),
		"laplace":  one(-5, estimator.Error{Law: estimator.Laplace, Noise: []float64{0.1}, Under: []float64{0.05}, Centre: []float64{3}}),
		"variance": {Values: []float64{0.97}, StdErr: []float64{0.1}, Error: &estimator.Error{Form: estimator.Variance, Under: []float64{0.02}, Moments: m}},
		"quantile": {Values: []float64{7}, StdErr: []float64{math.NaN()}, Error: &estimator.Error{Form: estimator.Quantile,
			Rounds: 5, Ranks: [][]estimator.Rank{{{At: 9, Z: 6}, {At: 2, Z: -9}, {At: 8, Z: 3}, {At: 4, Z: -2}, {At: 6, Z: -0.1}}}}},
	} {
		last := 0.0
		for _, level := range []float64{1e-9, 0.01, 0.5, 0.9, 0.99, 0.9999} {
			lo, hi := Interval(e, 0, level)
			if !(lo <= e.Values[0] && e.Values[0] <= hi) || hi-lo < last {
				t.Errorf("%s at %v: [%v, %v], after a width of %v", name, level, lo, hi, last)
			}
			last = hi - lo
		}
	}
}

// TestBeyond compares the point of two noises with draws, and finds one of nine tenths out.
func TestBeyond(t *testing.T) {
	const draws = 20000
	r := rand.New(stattest.Source(t, "beyond"))
	for _, law := range []estimator.Law{estimator.Gaussian, estimator.Laplace} {
		draw := r.NormFloat64
		if law == estimator.Laplace {
			draw = func() float64 { return r.ExpFloat64() - r.ExpFloat64() }
		}
		for _, b := range []float64{0, 0.3, 1, 4} {
			for _, level := range []float64{0.5, 0.95} {
				w := beyond(law, 1-level, 1, b)
				under, less := 0, 0
				for range draws {
					x := math.Abs(draw() - b*draw())
					if x <= w {
						under++
					}
					if x <= 0.9*w {
						less++
					}
				}
				name := fmt.Sprintf("law %d, b=%v, %v", law, b, level)
				stattest.Accept(t, stattest.Coverage(name, under, draws, level))
				stattest.Accept(t, stattest.Coverage(name+", not wider than needed", draws-under, draws, 1-level-0.015))
				stattest.Reject(t, stattest.Coverage(name+", less", less, draws, level))
			}
		}
	}
}

// TestRadius: exact for alike coordinates, sure for others, sure for coordinates that go together.
func TestRadius(t *testing.T) {
	const draws = 20000
	r := rand.New(stattest.Source(t, "radius"))
	shapes := map[string]func(int) float64{"alike": func(int) float64 { return 2 }, "falling": func(j int) float64 { return 1 / float64(1+j) }, "one": func(j int) float64 { return map[bool]float64{true: 5, false: 0}[j == 0] }}
	for name, f := range shapes {
		for _, d := range []int{1, 2, 30} {
			for _, tied := range []bool{false, true} {
				s := make([]float64, d)
				for j := range s {
					s[j] = f(j)
				}
				e := estimator.Estimate{Values: make([]float64, d), StdErr: s, Error: &estimator.Error{Form: estimator.Quotient, Tied: tied}}
				for _, level := range []float64{0.5, 0.9, 0.99} {
					radius, within, half := Radius(e, level), 0, 0
					for range draws {
						z, length := r.NormFloat64(), 0.0
						for j := range s {
							if !tied {
								z = r.NormFloat64()
							}
							length = math.Hypot(length, s[j]*z)
						}
						if length <= radius {
							within++
						}
						if length <= radius/3 {
							half++
						}
					}
					text := fmt.Sprintf("%s, d=%d, tied=%v at %v", name, d, tied, level)
					stattest.Accept(t, stattest.Coverage(text, within, draws, level))
					if level > 0.5 {
						stattest.Reject(t, stattest.Coverage(text+", a third", half, draws, level))
					}
					if name == "alike" && !tied && float64(within) > (level+0.02)*draws {
						t.Errorf("%s: %d of %d are within %v", text, within, draws, radius)
					}
				}
			}
		}
	}
	if r := Radius(one(1, estimator.Error{Under: []float64{0.9}, Shift: 1}), 0.9); !math.IsInf(r, 1) {
		t.Errorf("a number of persons that is hardly known: %v", r)
	}
}
