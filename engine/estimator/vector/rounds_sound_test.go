package vector

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// replay is a Recorder whose secret bits are those of a seed: two of one seed match the same
// persons.
type replay struct {
	*stattest.Recorder
	bits noise.Bits
}

func (r replay) Uniform() uint64 { return r.bits.Uint64() }

// sound is one estimator in the soundness test.
type sound struct {
	name   string
	make   func(Params) (estimator.Estimator, error)
	p      Params // without Rho and Relation
	paired bool   // persons are matched: only exchanges keep the matching
	mixed  bool   // and also counted singly: an exchange is no neighbour under add-remove
	// secret bits are 0: every draw of the exponential mechanism is the first cell, and everybody
	// is in a sample
	fixed  bool
	halves bool // two estimators of half the loss, hardly ever both at their worst
	slow   bool // many queries a release: fewer databases
	// databases hardly ever use half of the loss: the broken variant is built for 8 times it
	loose bool
}

// edges are coordinates at every end.
var edges = []int64{0, 0, 1, -1, 7, -30, 1 << 20, -1 << 33, estimator.MaxUnits, -estimator.MaxUnits, math.MaxInt64, math.MinInt64}

// tiny draws a database of some persons, with the values of edges or small ones, and rows of 1 or
// more.
func (s sound) tiny(r *rand.Rand, persons int) [][]int64 {
	db := make([][]int64, persons)
	for i := range db {
		db[i] = make([]int64, s.p.Dim)
		if r.IntN(3) == 0 { // far out on one axis
			db[i][r.IntN(s.p.Dim)] = estimator.MaxUnits
			continue
		}
		for j := range db[i] {
			switch r.IntN(3) {
			case 0:
				db[i][j] = edges[r.IntN(len(edges))]
			case 1:
				db[i][j] = r.Int64N(2000) - 1000
			}
			if s.p.Sparse {
				db[i][j] = max(db[i][j], -(db[i][j]+1)) & (estimator.MaxUnits - 1)
			}
		}
	}
	return db
}

// block lays persons out.
func (s sound) block(db [][]int64) *estimator.Block {
	ch := estimator.Chunk{Persons: len(db), Starts: []int{0}}
	for _, x := range db {
		for j, v := range x {
			if s.p.Sparse && v != 0 {
				ch.Index, ch.Values = append(ch.Index, int32(j)), append(ch.Values, v)
			}
		}
		ch.Starts = append(ch.Starts, len(ch.Index))
		ch.Dense = append(ch.Dense, x...)
	}
	if s.p.Sparse {
		ch.Dense = nil
	} else {
		ch.Starts = nil
	}
	return &estimator.Block{Dim: s.p.Dim, Sparse: s.p.Sparse, Chunks: []estimator.Chunk{ch}}
}

// forced makes the number of persons look large; the rest is one bucket full and all others empty,
// which gives a radius of any size, or the truth, the truth with noise, or far off.
func forced(r *rand.Rand, n noise.Noiser) func(int, *big.Int, *big.Int) *big.Int {
	style, count, full := r.IntN(8), int64(1)<<(14+r.IntN(26)), 1+r.IntN(1600)
	return func(i int, value, sigma2 *big.Int) *big.Int {
		switch {
		case i == 0:
			return big.NewInt(count)
		case style > 3 && i == full:
			return new(big.Int).Lsh(sigma2, 10)
		case style > 3:
			return new(big.Int)
		case style == 0:
			return value
		case style == 1 || r.IntN(3) > 0:
			return n.Gaussian(value, sigma2)
		}
		far := new(big.Int).Lsh(sigma2, 4)
		if r.IntN(2) == 0 {
			far.Neg(far)
		}
		return far
	}
}

// bits are the secret bits of a run.
func (s sound) bits(t *testing.T, seed string) noise.Bits {
	if s.fixed {
		return zeros{}
	}
	return stattest.Source(t, seed)
}

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// worst returns the largest loss over random tiny neighbours with the same answers forced on both
// sides. It stops at the first above enough, unless that is nil.
func (s sound) worst(t *testing.T, e estimator.Estimator, relation estimator.Relation, tries int, enough *big.Rat) *big.Rat {
	r := rand.New(stattest.Source(t, s.name+relation.String()))
	n := stattest.Noiser(t, s.name)
	worst := new(big.Rat)
	visit := func(full replay, other [][]int64, seed string) {
		less := replay{full.Replay(t), s.bits(t, seed)}
		e.Release(less, estimator.Input{Persons: int64(len(other)), Vectors: s.block(other)})
		if l := stattest.Loss(t, full.Recorder, less.Recorder); l.Cmp(worst) > 0 {
			worst = l
		}
	}
	if s.slow {
		tries = tries * 3 / 4
	}
	for try := range tries {
		if enough != nil && worst.Cmp(enough) > 0 {
			break
		}
		db := s.tiny(r, 1+r.IntN(4))
		seed := fmt.Sprint(s.name, try)
		full := replay{&stattest.Recorder{Answer: forced(r, n)}, s.bits(t, seed)}
		e.Release(full, estimator.Input{Persons: int64(len(db)), Vectors: s.block(db)})
		for k := range db {
			if !s.paired {
				visit(full, append(append([][]int64{}, db[:k]...), db[k+1:]...), seed)
			}
			if relation == estimator.ReplaceOne || s.paired {
				opposite := make([]int64, s.p.Dim)
				for j, v := range db[k] {
					if opposite[j] = -max(v, -math.MaxInt64); s.p.Sparse {
						opposite[j] = 0
					}
				}
				for _, x := range [][]int64{opposite, s.tiny(r, 1)[0]} {
					other := append([][]int64{}, db...)
					other[k] = x
					visit(full, other, seed)
				}
			}
			if t.Failed() {
				t.Fatalf("%s: database %v with %d changed", s.name, db, k)
			}
		}
	}
	return worst
}

// check is the soundness test: no branch costs more than declared, and one built for three times
// the loss does. Under replace-one an estimator built for add-remove must fail.
func (s sound) check(t *testing.T) {
	const rho = 0.05
	at := func(rho float64, relation estimator.Relation) estimator.Estimator {
		p := s.p
		p.Rho, p.Relation = rho, relation
		e, err := s.make(p)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		if s.mixed && relation == estimator.AddRemove {
			continue
		}
		e := at(rho, relation)
		declared := new(big.Rat).SetFloat64(e.Loss().Rho.Float())
		worst := s.worst(t, e, relation, stattest.Runs(30, 60), nil)
		ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
		t.Logf("%s, %v: worst branch uses %.3f of the declared loss", s.name, relation, ratio)
		if worst.Cmp(declared) > 0 {
			t.Errorf("%s, %v: a person moves the queries by %v of the declared loss", s.name, relation, ratio)
		}
		times := 3.0
		if s.loose {
			times = 8
		}
		if s.worst(t, at(times*rho, relation), relation, 90, declared).Cmp(declared) <= 0 {
			t.Errorf("%s, %v: an estimator for %v times the loss passed", s.name, relation, times)
		}
		sum := 0.0
		for _, step := range e.Steps() {
			sum += step.Rho
		}
		if sum > rho || sum < rho*(1-1e-9) {
			t.Errorf("%s, %v: the steps' losses sum to %v of %v", s.name, relation, sum, rho)
		}
	}
	if !s.paired && !s.halves {
		declared := new(big.Rat).SetFloat64(rho)
		if s.worst(t, at(rho, estimator.AddRemove), estimator.ReplaceOne, 40, declared).Cmp(declared) <= 0 {
			t.Errorf("%s: the sensitivity of add-remove passed under replace-one", s.name)
		}
	}
}

// edgeInputs releases on empty blocks, one and two persons, equal persons and one far outlier:
// finite answers, TooFew with a number that would do, and an unchanged block.
func (s sound) edgeInputs(t *testing.T) {
	same := func(n int) [][]int64 {
		db := make([][]int64, n)
		for i := range db {
			db[i] = make([]int64, s.p.Dim)
			for j := range db[i] {
				db[i][j] = 5
			}
		}
		return db
	}
	outlier := same(3000)
	for j := range outlier[7] {
		outlier[7][j] = estimator.MaxUnits
	}
	for name, db := range map[string][][]int64{"none": nil, "one": same(1), "two": same(2), "equal": same(3000), "outlier": outlier} {
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			for _, rho := range []float64{1e-9, 0.1, 1e6} {
				p := s.p
				p.Rho, p.Relation, p.Sized = rho, relation, relation == estimator.ReplaceOne
				e, err := s.make(p)
				if err != nil {
					t.Fatal(err)
				}
				b := s.block(db)
				before := fmt.Sprint(*b)
				a := e.Release(stattest.Noiser(t, name), estimator.Input{Persons: b.Persons(), Vectors: b})
				if fmt.Sprint(*b) != before {
					t.Errorf("%s, %s: the block was changed", s.name, name)
				}
				for i, x := range a.Values {
					if math.IsNaN(x) || math.IsInf(x, 0) || a.StdErr[i] < 0 || math.IsInf(a.StdErr[i], 0) {
						t.Fatalf("%s, %s, rho %v: value %v ± %v", s.name, name, rho, x, a.StdErr[i])
					}
				}
				if len(a.Values) == 0 || a.Status == estimator.TooFew && a.Needed != e.MinPersons() {
					t.Errorf("%s, %s: answer %+v", s.name, name, a)
				}
				if p.Sized && (a.Status == estimator.TooFew) != (max(1, int64(len(db))) < e.MinPersons()) {
					t.Errorf("%s, %s: status %v of %d persons, %d needed", s.name, name, a.Status, len(db), e.MinPersons())
				}
			}
		}
	}
}

// openParams are those of vectors of three small integers without declared bounds.
func openParams() Params {
	return Params{
		Params: estimator.Params{Grid: estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}, MaxRows: 1},
		Dim:    3,
	}
}

func coinpressSounds() []sound {
	p := openParams()
	p.Sigma, p.SigmaMax = []float64{3, 0.5, 20}, 1000
	many := p
	many.MaxRows, many.Radius, many.P, many.Rounds = 0, 50, 1, 2
	single := p
	single.Rounds = 1
	coinpress := func(p Params) (estimator.Estimator, error) {
		b := newBudget(p.Rho)
		count := newPersons(p, p.countLoss(b))
		c, err := newCoinpress(p, b.rest())
		return mean{p: p, count: count, core: c}, err
	}
	return []sound{
		{name: "coinpress", make: coinpress, p: p},
		{name: "coinpress of rows", make: coinpress, p: many},
		{name: "coinpress, 1 round", make: coinpress, p: single},
	}
}

func TestCoinpressSoundness(t *testing.T) {
	for _, s := range coinpressSounds() {
		t.Run(s.name, func(t *testing.T) { s.check(t) })
	}
}

func TestCoinpressEdges(t *testing.T) {
	for _, s := range coinpressSounds() {
		s.edgeInputs(t)
	}
}
