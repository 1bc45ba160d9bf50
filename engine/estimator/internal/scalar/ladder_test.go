package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// ladderCase is a random ladder with the cells of some values.
func ladderCase(r *rand.Rand, p estimator.Params, rows int64) (Ladder, []uint32) {
	hi := int64(1) << (1 + r.IntN(40))
	a := NewAxis(-hi/3, hi, 24)
	den := 2 + r.Int64N(20)
	cells := make([]uint32, r.IntN(200))
	for i := range cells {
		if cells[i] = uint32(r.Int64N(a.cells)); r.IntN(3) == 0 {
			cells[i] = uint32(a.cells / 2)
		}
	}
	slices.Sort(cells)
	return NewLadder(p, a, 1+r.Int64N(den-1), den, rows, p.Loss()), cells
}

// TestOnePersonMovesTheRanksWithinTheLoss compares neighbours with the same forced answers. A
// person with one value more than promised must be found out.
func TestOnePersonMovesTheRanksWithinTheLoss(t *testing.T) {
	r := rand.New(stattest.Source(t, "ladder"))
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, pure := range []bool{false, true} {
			p, over := estimator.Params{Rho: 0.1, Relation: relation}, 0
			if pure {
				p.Rho, p.Epsilon = 0, 0.5
			}
			worst := 0.0
			for range 1500 {
				rows := 1 + r.Int64N(3)
				l, cells := ladderCase(r, p, rows)
				v := uint32(r.Int64N(l.axis.cells))
				loss := func(values int64) float64 {
					other := slices.Clone(cells)
					x, y := uint32(0), uint32(l.axis.cells-1)
					if r.IntN(2) == 0 {
						x, y = y, x
					}
					first := append(slices.Clone(cells), slices.Repeat([]uint32{x}, int(values))...)
					if relation == estimator.ReplaceOne {
						other = append(other, slices.Repeat([]uint32{y}, int(values))...)
					}
					slices.Sort(first)
					slices.Sort(other)
					full := &stattest.Recorder{Answer: func(int, *big.Int, *big.Int) *big.Int { return big.NewInt((r.Int64N(3) - 1) << 40) }}
					l.Ranks(full, first, v)
					less := full.Replay(t)
					l.Ranks(less, other, v)
					of := stattest.Loss
					if pure {
						of = stattest.PureLoss
					}
					f, _ := of(t, full, less).Float64()
					return f
				}
				if x := loss(rows); x > p.Loss() {
					t.Fatalf("%v, pure %v: a person moves the ranks by %v, declared %v", relation, pure, x, p.Loss())
				} else {
					worst = max(worst, x)
				}
				if loss(rows+1) > p.Loss() {
					over++
				}
			}
			if over == 0 || worst < 0.9*p.Loss() {
				t.Errorf("%v, pure %v: the worst pair costs %v of %v, and %d with a value too many are found out", relation, pure, worst, p.Loss(), over)
			}
		}
	}
}

// TestRanksWithoutNoiseBracketTheQuantile: at a loss without noise every rank tells the truth, and
// the nearest are at the answer where it is the quantile.
func TestRanksWithoutNoiseBracketTheQuantile(t *testing.T) {
	r := rand.New(stattest.Source(t, "bracket"))
	for range 3000 {
		l, cells := ladderCase(r, estimator.Params{Rho: 1e6}, 1)
		if len(cells) == 0 {
			continue
		}
		cells = slices.Sorted(slices.Values(slices.Repeat(cells, 9))) // no rank is off by one
		at := cells[(l.num*int64(len(cells))+l.den-1)/l.den-1]
		first, last := l.axis.Ends(at)
		v, exact := at, r.IntN(2) == 0
		if !exact {
			v = uint32(r.Int64N(l.axis.cells))
		}
		ranks := l.Ranks(stattest.Zero{}, cells, v)
		if len(ranks) > 2*l.Rounds() {
			t.Fatalf("%d ranks in %d rounds", len(ranks), l.Rounds())
		}
		lo, hi := math.Inf(-1), math.Inf(1)
		for _, k := range ranks {
			if k.Z < 0 {
				lo = max(lo, k.At)
			} else {
				hi = min(hi, k.At)
			}
		}
		if lo > first || hi < last {
			t.Fatalf("the quantile is in [%v, %v], the ranks say [%v, %v]", first, last, lo, hi)
		}
		if exact && v > 0 && int64(v) < l.axis.cells-1 && (lo != first || l.num*int64(len(cells))%l.den != 0 && hi != last) {
			t.Fatalf("the answer is in [%v, %v], the ranks say [%v, %v]", first, last, lo, hi)
		}
	}
}

// TestPointIsAsRareAsTheNoise: a normal number is beyond the point no more rarely than the noise is
// at the number or beyond, or the statement would be too strong.
func TestPointIsAsRareAsTheNoise(t *testing.T) {
	for _, p := range []estimator.Params{{Rho: 0.05}, {Rho: 5}, {Epsilon: 0.1}, {Epsilon: 3}} {
		x := Single(p, 1, p.Loss())
		weight := func(k float64) float64 { return math.Exp(-k / x.scale()) }
		if !p.Pure() {
			weight = func(k float64) float64 { return math.Exp(-k * k / 2 / x.Sigma() / x.Sigma()) }
		}
		tail, all := make([]float64, 200), 0.0
		for k := 199; k >= 0; k-- {
			if tail[k] = weight(float64(k)); k < 199 {
				tail[k] += tail[k+1]
			}
		}
		all = 2*tail[0] - 1
		for k := int64(1); k < 60; k++ {
			z := x.Point(k)
			if said, is := math.Erfc(z/math.Sqrt2)/2, tail[k]/all; said < is*(1-1e-9) && is > 1e-15 || said > 0.7 {
				t.Errorf("%+v: noise of %d or more has probability %v, its point says %v", p, k, is, said)
			}
			if x.Point(-k) != -z {
				t.Errorf("the points of %d and %d differ", k, -k)
			}
		}
	}
}
