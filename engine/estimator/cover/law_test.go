package cover

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"scrim/test/stattest"
)

// lists returns all lists of n numbers out of values.
func lists(n int, values []int64) [][]int64 {
	all := [][]int64{{}}
	for range n {
		var longer [][]int64
		for _, l := range all {
			for _, v := range values {
				longer = append(longer, append(slices.Clone(l), v))
			}
		}
		all = longer
	}
	return all
}

// exchanges returns, by the definition, the least number of entries to change in y so that loses
// holds: over all lists, the least distance to one of those.
func exchanges(y []int64, all [][]int64, loses func([]int64) bool) int64 {
	best := int64(math.MaxInt64)
	for _, other := range all {
		d := int64(0)
		for i := range y {
			if y[i] != other[i] {
				d++
			}
		}
		if d < best && loses(other) {
			best = d
		}
	}
	return best
}

// TestScoreIsTheDistance compares the score of a position with its definition on every list of four
// projections, ties and far ones among them, and so with a Hamming distance, whose sensitivity is
// 1.
func TestScoreIsTheDistance(t *testing.T) {
	values := []int64{-100, -6, -5, -1, 0, 2, 5, 7, 100}
	all := lists(4, values)
	for _, c := range []struct{ at, reach, threshold int64 }{{0, 5, 2}, {1, 6, 5}, {-7, 3, 1}, {2, 98, 30}, {94, 6, 3}} {
		z := func(y []int64) (sum int64) {
			for _, v := range y {
				sum += min(max(v-c.at, -c.reach), c.reach)
			}
			return sum
		}
		if z([]int64{100, 100, 100, 100}) < 4*c.threshold || z([]int64{-100, -100, -100, -100}) > -4*c.threshold {
			t.Fatalf("%+v: the values do not reach both ends", c)
		}
		for k := 0; k < len(all); k += 7 {
			y := all[k]
			want := exchanges(y, all, func(o []int64) bool { s := z(o); return s >= 4*c.threshold || -s >= 4*c.threshold })
			if got := newLine(slices.Clone(y)).score(c.at, c.reach, c.threshold); got != want {
				t.Fatalf("%+v, %v: score %d, want %d", c, y, got, want)
			}
		}
	}
}

// tiny is a cover of a few candidates for persons at a few points.
func tiny(dim int, eps float64) plan {
	p := plan{facts: facts{dim: dim, persons: 3, lo: -3, hi: 3}, loss: eps, side: 2, top: 3}
	p.directions, p.sub = shapes(dim)
	p.tick = 1 / float64(ticks*p.sub)
	p.reach, p.threshold = 160*p.sub, 50*p.sub
	p.cells = 3 * p.side * p.sub
	return p
}

// law returns the weight of every candidate, and the sum of all, for persons at x. broken changes
// the scores, where it is not nil.
func (p plan) law(x points, w weights, broken func(int32) int32) ([]*big.Int, *big.Int) {
	c := p.newCover(x, make([]int64, p.dim))
	var of []*big.Int
	w.each(2*p.top, func(_ int, weight *big.Int) bool { of = append(of, new(big.Int).Set(weight)); return true })
	var out []*big.Int
	sum, scores := new(big.Int), make([]int32, c.row())
	for j := range c.rows() {
		if !c.fill(scores, j) {
			clear(scores)
		}
		for _, s := range scores {
			if broken != nil {
				s = broken(s)
			}
			out = append(out, of[s])
			sum.Add(sum, of[s])
		}
	}
	return out, sum
}

// worstRatio returns the largest quotient of the probabilities of a candidate in two neighbours of
// three persons, over all neighbours.
func worstRatio(p plan, w weights, broken func(int32) int32) *big.Rat {
	type law struct {
		weights []*big.Int
		sum     *big.Int
	}
	coordinates := []int64{-3, 0, 2}
	var people [][2]int64
	for _, a := range coordinates {
		for _, b := range coordinates {
			if p.dim == 2 || b == 0 {
				people = append(people, [2]int64{a, b})
			}
		}
	}
	laws := map[[3]int]law{}
	of := func(a, b, c int) law {
		key := [3]int{a, b, c}
		slices.Sort(key[:])
		l, ok := laws[key]
		if !ok {
			x := make(points, p.dim)
			for j := range x {
				x[j] = []int64{people[a][j], people[b][j], people[c][j]}
			}
			l.weights, l.sum = p.law(x, w, broken)
			laws[key] = l
		}
		return l
	}
	worst, l, r := new(big.Rat), new(big.Int), new(big.Int)
	for a := range people {
		for b := a; b < len(people); b++ {
			for c := range people {
				for d := range people {
					x, y := of(a, b, c), of(a, b, d)
					best := 0
					for i := range x.weights {
						if p, q := x.weights[i], y.weights[best]; l.Mul(p, q).Cmp(r.Mul(x.weights[best], y.weights[i])) > 0 {
							best = i
						}
					}
					q := new(big.Rat).SetFrac(l.Mul(x.weights[best], y.sum), r.Mul(y.weights[best], x.sum))
					if q.Cmp(worst) > 0 {
						worst = q
					}
				}
			}
		}
	}
	return worst
}

// TestLossByEnumeration computes the law of the draw exactly on every pair of tiny neighbours: no
// probability changes by more than e^ε. Weights for twice the loss, and scores that one person
// moves by two, are found out.
func TestLossByEnumeration(t *testing.T) {
	const eps = 0.7
	limit, _ := expDown(eps).Rat(nil)
	for dim := 1; dim <= 2; dim++ {
		p := tiny(dim, eps)
		r := worstRatio(p, newWeights(eps), nil)
		if f, _ := r.Float64(); r.Cmp(limit) > 0 || math.Log(f) < eps/2 {
			t.Errorf("dimension %d: a loss of %.3f of %v", dim, math.Log(f), eps)
		}
		if worstRatio(p, newWeights(2*eps), nil).Cmp(limit) <= 0 {
			t.Errorf("dimension %d: twice the loss passed", dim)
		}
		if worstRatio(p, newWeights(eps), func(s int32) int32 { return 2 * s }).Cmp(limit) <= 0 {
			t.Errorf("dimension %d: doubled scores passed", dim)
		}
	}
}

// TestScoresMoveByOne does what TestLossByEnumeration does for the scores: they are 1-Lipschitz,
// and those of sums that are not clipped are not.
func TestScoresMoveByOne(t *testing.T) {
	most := func(p plan) (most int32) {
		all := lists(3, []int64{-3, -1, 0, 2, 3})
		table := map[[3]int64][]int32{}
		for _, y := range all {
			c := p.newCover(points{y}, []int64{0})
			table[[3]int64(y)] = c.scores[0]
		}
		for _, y := range all {
			for _, v := range []int64{-3, -1, 0, 2, 3} {
				a, b := table[[3]int64(y)], table[[3]int64{v, y[1], y[2]}]
				for i := range a {
					most = max(most, a[i]-b[i], b[i]-a[i])
				}
			}
		}
		return most
	}
	if m := most(tiny(1, 1)); m != 1 {
		t.Errorf("one person moves a score by %d", m)
	}
	// A score that counts in halves of the reach what is missing in the sum would be moved by four.
	y, z := newLine([]int64{-160, 0, 0}), newLine([]int64{160, 0, 0})
	missing := func(l line) int64 { return (3*50 - l.sums[3] + 79) / 80 }
	if d := missing(y) - missing(z); d <= 1 {
		t.Errorf("a broken score moves by %d only", d)
	}
}

// TestWeightsKeepTheirRatio: no weight is more than e^{ε/2} times the one before, or less than it,
// exactly.
func TestWeightsKeepTheirRatio(t *testing.T) {
	for _, eps := range []float64{0x1p-40, 1e-6, 0.1, 1, 7.3, maxEpsilon} {
		series, term := new(big.Rat).SetInt64(1), new(big.Rat).SetInt64(1)
		x := new(big.Rat).SetFloat64(eps / 2)
		for i := int64(1); i <= 200; i++ { // below e^{ε/2}, by 2^-400 at most
			term.Mul(term, x).Quo(term, new(big.Rat).SetInt64(i))
			series.Add(series, term)
			if term.Denom().BitLen() > 4000 { // keep it short, and below
				units := new(big.Int).Quo(new(big.Int).Lsh(term.Num(), 600), term.Denom())
				term.SetFrac(units, new(big.Int).Lsh(big.NewInt(1), 600))
			}
		}
		last := new(big.Int)
		newWeights(eps).each(400, func(s int, w *big.Int) bool {
			if s > 0 {
				r := new(big.Rat).SetFrac(w, last)
				if r.Cmp(series) > 0 || w.Cmp(last) < 0 {
					t.Fatalf("epsilon %v: weight %d is %v times the one before", eps, s, r.FloatString(20))
				}
				lower := new(big.Rat).Mul(r, big.NewRat(1<<62+1, 1<<62)) // and hardly less
				if lower.Cmp(series) < 0 {
					t.Fatalf("epsilon %v: weight %d has lost more than rounding", eps, s)
				}
			}
			last.Set(w)
			return true
		})
	}
}

// TestDrawFollowsTheWeights counts what is drawn, scores and ranks.
func TestDrawFollowsTheWeights(t *testing.T) {
	const eps, draws = 0.9, 40_000
	counts := []int64{5, 0, 3, 1, 0, 4, 0}
	var of []int // first cell of a score
	cells := 0
	for _, n := range counts {
		of = append(of, cells)
		cells += int(n)
	}
	shares, sum := make([]float64, cells), 0.0
	for s, n := range counts {
		for r := range n {
			shares[of[s]+int(r)] = math.Exp(eps / 2 * float64(s))
			sum += shares[of[s]+int(r)]
		}
	}
	for i := range shares {
		shares[i] /= sum
	}
	fit := func(eps float64) stattest.Fit {
		noiser, seen, w := stattest.Noiser(t, "draw"), make([]int64, cells), newWeights(eps)
		for range draws {
			s, r := w.draw(noiser, counts)
			seen[of[s]+int(r)]++
		}
		return stattest.ChiSquare("draw", seen, shares)
	}
	stattest.Accept(t, fit(eps))
	stattest.Reject(t, fit(0.7*eps))
	stattest.Reject(t, fit(1.3*eps))
}

// TestFindInvertsCounts finds every candidate by its score and rank once, in both dimensions.
func TestFindInvertsCounts(t *testing.T) {
	for dim := 1; dim <= 2; dim++ {
		p := tiny(dim, 1)
		x := make(points, dim)
		for j := range x {
			x[j] = []int64{1, 0, -2}
		}
		c := p.newCover(x, make([]int64, dim))
		seen, total := map[[2]int64]bool{}, int64(0)
		for s, n := range c.counts() {
			for r := range n {
				seen[c.find(s, r)] = true
			}
			total += n
		}
		if int64(len(seen)) != total || float64(total) != p.candidates() {
			t.Errorf("dimension %d: %d places for %d of %v candidates", dim, len(seen), total, p.candidates())
		}
	}
}
