package person

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/firstpasstest"
	"scrim/test/stattest"
)

// variant is one set of options in the tests of all means.
type variant struct {
	name string
	p    Params // without loss, relation and dimension
}

func variants() []variant {
	open := estimator.Params{Grid: estimator.Grid{Step: 0x1p-10, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}
	one, bounded := open, open
	one.MaxRows = 1
	bounded.Lower, bounded.Upper = new(int64), new(int64)
	*bounded.Lower, *bounded.Upper = -40, 100
	return []variant{
		{"full", Params{Params: open}},
		{"one row", Params{Params: one}},
		{"bounded", Params{Params: bounded, Moment: 2}},
		{"declared", Params{Params: open, Radius: 3, Sigma: 0.1, SigmaK: 0.2, Rows: 7}},
		{"threaded", Params{Params: open, Stages: Threaded, Moment: 2, Rows: 50}},
		{"single", Params{Params: open, Stages: Single, Sigma: 0.5}},
		{"thirds", Params{Params: open, Split: Persons}},
		{"single thirds", Params{Params: one, Stages: Single, Split: Persons, SigmaK: 1}},
	}
}

// relations are the three cases that estimators tell apart.
var relations = []struct {
	relation estimator.Relation
	sized    bool
}{{estimator.AddRemove, false}, {estimator.ReplaceOne, false}, {estimator.ReplaceOne, true}}

// at builds a variant at a loss: ρ, or ε where pure.
func (v variant) at(t testing.TB, dim int, loss float64, pure bool, relation estimator.Relation, sized bool) mean {
	t.Helper()
	p := v.p
	p.Dim, p.Relation, p.Sized = dim, relation, sized
	if pure {
		p.Epsilon = loss
	} else {
		p.Rho = loss
	}
	e, err := NewMean(p)
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	return e.(mean)
}

// recorder records queries, forces their answers and gives scripted secret bits. Laplace queries
// are kept beside the Gaussian ones, with the scale's square as the variance: a release has one
// kind only.
type recorder struct {
	*stattest.Recorder
	words   []uint64
	laplace bool
}

// Uniform implements noise.Noiser.
func (s *recorder) Uniform() uint64 {
	if len(s.words) == 0 {
		return 0
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// Laplace implements noise.Noiser. The scale, rounded to a 2^-40th, stands for the variance: both
// sides of a pair round alike.
func (s *recorder) Laplace(v, num, den *big.Int) *big.Int {
	s.laplace = true
	t := new(big.Int).Lsh(num, 40)
	return s.Recorder.Gaussian(v, t.Quo(t, den))
}

// loss is the loss between two runs with the same answers: Σ (v−v')²/(2σ²), or Σ |v−v'|/t.
func (s *recorder) loss(t testing.TB, other *recorder) *big.Rat {
	a, b := changed(t, s.Recorder, other.Recorder)
	if !s.laplace {
		return stattest.Loss(t, a, b)
	}
	total := new(big.Rat)
	for i, q := range a.Queries {
		if q.Sigma2.Cmp(b.Queries[i].Sigma2) != 0 {
			t.Fatalf("query %d: noise depends on data", i)
		}
		d := new(big.Int).Sub(q.Value, b.Queries[i].Value)
		total.Add(total, new(big.Rat).SetFrac(d.Abs(d).Lsh(d, 40), q.Sigma2))
	}
	return total
}

// changed leaves out the queries that two runs have in common.
func changed(t testing.TB, a, b *stattest.Recorder) (x, y *stattest.Recorder) {
	if len(a.Queries) != len(b.Queries) {
		t.Fatalf("%d queries against %d: the number of queries depends on data", len(a.Queries), len(b.Queries))
	}
	x, y = new(stattest.Recorder), new(stattest.Recorder)
	for i, q := range a.Queries {
		if r := b.Queries[i]; q.Value.Cmp(r.Value) != 0 || q.Sigma2.Cmp(r.Sigma2) != 0 {
			x.Queries, y.Queries = append(x.Queries, q), append(y.Queries, r)
		}
	}
	return x, y
}

// choices stands for the exponential mechanism, whose law is tested where it is: it takes random
// buckets, the same on both sides, and adds up the loss of the choices whose counts differ.
type choices struct {
	r      *rand.Rand
	seen   [][]uint64
	forced []uint64
	shares []float64 // loss of each choice
	again  int       // of a replay: the next choice
	replay bool
	worst  int // buckets by which counts differed at most
}

func (c *choices) of(l law, buckets uint64, loss float64) chooser {
	share := loss / float64(l.dim)
	return chooserFunc(func(sorted []uint64) uint64 {
		if c.replay {
			return c.forced[c.check(sorted)]
		}
		k := c.r.Uint64N(buckets)
		if len(sorted) > 0 && c.r.IntN(3) > 0 {
			k = sorted[c.r.IntN(len(sorted))]
		}
		c.seen, c.forced, c.shares = append(c.seen, slices.Clone(sorted)), append(c.forced, k), append(c.shares, share)
		return k
	})
}

// check compares the next choice's persons with those of the first run: the loss counts only where
// they differ.
func (c *choices) check(sorted []uint64) int {
	i := c.again
	c.again++
	if d := differ(c.seen[i], sorted); d == 0 {
		c.shares[i] = 0
	} else {
		c.worst = max(c.worst, d)
	}
	return i
}

// differ is Σ_b |count − count'| of two sorted lists.
func differ(a, b []uint64) int {
	d := 0
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			a, d = a[1:], d+1
		case len(a) == 0 || b[0] < a[0]:
			b, d = b[1:], d+1
		default:
			a, b = a[1:], b[1:]
		}
	}
	return d
}

type chooserFunc func([]uint64) uint64

func (f chooserFunc) choose(_ noise.Noiser, _ estimator.Memory, sorted []uint64) (uint64, bool) {
	return f(sorted), true
}

// words returns the secret bits of a release and of its neighbour's, which lacks person gone, or
// nobody: a matching, then a coin a person.
func (m mean) words(r *rand.Rand, persons, gone int) (full, less []uint64) {
	if m.p.learnsSpread() {
		full, less = firstpasstest.Matchings(r, 2, persons, gone)
		full, less = slices.Clone(full), slices.Clone(less)
	}
	var coins, rest []uint32
	for i := range persons {
		coins = append(coins, r.Uint32())
		if i != gone {
			rest = append(rest, coins[i])
		}
	}
	return append(full, firstpasstest.Coins(coins)...), append(less, firstpasstest.Coins(rest)...)
}

// forced gives answers that lead a release down many branches: the truth, the truth with noise, far
// off, or histograms with a few full buckets. The number of persons looks large.
func forced(r *rand.Rand, n noise.Noiser, count int64, counted bool) func(int, *big.Int, *big.Int) *big.Int {
	style, from := r.IntN(5), r.IntN(300)
	return func(i int, value, sigma2 *big.Int) *big.Int {
		switch {
		case i == 0 && counted:
			return big.NewInt(count)
		case style == 0:
			return value
		case style == 1 || style == 2 && r.IntN(3) > 0:
			return n.Gaussian(value, sigma2)
		case style >= 3 && i%(from+1) > 3:
			return new(big.Int)
		}
		far := new(big.Int).Lsh(sigma2, 6)
		if r.IntN(2) == 0 && style < 3 {
			far.Neg(far)
		}
		return far
	}
}

// worst returns the largest loss of neighbours with the same answers and choices forced on both
// sides, over random tiny databases. It stops when a loss is over enough, if that is not nil.
func (v variant) worst(t *testing.T, m mean, tries int, enough *big.Rat) *big.Rat {
	name := fmt.Sprint(v.name, m.law, m.p.Sized)
	r, n, worst := rand.New(stattest.Source(t, name)), stattest.Noiser(t, name), new(big.Rat)
	count := m.least
	for i := 0; i < tries && (enough == nil || worst.Cmp(enough) <= 0); i++ {
		persons := 1 + r.IntN(5)
		b := small(r, persons, m.p.Dim, m.p.MaxRows == 1)
		k := r.IntN(persons)
		other, gone := neighbour(b, nil, k), k
		if m.p.Relation == estimator.ReplaceOne && (m.p.Sized || r.IntN(3) > 0) {
			other, gone = neighbour(b, small(r, persons, m.p.Dim, m.p.MaxRows == 1), k), -1
		}
		full, less := m.words(r, persons, gone)
		c := &choices{r: r}
		m.pick = c.of
		run := func(rec *stattest.Recorder, words []uint64, b *estimator.Block) *recorder {
			s, e := &recorder{Recorder: rec, words: words}, m
			if e.p.Sized {
				e.least = 0 // the searches use the true number inside their queries
				e.release(s, b, float64(count))
			} else {
				e.Release(s, estimator.Input{Persons: b.Persons(), Vectors: b})
			}
			return s
		}
		count = m.least << r.IntN(10)
		one := run(&stattest.Recorder{Answer: forced(r, n, count, !m.p.Sized)}, full, b)
		c.replay = true
		two := run(one.Replay(t), less, other)
		l := one.loss(t, two)
		for _, share := range c.shares {
			l.Add(l, new(big.Rat).SetFloat64(share))
		}
		if most := int(m.p.Relation.Factor()); c.worst > most {
			t.Fatalf("%s: a person changes a choice's counts by %d, want %d at most", v.name, c.worst, most)
		}
		if l.Cmp(worst) > 0 {
			worst = l
		}
	}
	return worst
}

// TestOnePersonMovesTheQueriesWithinTheLoss is the soundness test of all means, under both
// relations and both laws. It must reject an estimator that was built for three times the loss.
func TestOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	for _, v := range variants() {
		for _, rel := range relations {
			for _, pure := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s,%v,sized=%v,pure=%v", v.name, rel.relation, rel.sized, pure), func(t *testing.T) {
					loss, worst := 0.05, new(big.Rat)
					if pure {
						loss = 0.5
					}
					for _, dim := range []int{1, 3, 5} {
						if l := v.worst(t, v.at(t, dim, loss, pure, rel.relation, rel.sized), 40, nil); l.Cmp(worst) > 0 {
							worst = l
						}
					}
					declared := new(big.Rat).SetFloat64(loss)
					ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
					t.Logf("worst branch uses %.3f of the declared loss", ratio)
					if worst.Cmp(declared) > 0 {
						t.Errorf("a person moves the queries by %v of the declared loss", ratio)
					}
					broken := v.at(t, 3, 3*loss, pure, rel.relation, rel.sized)
					if l := v.worst(t, broken, 400, declared); l.Cmp(declared) <= 0 {
						t.Error("an estimator with a third of the noise passed")
					}
				})
			}
		}
	}
}
