package exponential

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// law returns the probability of every cell by the definition: one weight a cell, in floats.
func law(q Quantile, values []uint64, lo, hi uint64) []float64 {
	p, sum := make([]float64, hi-lo+1), 0.0
	for v := lo; v <= hi; v++ {
		below, upTo := int64(0), int64(0)
		for _, x := range values {
			if x < v {
				below++
			}
			if x <= v {
				upTo++
			}
		}
		target := q.num * int64(len(values))
		k := max(0, q.den*below-target, target-q.den*upTo)
		p[v-lo] = math.Exp(-q.rate * float64(k))
		sum += p[v-lo]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// divergence returns the largest of the Rényi divergences of order α over α, both ways: the zCDP
// loss of a pair of laws.
func divergence(p, r []float64) float64 {
	worst := 0.0
	for _, alpha := range []float64{1.0001, 1.5, 2, 4, 16, 64} {
		there, back := 0.0, 0.0
		for i := range p {
			there += p[i] * math.Pow(p[i]/r[i], alpha-1)
			back += r[i] * math.Pow(r[i]/p[i], alpha-1)
		}
		worst = max(worst, math.Log(max(there, back))/(alpha-1)/alpha)
	}
	return worst
}

// span returns the range of the log ratio of two laws.
func span(p, r []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range p {
		x := math.Log(p[i] / r[i])
		lo, hi = min(lo, x), max(hi, x)
	}
	return hi - lo
}

// databases returns all ascending lists of at most size values below cells.
func databases(size int, cells uint64) [][]uint64 {
	all := [][]uint64{{}}
	for from := 0; size > 0; size-- {
		to := len(all)
		for ; from < to; from++ {
			least := uint64(0)
			if d := all[from]; len(d) > 0 {
				least = d[len(d)-1]
			}
			for v := least; v < cells; v++ {
				all = append(all, append(slices.Clone(all[from]), v))
			}
		}
	}
	return all
}

// neighbours calls visit for every pair of neighbouring databases in which a person has up to
// values numbers.
func neighbours(all [][]uint64, cells uint64, values int, relation estimator.Relation, visit func(a, b []uint64)) {
	for _, d := range all {
		for _, own := range databases(values, cells)[1:] {
			a := slices.Sorted(slices.Values(append(slices.Clone(d), own...)))
			if relation == estimator.AddRemove {
				visit(a, d)
				continue
			}
			for _, other := range databases(values, cells) {
				visit(a, slices.Sorted(slices.Values(append(slices.Clone(d), other...))))
			}
		}
	}
}

var relations = []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne}

// TestQuantileLossByEnumeration compares the laws on every pair of tiny neighbours with the loss
// and with the range of the log ratio that proves it, and finds the pair where the range is
// attained.
func TestQuantileLossByEnumeration(t *testing.T) {
	const rho, cells = 0.3, 4
	for _, f := range [][2]int64{{1, 2}, {1, 4}, {6827, 10000}} {
		for _, relation := range relations {
			for values := 1; values <= 2; values++ {
				q := NewQuantile(f[0], f[1], int64(values), rho, relation)
				wide, loss := 0.0, 0.0
				check := func(q Quantile, relation estimator.Relation) {
					wide, loss = 0, 0
					neighbours(databases(3, cells), cells, values, relation, func(a, b []uint64) {
						p, r := law(q, a, 0, cells-1), law(q, b, 0, cells-1)
						wide, loss = max(wide, span(p, r)), max(loss, divergence(p, r))
					})
				}
				check(q, relation)
				if limit := 2 * q.rate * float64(q.change); wide > limit*(1+1e-9) || values == 1 && f[1] == 2 && wide < limit*(1-1e-9) {
					t.Errorf("%v, %v, %d values: the log ratio spans %v of %v", f, relation, values, wide, limit)
				}
				if loss > rho {
					t.Errorf("%v, %v, %d values: loss %v of %v", f, relation, values, loss, rho)
				}
				check(newQuantile(f[0], f[1], 4*rho, float64(q.change), q.change), relation)
				if loss <= rho {
					t.Errorf("%v, %v, %d values: twice the rate passed", f, relation, values)
				}
			}
			if relation == estimator.ReplaceOne && f[1] == 2 {
				wrong := NewQuantile(f[0], f[1], 1, rho, estimator.AddRemove)
				worst := 0.0
				neighbours(databases(3, cells), cells, 1, relation, func(a, b []uint64) {
					worst = max(worst, divergence(law(wrong, a, 0, cells-1), law(wrong, b, 0, cells-1)))
				})
				if worst <= rho {
					t.Error("the sensitivity of add-remove passed under replace-one")
				}
			}
		}
	}
}

// TestFullestLossByEnumeration does the same for the fullest bucket.
func TestFullestLossByEnumeration(t *testing.T) {
	const rho, buckets = 0.3, 4
	shares := func(rate float64, data []uint64) []float64 {
		p, sum := make([]float64, buckets), 0.0
		for _, b := range data {
			p[b]++
		}
		for i := range p {
			p[i] = math.Exp(rate * p[i])
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	for _, relation := range relations {
		f := NewFullest(buckets, rho, relation)
		loss, broken := 0.0, 0.0
		neighbours(databases(3, buckets), buckets, 1, relation, func(a, b []uint64) {
			loss = max(loss, divergence(shares(f.rate, a), shares(f.rate, b)))
			broken = max(broken, divergence(shares(2*f.rate, a), shares(2*f.rate, b)))
		})
		if loss > rho || loss < rho/4 {
			t.Errorf("%v: loss %v of %v", relation, loss, rho)
		}
		if broken <= rho {
			t.Errorf("%v: twice the rate passed", relation)
		}
	}
}

// joint returns the law of all answers of a tree without ties' bits, by the definition.
func joint(n *node, values []uint64, lo, hi, cells uint64) map[uint64]float64 {
	if n == nil {
		return map[uint64]float64{0: 1}
	}
	out := map[uint64]float64{}
	for i, p := range law(n.q, values, lo, hi) {
		v := lo + uint64(i)
		split, _ := slices.BinarySearch(values, v+1)
		left := joint(n.left, values[:split], lo, v, cells)
		right := joint(n.right, values[split:], min(v+1, hi), hi, cells)
		for a, x := range left {
			for b, y := range right {
				out[(a*(cells+1)+v+1)*uint64(math.Pow(float64(cells+1), float64(n.right.size())))+b] += p * x * y
			}
		}
	}
	return out
}

// TestManyLossByEnumeration computes the law of three quantiles at once on every pair of tiny
// neighbours.
func TestManyLossByEnumeration(t *testing.T) {
	const rho, cells = 0.5, 4
	fractions := [][2]int64{{1, 4}, {1, 2}, {9, 10}}
	worst := func(m *Many, relation estimator.Relation) float64 {
		laws, loss := map[string][]float64{}, 0.0
		of := func(d []uint64) []float64 {
			key := string(encode(d))
			if laws[key] == nil {
				all, p := joint(m.root, d, 0, cells-1, cells), []float64(nil)
				for k := range uint64(math.Pow(cells+1, 3)) {
					if x, ok := all[k]; ok {
						p = append(p, x)
					}
				}
				laws[key] = p
			}
			return laws[key]
		}
		neighbours(databases(4, cells), cells, 1, relation, func(a, b []uint64) { loss = max(loss, divergence(of(a), of(b))) })
		return loss
	}
	for _, relation := range relations {
		loss := worst(NewMany(fractions, cells, 1, rho, relation), relation)
		t.Logf("%v: %.3f of the loss", relation, loss/rho)
		if loss > rho {
			t.Errorf("%v: loss %v of %v", relation, loss, rho)
		}
		if worst(NewMany(fractions, cells, 1, 4*rho, relation), relation) <= rho {
			t.Errorf("%v: twice the rates passed", relation)
		}
	}
	if worst(NewMany(fractions, cells, 1, rho, estimator.AddRemove), estimator.ReplaceOne) <= rho {
		t.Error("the rates of add-remove passed under replace-one")
	}
}

func encode(d []uint64) []byte {
	b := make([]byte, len(d))
	for i, v := range d {
		b[i] = byte(v)
	}
	return b
}

// TestReplacementsOfManyValues checks the inequality behind NewMany on random vectors: Σ f_i² ≤ M².
func TestReplacementsOfManyValues(t *testing.T) {
	r := rand.New(stattest.Source(t, "replacements"))
	for range 100000 {
		m := 1 + r.IntN(5)
		lost, gained := make([]float64, 3), make([]float64, 3)
		for range r.IntN(m + 1) {
			lost[r.IntN(3)]++
		}
		for range r.IntN(m + 1) {
			gained[r.IntN(3)]++
		}
		cost := 0.0
		for i := range lost {
			d := 0.5 + r.Float64()/2
			move := min(lost[i], gained[i]) + math.Abs(lost[i]-gained[i])*d
			cost += math.Pow(move/max(1, math.Sqrt2*d), 2)
		}
		if cost > float64(m*m)*(1+1e-12) {
			t.Fatalf("lost %v, gained %v of %d: %v", lost, gained, m, cost)
		}
	}
}

// TestPowersAreExactEnough compares powers with e^{-rate·k} from a series at twice the precision.
func TestPowersAreExactEnough(t *testing.T) {
	r := rand.New(stattest.Source(t, "powers"))
	unit := new(big.Float).SetMantExp(big.NewFloat(1), -192)
	for _, rate := range []float64{1e-15, 3e-8, 0.011, 0.7, 5, 130, 1400} {
		p := newPowers(rate)
		for range 60 {
			k := r.Uint64() >> (1 + r.UintN(63))
			if r.IntN(2) == 0 {
				k = uint64(r.Float64() * 140 / rate)
			}
			got := new(big.Float).SetPrec(700)
			for i, w := range p.at(k) {
				got.Add(got, new(big.Float).SetMantExp(new(big.Float).SetPrec(64).SetUint64(w), 64*i-192))
			}
			x := new(big.Float).SetPrec(700).SetFloat64(rate)
			x.Mul(x, new(big.Float).SetUint64(k))
			diff := got.Sub(got, exact(x))
			if off, _ := diff.Quo(diff.Abs(diff), unit).Float64(); off > 1<<13 {
				t.Errorf("rate %v, k = %d: off by %v units", rate, k, off)
			}
		}
	}
}

// exact returns e^{-x}, by a long series for e^{x/2^s} and its reciprocal.
func exact(x *big.Float) *big.Float {
	if x.Cmp(big.NewFloat(5000)) > 0 {
		return new(big.Float)
	}
	const s = 20
	y := new(big.Float).SetMantExp(x, -s)
	sum, term := new(big.Float).SetPrec(700).SetInt64(1), new(big.Float).SetPrec(700).SetInt64(1)
	for i := int64(1); i < 120; i++ {
		term.Mul(term, y).Quo(term, new(big.Float).SetInt64(i))
		sum.Add(sum, term)
	}
	for range s {
		sum.Mul(sum, sum)
	}
	return sum.Quo(new(big.Float).SetPrec(700).SetInt64(1), sum)
}
