package exponential

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// big returns a weight as a big integer.
func (f fraction) big() *big.Int {
	b := new(big.Int)
	for i := len(f) - 1; i >= 0; i-- {
		b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(f[i]))
	}
	return b
}

// exactLaw returns the weight of every point of a filled wheel, and their sum. The last is of
// points without weight, as 0.
func exactLaw(w *wheel, points uint64) ([]*big.Int, *big.Int) {
	out, last, sum := make([]*big.Int, points), new(big.Int), new(big.Int)
	for i := range out {
		out[i] = new(big.Int)
	}
	for _, c := range w.parts {
		end := new(big.Int)
		for i := len(c.end) - 1; i >= 0; i-- {
			end.Lsh(end, 64).Or(end, new(big.Int).SetUint64(c.end[i]))
		}
		each := new(big.Int).Sub(end, last)
		each.Quo(each, new(big.Int).SetUint64(c.points))
		for p := range c.points {
			out[c.first+p] = each
			sum.Add(sum, each)
		}
		last = end
	}
	return out, sum
}

// ratio returns the largest quotient of the probabilities of a point under two laws, exactly; false
// where one is 0.
func ratio(a, b *wheel, points uint64) (*big.Rat, bool) {
	p, s := exactLaw(a, points)
	q, t := exactLaw(b, points)
	worst := new(big.Rat)
	for i := range p {
		if p[i].Sign() == 0 || q[i].Sign() == 0 {
			return nil, false
		}
		x := new(big.Rat).SetFrac(new(big.Int).Mul(p[i], t), new(big.Int).Mul(q[i], s))
		for _, y := range []*big.Rat{x, new(big.Rat).Inv(x)} {
			if y.Cmp(worst) > 0 {
				worst = y
			}
		}
	}
	return worst, true
}

// withinEps reports whether x <= e^eps, with e^eps to 600 bits, and how much of eps ln x is.
func withinEps(x *big.Rat, eps float64) (bool, float64) {
	limit := new(big.Float).SetPrec(700).Quo(big.NewFloat(1).SetPrec(700), exact(new(big.Float).SetPrec(700).SetFloat64(eps)))
	f, _ := new(big.Float).SetPrec(700).SetRat(x).Float64()
	return new(big.Float).SetPrec(700).SetRat(x).Cmp(limit) <= 0, math.Log(f) / eps
}

// TestPureQuantileByEnumeration compares the exact probabilities of all points for all pairs of
// tiny neighbours with e^ε: at a small ε nothing may be lost to rounding, at a large one the least
// weight decides.
func TestPureQuantileByEnumeration(t *testing.T) {
	const cells = 4
	worst := func(q *Quantile, values int, relation estimator.Relation) (*big.Rat, bool) {
		most, ok := new(big.Rat), true
		var wa, wb wheel
		neighbours(databases(3, cells), cells, values, relation, func(a, b []uint64) {
			q.fill(&wa, runs(nil, nil, a), 0, cells-1)
			q.fill(&wb, runs(nil, nil, b), 0, cells-1)
			if x, positive := ratio(&wa, &wb, cells); !positive {
				ok = false
			} else if x.Cmp(most) > 0 {
				most = x
			}
		})
		return most, ok
	}
	for _, eps := range []float64{1e-9, 0.7, 120, 600} {
		for _, f := range [][2]int64{{1, 2}, {1, 4}, {6827, 10000}} {
			for _, relation := range relations {
				for values := 1; values <= 2; values++ {
					q, err := NewPureQuantile(f[0], f[1], int64(values), eps, relation)
					if err != nil {
						t.Fatal(err)
					}
					most, positive := worst(&q, values, relation)
					if !positive {
						t.Fatalf("epsilon %v, %v: an answer is possible on one side only", eps, f)
					}
					ok, share := withinEps(most, eps)
					if !ok {
						t.Errorf("epsilon %v, %v, %v, %d values: the ratio is e^(%v of epsilon)", eps, f, relation, values, share)
					}
					if eps == 0.7 && values == 1 && f[1] == 2 && share < 0.5 {
						t.Errorf("%v: only %v of epsilon is used", relation, share)
					}
				}
			}
		}
	}
	broken, _ := NewPureQuantile(1, 2, 1, 1.4, estimator.AddRemove)
	most, _ := worst(&broken, 1, estimator.AddRemove)
	if ok, _ := withinEps(most, 0.7); ok {
		t.Error("twice the rate passed")
	}
	wrong, _ := NewPureQuantile(1, 2, 1, 0.7, estimator.AddRemove)
	most, _ = worst(&wrong, 1, estimator.ReplaceOne)
	if ok, _ := withinEps(most, 0.7); ok {
		t.Error("the rate of add-remove passed under replace-one")
	}
	bare := broken
	bare.rate, bare.powers = 300, newPowers(300)
	if _, positive := worst(&bare, 1, estimator.AddRemove); positive {
		t.Error("without a least weight every answer stayed possible")
	}
}

// TestPureFullestByEnumeration does the same for the fullest bucket.
func TestPureFullestByEnumeration(t *testing.T) {
	const buckets = 4
	worst := func(f Fullest, relation estimator.Relation) *big.Rat {
		most := new(big.Rat)
		neighbours(databases(3, buckets), buckets, 1, relation, func(a, b []uint64) {
			if x, ok := ratio(f.wheel(nil, a), f.wheel(nil, b), buckets); !ok {
				t.Fatal("a bucket is possible on one side only")
			} else if x.Cmp(most) > 0 {
				most = x
			}
		})
		return most
	}
	for _, relation := range relations {
		for _, eps := range []float64{1e-9, 0.7, 120} {
			f, err := NewPureFullest(buckets, eps, relation)
			if err != nil {
				t.Fatal(err)
			}
			ok, share := withinEps(worst(f, relation), eps)
			if !ok || eps == 0.7 && share < 0.5 {
				t.Errorf("%v, epsilon %v: the ratio is e^(%v of epsilon)", relation, eps, share)
			}
		}
		double, _ := NewPureFullest(buckets, 1.4, relation)
		if ok, _ := withinEps(worst(double, relation), 0.7); ok {
			t.Errorf("%v: twice the rate passed", relation)
		}
	}
}

// TestPureManyByEnumeration computes the law of three quantiles at once, in floats, on every pair
// of tiny neighbours.
func TestPureManyByEnumeration(t *testing.T) {
	const eps, cells = 0.9, 4
	fractions := [][2]int64{{1, 4}, {1, 2}, {9, 10}}
	worst := func(m *Many, values int, relation estimator.Relation) float64 {
		laws, most := map[string]map[uint64]float64{}, 0.0
		of := func(d []uint64) map[uint64]float64 {
			key := string(encode(d))
			if laws[key] == nil {
				laws[key] = joint(m.root, d, 0, cells-1, cells)
			}
			return laws[key]
		}
		neighbours(databases(3, cells), cells, values, relation, func(a, b []uint64) {
			q := of(b)
			for k, x := range of(a) {
				most = max(most, math.Abs(math.Log(x/q[k])))
			}
		})
		return most
	}
	for _, relation := range relations {
		for values := 1; values <= 2; values++ {
			m, err := NewPureMany(fractions, cells, int64(values), eps, relation)
			if err != nil {
				t.Fatal(err)
			}
			most := worst(m, values, relation)
			t.Logf("%v, %d values: %.3f of epsilon", relation, values, most/eps)
			if most > eps {
				t.Errorf("%v, %d values: the log ratio is %v, over %v", relation, values, most, eps)
			}
			total := 0.0
			for _, s := range m.Steps("q") {
				if total += s.Epsilon; s.Rho != 0 {
					t.Errorf("step %+v", s)
				}
			}
			if total > eps || total < eps*(1-1e-9) {
				t.Errorf("the steps cost %v of %v", total, eps)
			}
		}
		double, _ := NewPureMany(fractions, cells, 1, 2.2*eps, relation)
		if worst(double, 1, relation) <= eps {
			t.Errorf("%v: twice the rates passed", relation)
		}
	}
}

// TestPureWeights checks 1 <= w(k)/w(k+j) <= e^{rate·j}, on which a pure choice rests, with exact
// weights.
func TestPureWeights(t *testing.T) {
	r := rand.New(stattest.Source(t, "pure weights"))
	for _, rate := range []float64{leastRate, 1e-12, 3e-8, 0.011, 0.7, 5, 130, 1400} {
		s, err := pureRate(rate, 1)
		if rate == leastRate {
			s, err = pureRate(rate*(1+0x1p-40), 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		p := newFloored(s)
		for range 200 {
			k := uint64(r.Float64() * min(100/rate, 1<<61))
			j := 1 + uint64(r.ExpFloat64()*min(2/rate, 1<<60))
			if r.IntN(2) == 0 {
				j = 1 + r.Uint64N(3)
			}
			near, far := p.at(k), p.at(k+j)
			if far.big().Cmp(near.big()) > 0 {
				t.Fatalf("rate %v: w(%d) > w(%d)", rate, k+j, k)
			}
			x := new(big.Float).SetPrec(700).SetFloat64(rate)
			x.Mul(x, new(big.Float).SetPrec(700).SetUint64(j))
			if e := exact(x); e.Sign() > 0 && e.Mul(e, new(big.Float).SetPrec(700).SetInt(near.big())).Cmp(new(big.Float).SetInt(far.big())) > 0 {
				t.Fatalf("rate %v: w(%d)/w(%d) is over e^(rate·%d)", rate, k, k+j, j)
			}
		}
	}
	for _, eps := range []float64{0, math.NaN(), leastRate / 2, math.Inf(1)} {
		if s, err := pureRate(eps, 1); err == nil {
			t.Errorf("epsilon %v gave the rate %v", eps, s)
		}
	}
}

// TestPureDrawsFollowTheLaw draws from a pure choice.
func TestPureDrawsFollowTheLaw(t *testing.T) {
	const cells = 40
	q, err := NewPureQuantile(1, 4, 1, 0.9, estimator.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	values := []uint64{0, 3, 3, 3, 7, 8, 8, 21, 39, 39}
	counts := draws(t, q, runs(nil, nil, values), cells, 20000)
	stattest.Accept(t, stattest.ChiSquare("pure", counts, law(q, values, 0, cells-1)))
	steep, _ := NewPureQuantile(1, 4, 1, 1.3, estimator.AddRemove)
	stattest.Reject(t, stattest.ChiSquare("steep", counts, law(steep, values, 0, cells-1)))
}
