package exec

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
)

// plainIndex is the definition: the quotient rounded half to even, clamped.
func plainIndex(g estimator.Grid, x float64) int64 {
	q := x / g.Step
	if g.Decimal {
		q = x * math.Pow10(g.Scale)
	}
	switch k := math.RoundToEven(q); {
	case k <= float64(g.Lo):
		return g.Lo
	case k >= float64(g.Hi):
		return g.Hi
	default:
		return int64(k)
	}
}

func TestLattice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, g := range []estimator.Grid{
		{Step: 1, Lo: -limit, Hi: limit}, {Step: 0x1p-20, Lo: -limit, Hi: limit}, {Step: 0x1p30, Lo: -limit, Hi: limit}, {Step: 0x1p-1000, Lo: -5, Hi: limit},
		{Step: 0.125, Lo: -3, Hi: 7}, {Step: 1, Lo: 5, Hi: 5}, {Step: 0.01, Decimal: true, Scale: 2, Lo: -limit, Hi: limit}, {Step: 0x1p1000, Lo: -limit, Hi: limit},
	} {
		onto, err := newLattice(g)
		if err != nil {
			t.Fatal(err)
		}
		xs := []float64{0, math.Copysign(0, -1), 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
			limit, limit - 0.5, limit - 1.5, -limit, -limit + 0.5, limit + 1, 0x1p51, 0x1p52, 0x1p63, -0x1p63}
		for range 2000 {
			xs = append(xs, math.Ldexp(rng.NormFloat64(), rng.IntN(80)-20), (float64(rng.IntN(2001))-1000)/2)
		}
		for _, x := range xs {
			for _, x := range []float64{x, x * g.Step} {
				if math.IsInf(x, 0) {
					continue
				}
				want, sum := plainIndex(g, x), []int64{7}
				if got := onto.index(x); got != want || !onto.add(sum, []float64{x}) || sum[0] != 7+want {
					t.Fatalf("step %v: index of %v is %d, or %d, want %d", g.Step, x, got, sum[0]-7, want)
				}
			}
		}
	}
	for _, g := range []estimator.Grid{{}, {Step: math.NaN()}, {Step: 0x1p-1060}, {Step: -1, Hi: 1}, {Step: 1, Lo: 2, Hi: 1}, {Step: math.Inf(1)}} {
		if _, err := newLattice(g); err == nil {
			t.Errorf("grid %v is accepted", g)
		}
	}
}

func TestRowsWithNaNOrInfinityAreAbsent(t *testing.T) {
	onto, err := newLattice(eighths)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff0000000000001)} {
		for at := range 5 {
			row, dst := []float64{1, 2, 3, 4, 5}, []int64{1, 2, 3, 4, 5}
			row[at] = x
			if onto.add(dst, row) || dst[0] != 1 || dst[4] != 5 {
				t.Errorf("%v is added: %v", row, dst)
			}
		}
	}
	row := []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, 1}
	dst := []int64{0, 0, 0, 0, 1}
	if !onto.add(dst, row) || dst[0] != limit || dst[4] != 9 {
		t.Errorf("a finite row gives %v", dst)
	}
}
