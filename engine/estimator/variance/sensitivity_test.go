package variance

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/test/stattest"
)

const one = 1 << unitBits

// pair is what one person gives to the sums on either side, in units of 2^-24.
type pair struct{ with, without int64 }

// cost returns the exact loss of a person who gives (t, t²−h) on one side and (t', t'²−h) or
// nothing on the other.
func cost(e persons, p pair, gone bool) *big.Rat {
	d1, d2 := p.with, p.with*p.with-one*one/4
	if !gone {
		d1, d2 = p.with-p.without, p.with*p.with-p.without*p.without
	}
	v1, v2 := e.sigma2()
	c := new(big.Rat).SetFrac(scalar.Square(d1), new(big.Int).Lsh(v1, 1))
	return c.Add(c, new(big.Rat).SetFrac(scalar.Square(d2), new(big.Int).Lsh(v2, 1)))
}

// worstCost is the largest cost over pairs on a coarse grid of all, and a fine one of those with an
// end at 1.
func worstCost(e persons, gone bool) *big.Rat {
	worst := new(big.Rat)
	look := func(a, b int64) {
		if c := cost(e, pair{a, b}, gone); c.Cmp(worst) > 0 {
			worst = c
		}
	}
	for a := int64(-32); a <= 32; a++ {
		for b := int64(-32); b <= 32; b++ {
			look(a*one/32, b*one/32)
		}
	}
	for i := int64(-4096); i <= 4096; i++ {
		look(one, i*one/4096)
		look(i*one/4096, one)
	}
	return worst
}

// TestMomentsCostWhatTheyShould computes exactly what one person's vector costs under the chosen
// variances: never more than the share, and nearly that at the worst. Under replace-one a person
// who comes or goes leaves what the number of persons costs then.
func TestMomentsCostWhatTheyShould(t *testing.T) {
	lo, hi := int64(0), int64(100)
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, bounded := range []bool{false, true} {
			p := estimator.Params{Rho: 0.1, Grid: estimator.Grid{Step: 1, Lo: -1000, Hi: 1000}, Relation: relation}
			if bounded {
				p.Lower, p.Upper = &lo, &hi
			}
			e := newPersons(p, []Options{{}})
			share := new(big.Rat).SetFloat64(e.sumRho)
			worst := worstCost(e, relation == estimator.AddRemove)
			if worst.Cmp(share) > 0 {
				t.Errorf("%v, bounds %v: a person costs %v of %v", relation, bounded, worst.FloatString(12), share.FloatString(12))
			}
			if ratio, _ := new(big.Rat).Quo(worst, share).Float64(); ratio < 0.999 {
				t.Errorf("%v, bounds %v: only %v of the share is used", relation, bounded, ratio)
			}
			if relation == estimator.ReplaceOne {
				rest := new(big.Rat).Mul(share, new(big.Rat).SetFloat64(e.joining()*(1+1e-12)))
				if gone := worstCost(e, true); gone.Cmp(rest) > 0 {
					t.Errorf("bounds %v: a person who goes costs %v of %v", bounded, gone.FloatString(12), rest.FloatString(12))
				}
			}
		}
	}
}

// TestRowVectorsKeepToARightAngle: vectors of any persons, hostile columns and a clip of any size
// included, differ by at most √2 radii; of vectors that are only clipped some differ by more.
func TestRowVectorsKeepToARightAngle(t *testing.T) {
	r := rand.New(stattest.Source(t, "angle"))
	limit := new(big.Int).Lsh(big.NewInt(2), 2*scalar.BallBits)
	lo, hi := int64(-50), int64(70)
	for range 300 {
		p := estimator.Params{Rho: 0.1, Grid: estimator.Grid{Step: 1, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}, Relation: estimator.ReplaceOne}
		if r.IntN(2) == 0 {
			p.Lower, p.Upper = &lo, &hi
		}
		made, err := NewRows(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, in := made.(rows), estimator.Input{Columns: make([][]int64, 4)}
		for range 30 {
			m := 1 + r.Int64N(1<<r.IntN(30))
			x := r.Int64N(1<<(1+r.IntN(20))) - r.Int64N(1<<(1+r.IntN(20)))
			for c, v := range []int64{m, m * x, int64(r.Uint64()) >> r.IntN(64), int64(r.Uint64()) >> r.IntN(64)} {
				in.Columns[c] = append(in.Columns[c], v)
			}
		}
		c, kappa := r.Int64N(1<<30)-1<<29, 1+r.Int64N(1<<(1+r.IntN(50)))
		ball := scalar.NewBall(float64(1+r.Int64N(1<<(1+r.IntN(40)))) / normSteps)
		var all [][3]int64
		for i := range in.Columns[0] {
			all = append(all, acute(ball.Clip3(e.vector(in, i, c, kappa))))
		}
		for _, a := range all {
			for _, b := range all {
				if distance(a, b).Cmp(limit) > 0 {
					t.Fatalf("%v and %v are too far apart", a, b)
				}
			}
		}
	}
	ball := scalar.NewBall(1)
	a, b := ball.Clip3([3]float64{0.1, 1, 0}), ball.Clip3([3]float64{0.1, -1, 0})
	if distance(a, b).Cmp(limit) <= 0 || distance(acute(a), acute(b)).Cmp(limit) > 0 {
		t.Error("the angle of two vectors that cannot be is not corrected")
	}
}

// distance is the squared distance of two vectors.
func distance(a, b [3]int64) *big.Int {
	sum := new(big.Int)
	for i := range a {
		sum.Add(sum, scalar.Square(a[i]-b[i]))
	}
	return sum
}

func TestUnitCutsTowardZero(t *testing.T) {
	for _, c := range []struct{ x, radius, want int64 }{
		{0, 1, 0}, {1, 1, one}, {-1, 1, -one}, {5, 1, one}, {-5, 1, -one}, {1, 3, one / 3}, {-1, 3, -(one / 3)},
		{1 << 61, 1 << 61, one}, {-1 << 61, 1 << 61, -one}, {1<<61 - 1, 1 << 61, one - 1}, {1, 1 << 61, 0},
	} {
		if got := unit(c.x, c.radius); got != c.want {
			t.Errorf("unit(%d, %d) = %d, want %d", c.x, c.radius, got, c.want)
		}
	}
}
