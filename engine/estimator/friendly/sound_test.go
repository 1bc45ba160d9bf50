package friendly

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// kinds are the forms of the estimator in the tests of whole releases.
type kind struct {
	relation estimator.Relation
	sized    bool
	declared bool
	sampled  bool
}

func kinds() (all []kind) {
	for _, declared := range []bool{true, false} {
		for _, sampled := range []bool{false, true} {
			all = append(all, kind{estimator.AddRemove, false, declared, sampled},
				kind{estimator.ReplaceOne, false, declared, sampled}, kind{estimator.ReplaceOne, true, declared, sampled})
		}
	}
	return all
}

// near is a lattice of whole numbers within ±2^30.
var near = estimator.Params{MaxRows: 1, Grid: estimator.Grid{Step: 1, Lo: -1 << 30, Hi: 1 << 30}}

func (k kind) mean(t testing.TB, p Params, rho float64) mean {
	t.Helper()
	p.Rho, p.Relation, p.Sized = rho, k.relation, k.sized
	if k.declared {
		p.Sigma = []float64{300}
	}
	e, err := NewMean(p)
	if err != nil {
		t.Fatal(err)
	}
	return e.(mean)
}

// pair is a pair of neighbours, the last person of full missing or another in less, and a release
// of both on one branch.
type pair struct {
	e          mean
	kind       kind
	full, less [][]int64
	before     int // queries before the decisions
}

// steady is a Recorder whose secret bits match neighbours in the order of the persons, so that the
// last one is in one pair at most, and keep all in a sample.
type steady struct{ *stattest.Recorder }

// Uniform implements noise.Noiser.
func (steady) Uniform() uint64 { return 1 << 50 }

// run releases with answers by number of the query.
func (p pair) run(rows [][]int64, answer func(i int, v, s *big.Int) *big.Int) *stattest.Recorder {
	rec := &stattest.Recorder{Answer: answer}
	p.e.Release(steady{rec}, estimator.Input{Persons: int64(len(rows)), Vectors: blockOf(rows)})
	return rec
}

// loss forces the answers of the ideal mechanism: those who are bad are dropped, and no more than
// are kept seem kept. It adds up what the queries of both sides have in common.
func (p pair) loss(t *testing.T, r *rand.Rand) *big.Rat {
	counts := 0
	if !p.kind.sized {
		counts = 1
		if p.kind.sampled {
			counts = 2
		}
	}
	friends := r.IntN(3) > 0 && !p.kind.declared // at a distance of 1000
	first := p.run(p.full, func(i int, v, s *big.Int) *big.Int {
		switch bucket := i - counts - p.e.p.Dim; {
		case i < counts:
			return new(big.Int).Add(v, big.NewInt(r.Int64N(2)))
		case friends && bucket >= 0 && bucket < p.e.ring.Buckets:
			if bucket == p.e.ring.Bucket(1000) {
				return big.NewInt(100)
			}
			return new(big.Int)
		}
		return v
	})
	replay := func(decide func(i int, v *big.Int) *big.Int) func(int, *big.Int, *big.Int) *big.Int {
		return func(i int, v, _ *big.Int) *big.Int {
			if i < p.before {
				return first.Queries[i].Answer
			}
			return decide(i-p.before, v)
		}
	}
	second := p.run(p.less, replay(func(_ int, v *big.Int) *big.Int { return v }))
	margin := p.margin(first, counts)
	z := func(rec *stattest.Recorder, i int) int64 { return rec.Queries[p.before+i].Value.Int64() }
	last, kept := len(p.full)-1, int64(0)
	keep := make([]bool, last)
	skip := map[int]bool{last: true}
	for i := range keep {
		if min(z(first, i), z(second, i)) <= margin {
			skip[i] = true
		} else if keep[i] = r.IntN(5) > 0; keep[i] {
			kept++
		}
	}
	seem := big.NewInt(kept + 1 - r.Int64N(2) + p.e.core.allowance())
	side := func(rec *stattest.Recorder, persons int) func(int, *big.Int) *big.Int {
		mine := persons == last+1 && z(rec, last) > margin && r.IntN(4) > 0
		return func(i int, v *big.Int) *big.Int {
			switch {
			case i < last && keep[i] || i == last && persons > last && mine:
				return big.NewInt(1 << 40)
			case i < persons:
				return big.NewInt(-1 << 40)
			case i == persons:
				return seem
			}
			return new(big.Int)
		}
	}
	a, b := p.run(p.full, replay(side(first, len(p.full)))), p.run(p.less, replay(side(second, len(p.less))))
	return p.difference(t, a, b, skip)
}

// margin is m on this branch.
func (p pair) margin(rec *stattest.Recorder, counts int) int64 {
	if p.kind.sized {
		n := int64(len(p.full))
		return p.e.core.cut(n, float64(n)).margin
	}
	about := max(1, rec.Queries[counts-1].Answer.Int64())
	c := p.e.persons.first
	if counts == 2 {
		c = p.e.persons.second
	}
	return p.e.core.cut(about+tail(c.Sigma(), p.e.persons.slack), float64(about)).margin
}

// difference adds up the losses of the queries of both sides, but for the decisions to skip.
func (p pair) difference(t *testing.T, a, b *stattest.Recorder, skip map[int]bool) *big.Rat {
	var x, y stattest.Recorder
	for i, q := range a.Queries {
		if !skip[i-p.before] {
			x.Queries = append(x.Queries, q)
		}
	}
	for i, q := range b.Queries {
		if !skip[i-p.before] || i-p.before >= len(p.less) {
			y.Queries = append(y.Queries, q)
		}
	}
	return stattest.Loss(t, &x, &y)
}

func newPair(t *testing.T, r *rand.Rand, k kind, rho float64) pair {
	dim := 1 + r.IntN(3)
	p := pair{kind: k, e: k.mean(t, Params{Params: near, Dim: dim, Delta: 0.1}, rho)}
	p.e.least, p.e.enough = 0, 2
	if k.sampled {
		p.e.persons.most = 1
	}
	n := 4 + r.IntN(8)
	p.full = cloud(r, n, dim)
	if r.IntN(8) == 0 {
		p.full[r.IntN(n)][0] = 1 << 30
	}
	p.less = p.full[:n-1]
	if k.relation == estimator.ReplaceOne && (k.sized || r.IntN(2) == 0) {
		p.less = append(append([][]int64{}, p.less...), cloud(r, n, dim)[n-1])
	}
	if !k.sized {
		p.before++
		if k.sampled {
			p.before++
		}
	}
	if !k.declared {
		p.before += dim + p.e.ring.Buckets
	}
	return p
}

// TestWholeReleasesHaveTheLoss is the soundness test, for all relations. An estimator with a third
// of the noise variance must fail.
func TestWholeReleasesHaveTheLoss(t *testing.T) {
	const rho = 20 // so large that twelve persons make an answer
	for _, k := range kinds() {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			tries, declared := 120, new(big.Rat).SetInt64(rho)
			if !k.declared {
				tries = 30
			}
			r, worst := rand.New(stattest.Source(t, fmt.Sprint("whole", k))), new(big.Rat)
			for range tries {
				if l := newPair(t, r, k, rho).loss(t, r); l.Cmp(worst) > 0 {
					worst = l
				}
			}
			ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
			t.Logf("worst branch uses %.3f of the declared loss", ratio)
			if ratio > 1 {
				t.Errorf("a person moves the queries by %v of the declared loss", ratio)
			}
			for range 1500 {
				if newPair(t, r, k, 3*rho).loss(t, r).Cmp(declared) > 0 {
					return
				}
			}
			t.Error("an estimator with a third of the noise variance passed")
		})
	}
}
