package vector

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
	"scrim/test/firstpasstest"
	"scrim/test/stattest"
)

// method is one method with its options in the tests of all dense means.
type method struct {
	name   string
	p      Params // without Rho, Relation and Dim
	signs  bool   // draws a sign a coordinate
	groups []int  // sizes of the matched groups, in order
}

func denseMethods() []method {
	open := estimator.Params{Grid: estimator.Grid{Step: 0x1p-10, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}
	one, positive, bounded := open, open, open
	one.MaxRows, positive.Grid.Lo = 1, 0
	open.Grid.Lo, open.Grid.Hi = -1<<24, 1<<24
	bounded.Lower, bounded.Upper = new(int64), new(int64)
	*bounded.Lower, *bounded.Upper = -40, 100
	pair := []int{2}
	return []method{
		{name: "clipped", p: Params{Params: open, Method: Clipped}},
		{name: "clipped positive", p: Params{Params: positive, Method: Clipped}},
		{name: "clipped bounded", p: Params{Params: bounded, Method: Clipped, Tail: SqrtN}},
		{name: "shifted", p: Params{Params: open, Method: Shifted}, groups: pair},
		{name: "shifted one row", p: Params{Params: one, Method: Shifted}, groups: pair},
		{name: "shifted sqrt n", p: Params{Params: bounded, Method: Shifted, Tail: SqrtN}, groups: pair},
		{name: "shifted tails", p: Params{Params: open, Method: Shifted, Clip: Tails}, groups: pair},
		{name: "plan tails", p: Params{Params: one, Method: Plan, Clip: Tails}, groups: pair},
		{name: "shifted declared", p: Params{Params: open, Method: Shifted, Radius: 1, SigmaMin: 0.5, SigmaMax: 3}},
		{name: "rotated", p: Params{Params: open, Method: Shifted, Rotate: true}, signs: true, groups: pair},
		{name: "rotated declared", p: Params{Params: one, Method: Shifted, Rotate: true, Radius: 1, SigmaMin: 0.5, SigmaMax: 3}, signs: true},
		{name: "plan", p: Params{Params: open, Method: Plan}, groups: pair},
		{name: "plan p=1", p: Params{Params: bounded, Method: Plan, P: 1}, groups: pair},
		{name: "plan pairs", p: Params{Params: one, Method: Plan, Scale: Pairs}, groups: []int{2, 2}},
		{name: "plan two pairs", p: Params{Params: open, Method: Plan, Scale: Pairs, Pairs: 2}, groups: []int{2, 4}},
		{name: "plan declared", p: Params{Params: open, Method: Plan, Scale: Declared, Sigma: []float64{2}}},
		{name: "plan unscaled", p: Params{Params: open, Method: Plan, Scale: Unscaled}, groups: pair},
		{name: "plan relative", p: Params{Params: open, Method: Plan, Relative: true}, groups: pair},
		{name: "auto", p: Params{Params: open}, groups: pair},
		{name: "auto positive", p: Params{Params: positive}, groups: pair},
	}
}

func (m method) params(dim int, rho float64, relation estimator.Relation, sized bool) Params {
	p := m.p
	p.Dim, p.Rho, p.Relation, p.Sized = dim, rho, relation, sized
	return p
}

func (m method) at(t testing.TB, p Params) mean {
	t.Helper()
	e, err := NewMean(p)
	if err != nil {
		t.Fatalf("%s: %v", m.name, err)
	}
	return e.(mean)
}

// scripted is a Recorder whose secret bits are given.
type scripted struct {
	*stattest.Recorder
	words []uint64
}

// Uniform implements noise.Noiser.
func (s *scripted) Uniform() uint64 {
	if len(s.words) == 0 {
		return 0
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// words returns the secret bits of a release of so many persons, and of those that are left when
// person gone has left: in order the first matching, the coins of a sample, the signs, the other
// matchings. gone < 0: nobody leaves.
func (m method) words(r *rand.Rand, dim, persons, gone int, coin uint64) (full, less []uint64) {
	first := min(1, len(m.groups))
	m.matchings(r, m.groups[:first], persons, gone, &full, &less)
	if coin < firstpass.CoinSides {
		var coins, rest []bool
		kept, place := 0, -1
		for i := range persons {
			keep := r.IntN(3) > 0
			coins = append(coins, keep)
			if i != gone {
				rest = append(rest, keep)
			} else if keep {
				place = kept
			}
			if keep {
				kept++
			}
		}
		full, less = append(full, firstpasstest.Kept(coins, coin)...), append(less, firstpasstest.Kept(rest, coin)...)
		persons, gone = kept, place
	}
	for j := 0; m.signs && j < dim; j++ {
		sign := r.Uint64()
		full, less = append(full, sign), append(less, sign)
	}
	m.matchings(r, m.groups[first:], persons, gone, &full, &less)
	return full, less
}

// matchings draws groups on both sides, coupled so that one group differs
// (docs/proofs/matching.md).
func (m method) matchings(r *rand.Rand, sizes []int, persons, gone int, full, less *[]uint64) {
	for _, size := range sizes {
		words, rest := firstpasstest.Matchings(r, size, persons, gone)
		*full, *less = append(*full, words...), append(*less, rest...)
	}
}

// farPersons are the coordinates and rows of tiny databases.
var farPersons = []int64{0, 0, 1, -1, 5, -7, 100, 1 << 20, -1 << 33, estimator.MaxUnits, -estimator.MaxUnits, math.MaxInt64, math.MinInt64}

// smallBlock draws a block of persons.
func (m method) smallBlock(r *rand.Rand, persons, dim int) *estimator.Block {
	ch := estimator.Chunk{Persons: persons, Dense: make([]int64, persons*dim)}
	wide := r.IntN(2) == 0
	for i := range ch.Dense {
		switch {
		case r.IntN(4) == 0:
		case wide && r.IntN(2) == 0:
			ch.Dense[i] = farPersons[r.IntN(len(farPersons))]
		default:
			ch.Dense[i] = r.Int64N(64) - 32
		}
	}
	if m.p.MaxRows != 1 {
		for range persons {
			ch.Rows = append(ch.Rows, []int64{1, 1, 2, 3, 1 << 40}[r.IntN(5)])
		}
	}
	return &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{ch}}
}

// without returns the block less one person.
func without(b *estimator.Block, k int) *estimator.Block {
	ch := b.Chunks[0]
	out := estimator.Chunk{Persons: ch.Persons - 1}
	out.Dense = append(append([]int64{}, ch.Dense[:k*b.Dim]...), ch.Dense[(k+1)*b.Dim:]...)
	if ch.Rows != nil {
		out.Rows = append(append([]int64{}, ch.Rows[:k]...), ch.Rows[k+1:]...)
	}
	return &estimator.Block{Dim: b.Dim, Chunks: []estimator.Chunk{out}}
}

// exchanged returns the block with one person's rows taken from another block.
func exchanged(b, from *estimator.Block, k int) *estimator.Block {
	ch, other := b.Chunks[0], from.Chunks[0]
	out := estimator.Chunk{Persons: ch.Persons, Dense: append([]int64{}, ch.Dense...)}
	copy(out.Dense[k*b.Dim:(k+1)*b.Dim], other.Dense[k*b.Dim:])
	if ch.Rows != nil {
		out.Rows = append([]int64{}, ch.Rows...)
		out.Rows[k] = other.Rows[k]
	}
	return &estimator.Block{Dim: b.Dim, Chunks: []estimator.Chunk{out}}
}

// forcedAnswers gives answers that lead a release down many branches: the truth, the truth with
// noise, far off, or histograms with a few full buckets, so that radii of any size are met. The
// number of persons looks large.
func forcedAnswers(r *rand.Rand, n noise.Noiser, count int64, counted bool) func(int, *big.Int, *big.Int) *big.Int {
	style, from := r.IntN(5), r.IntN(900)
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

// sampling returns a core that takes samples of a size.
func sampling(c core, size float64) core {
	switch c := c.(type) {
	case dense:
		c.sizes = sizes{size, size, size}
		return c
	case auto:
		c.cores = append([]core{sampling(c.cores[0], size)}, c.cores[1:]...)
		return c
	}
	return c
}

// coinOf is the coin of a core's sample.
func coinOf(c core, count float64) uint64 {
	switch c := c.(type) {
	case dense:
		if c.sampled(count) {
			return firstpass.Sides(c.sizes.centre, count)
		}
	case auto:
		return coinOf(c.cores[0], count)
	}
	return firstpass.CoinSides
}

// worst returns the largest loss of neighbours with the same answers forced on both sides, over
// random tiny databases. Where the number of persons is public the core is run, with any number;
// the searches use the true one inside their queries. It stops when a loss is over enough, if that
// is not nil.
func (m method) worst(t *testing.T, e mean, dim, tries int, enough *big.Rat) *big.Rat {
	name := fmt.Sprint(m.name, e.p.Relation, e.p.Sized, dim)
	r, n := rand.New(stattest.Source(t, name)), stattest.Noiser(t, name)
	worst := new(big.Rat)
	e.core = sampling(e.core, float64(3*e.MinPersons()))
	for i := 0; i < tries && (enough == nil || worst.Cmp(enough) <= 0); i++ {
		persons := 1 + r.IntN(5)
		b := m.smallBlock(r, persons, dim)
		count := e.MinPersons() << r.IntN(8)
		answer := forcedAnswers(r, n, count, !e.p.Sized)
		run := func(rec *stattest.Recorder, words []uint64, b *estimator.Block) *stattest.Recorder {
			s := &scripted{rec, words}
			if e.p.Sized {
				e.core.release(s, e.p.group(b), float64(count))
			} else {
				e.Release(s, estimator.Input{Persons: b.Persons(), Vectors: b})
			}
			return rec
		}
		k := r.IntN(persons)
		other, gone := without(b, k), k
		if e.p.Relation == estimator.ReplaceOne && (e.p.Sized || r.IntN(3) > 0) {
			other, gone = exchanged(b, m.smallBlock(r, persons, dim), k), -1
		}
		full, less := m.words(r, dim, persons, gone, coinOf(e.core, float64(count)))
		rec := run(&stattest.Recorder{Answer: answer}, full, b)
		if l := stattest.Loss(changed(t, rec, run(rec.Replay(t), less, other))); l.Cmp(worst) > 0 {
			worst = l
		}
		if t.Failed() {
			t.Fatalf("database %+v without or with another %d", b.Chunks, k)
		}
	}
	return worst
}

// changed leaves out the queries that two runs have in common, most of them counts of empty
// buckets.
func changed(t testing.TB, a, b *stattest.Recorder) (testing.TB, *stattest.Recorder, *stattest.Recorder) {
	if len(a.Queries) != len(b.Queries) {
		return t, a, b
	}
	var x, y stattest.Recorder
	for i, q := range a.Queries {
		if r := b.Queries[i]; q.Value.Cmp(r.Value) != 0 || q.Sigma2.Cmp(r.Sigma2) != 0 {
			x.Queries, y.Queries = append(x.Queries, q), append(y.Queries, r)
		}
	}
	return t, &x, &y
}

// TestOnePersonMovesTheQueriesWithinTheLoss is the soundness test of all dense means, under both
// relations. It must reject an estimator that was built for three times the loss.
func TestOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	const rho = 0.05
	for _, m := range denseMethods() {
		for _, rel := range []struct {
			relation estimator.Relation
			sized    bool
		}{{estimator.AddRemove, false}, {estimator.ReplaceOne, false}, {estimator.ReplaceOne, true}} {
			t.Run(fmt.Sprintf("%s,%v,sized=%v", m.name, rel.relation, rel.sized), func(t *testing.T) {
				worst := new(big.Rat)
				for _, dim := range []int{1, 3, 5} {
					e := m.at(t, m.params(dim, rho, rel.relation, rel.sized))
					if l := m.worst(t, e, dim, 24, nil); l.Cmp(worst) > 0 {
						worst = l
					}
				}
				declared := new(big.Rat).SetFloat64(rho)
				ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
				t.Logf("worst branch uses %.3f of the declared loss", ratio)
				if worst.Cmp(declared) > 0 {
					t.Errorf("a person moves the queries by %v of the declared loss", ratio)
				}
				broken := m.at(t, m.params(3, 3*rho, rel.relation, rel.sized))
				if l := m.worst(t, broken, 3, 400, declared); l.Cmp(declared) <= 0 {
					t.Error("an estimator with a third of the noise variance passed")
				}
			})
		}
	}
}

// TestTheNumberOfPersonsIsNotFree: under replace-one the number of persons may take as much as one
// who comes or goes leaves of the other steps' loss, and no more.
func TestTheNumberOfPersonsIsNotFree(t *testing.T) {
	const rho = 0.05
	declared := new(big.Rat).SetFloat64(rho)
	for _, m := range denseMethods() {
		if m.name != "clipped positive" && m.name != "shifted" && m.name != "auto" {
			continue
		}
		e := m.at(t, m.params(1, rho, estimator.ReplaceOne, false))
		e.count.Persons = scalar.CoveredPersons(rho, 0)
		if m.worst(t, e, 1, 400, declared).Cmp(declared) <= 0 {
			t.Errorf("%s: a number of persons at the whole loss passed", m.name)
		}
	}
}
