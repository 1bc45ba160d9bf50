package vector

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// sparseVariant is one estimator of sparse or binary vectors.
type sparseVariant struct {
	name string
	p    Params // without Rho and Relation
}

func sparseVariants() []sparseVariant {
	grid := func(hi int64) estimator.Params {
		return estimator.Params{Grid: estimator.Grid{Step: 1, Decimal: true, Hi: hi}}
	}
	single := grid(1)
	single.MaxRows = 1
	return []sparseVariant{
		{"plan of ones", Params{Params: grid(1), Dim: 3, Sparse: true, Scale: Binary}},
		{"plan of many ones", Params{Params: grid(1), Dim: shrinkDim, Sparse: true, Method: Plan, P: 2}},
		{"clipped ones", Params{Params: grid(1), Dim: 3, Sparse: true, Method: Clipped}},
		{"shifted ones", Params{Params: grid(1), Dim: 3, Sparse: true, Method: Shifted}},
		{"plan of counts", Params{Params: grid(1000), Dim: 3, Sparse: true, Method: Plan}},
		{"plan of large numbers", Params{Params: grid(estimator.MaxUnits), Dim: 5, Sparse: true, Method: Plan, P: 3}},
		{"clipped numbers", Params{Params: grid(1 << 20), Dim: 3, Sparse: true, Method: Clipped}},
		{"shifted numbers", Params{Params: grid(1000), Dim: 3, Sparse: true, Method: Shifted}},
		{"plan of dense bits", Params{Params: single, Dim: 4, Method: Plan, Scale: Binary}},
		{"plan of dense shares", Params{Params: grid(1), Dim: 4, Method: Plan, Scale: Binary}},
	}
}

func (v sparseVariant) at(t testing.TB, rho float64, r estimator.Relation, sized bool) estimator.Estimator {
	t.Helper()
	p := v.p
	p.Rho, p.Relation, p.Sized = rho, r, sized
	e, err := NewMean(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sparsePerson is one person's vector of totals and number of rows.
type sparsePerson struct {
	total []int64
	rows  int64
}

// persons draws a few persons at every edge: without entries, with all, with one, with values
// outside the range.
func (v sparseVariant) persons(r *rand.Rand, n int) []sparsePerson {
	db := make([]sparsePerson, n)
	for i := range db {
		db[i] = sparsePerson{make([]int64, v.p.Dim), 1 + r.Int64N(3)*r.Int64N(2)}
		if v.p.MaxRows == 1 {
			db[i].rows = 1
		}
		kind := r.IntN(4)
		for j := range db[i].total {
			if kind == 0 || kind == 1 && r.IntN(2) == 0 || kind == 2 && j == i%v.p.Dim {
				db[i].total[j] = []int64{1, 1, v.p.Grid.Hi, 1 + r.Int64N(v.p.Grid.Hi), estimator.MaxUnits, -3}[r.IntN(6)]
			}
		}
	}
	return db
}

// block lays persons out; lists of bits come with and without values.
func (v sparseVariant) block(db []sparsePerson, values bool) *estimator.Block {
	if !v.p.Sparse {
		ch := estimator.Chunk{Persons: len(db)}
		for _, p := range db {
			ch.Dense, ch.Rows = append(ch.Dense, p.total...), append(ch.Rows, p.rows)
		}
		return &estimator.Block{Dim: v.p.Dim, Chunks: []estimator.Chunk{ch}}
	}
	ch := estimator.Chunk{Persons: len(db), Starts: []int{0}}
	for _, p := range db {
		for j, x := range p.total {
			if x != 0 {
				ch.Index, ch.Values = append(ch.Index, int32(j)), append(ch.Values, x)
			}
		}
		ch.Starts, ch.Rows = append(ch.Starts, len(ch.Index)), append(ch.Rows, p.rows)
	}
	if !values {
		ch.Values = nil
	}
	return &estimator.Block{Dim: v.p.Dim, Sparse: true, Chunks: []estimator.Chunk{ch}}
}

// sparseAnswers forces a large number of persons, where it is asked.
func sparseAnswers(r *rand.Rand, n noise.Noiser, sized bool) func(int, *big.Int, *big.Int) *big.Int {
	if sized {
		return stattest.Forced(r, n, nil, 3)
	}
	return stattest.Forced(r, n, big.NewInt(1<<30), 3)
}

// worst returns the largest loss between neighbours with the same answers forced on both.
func (v sparseVariant) worst(t *testing.T, e estimator.Estimator, relation estimator.Relation, sized bool, tries int) *big.Rat {
	r := rand.New(stattest.Source(t, v.name+relation.String()))
	n := stattest.Noiser(t, v.name)
	worst := new(big.Rat)
	for range tries {
		size := 1 + r.IntN(3)
		if sized {
			size = int(e.MinPersons())
		}
		db, values := v.persons(r, size), v.p.Grid.Hi > 1 || r.IntN(2) == 0
		full := &stattest.Recorder{Answer: sparseAnswers(r, n, sized)}
		e.Release(full, estimator.Input{Persons: int64(len(db)), Vectors: v.block(db, values)})
		visit := func(other []sparsePerson) {
			less := full.Replay(t)
			e.Release(less, estimator.Input{Persons: int64(len(db)), Vectors: v.block(other, values)})
			if l := stattest.Loss(t, full, less); l.Cmp(worst) > 0 {
				worst = l
			}
		}
		for k := range min(len(db), 3) {
			if !sized {
				visit(slices.Delete(slices.Clone(db), k, k+1))
			}
			if relation == estimator.ReplaceOne {
				other := slices.Clone(db)
				other[k] = v.persons(r, 1)[0]
				visit(other)
				other[k] = sparsePerson{make([]int64, v.p.Dim), 1}
				for j, x := range db[k].total { // what the other has not
					if x == 0 {
						other[k].total[j] = v.p.Grid.Hi
					}
				}
				visit(other)
			}
		}
		if t.Failed() {
			t.Fatalf("%s: database %v", v.name, db)
		}
	}
	return worst
}

// TestSparseOnePersonMovesTheQueriesWithinTheLoss is the soundness test under all relations;
// estimators that were built for three times the loss, or for the weaker relation, must fail it.
func TestSparseOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	const rho = 0.05
	declared := new(big.Rat).SetFloat64(rho)
	for _, v := range sparseVariants() {
		for _, c := range []struct {
			relation estimator.Relation
			sized    bool
		}{{estimator.AddRemove, false}, {estimator.ReplaceOne, false}, {estimator.ReplaceOne, true}} {
			tries := 12
			if c.sized {
				tries = 3
			}
			worst := v.worst(t, v.at(t, rho, c.relation, c.sized), c.relation, c.sized, tries)
			ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
			t.Logf("%s, %v, sized=%v: worst branch uses %.3f of the declared loss", v.name, c.relation, c.sized, ratio)
			if worst.Cmp(declared) > 0 {
				t.Errorf("%s, %v: a person moves the queries by %v of the declared loss", v.name, c.relation, ratio)
			}
			if v.worst(t, v.at(t, 3*rho, c.relation, c.sized), c.relation, c.sized, tries).Cmp(declared) <= 0 {
				t.Errorf("%s, %v: a third of the noise variance passed", v.name, c.relation)
			}
		}
		if v.worst(t, v.at(t, rho, estimator.AddRemove, false), estimator.ReplaceOne, false, 12).Cmp(declared) <= 0 {
			t.Errorf("%s: the noise of add-remove passed under replace-one", v.name)
		}
	}
}

// TestSparseEdgeInputs releases on 0, 1 and 2 persons, one who owns all coordinates, empty columns
// and a coordinate that comes twice: finite answers within the range, and an unchanged block.
func TestSparseEdgeInputs(t *testing.T) {
	for _, v := range sparseVariants() {
		crowd := make([]sparsePerson, 6000)
		for i := range crowd {
			crowd[i] = sparsePerson{make([]int64, v.p.Dim), 1}
			crowd[i].total[0] = int64(i % 2)
		}
		owner := slices.Clone(crowd)
		owner[5] = sparsePerson{slices.Repeat([]int64{v.p.Grid.Hi}, v.p.Dim), 1}
		empty := make([]sparsePerson, 6000)
		for i := range empty {
			empty[i] = sparsePerson{make([]int64, v.p.Dim), 1}
		}
		blocks := map[string]*estimator.Block{"no chunk": {Dim: v.p.Dim, Sparse: v.p.Sparse}}
		for name, db := range map[string][]sparsePerson{"none": nil, "one": crowd[1:2], "two": crowd[1:3], "crowd": crowd, "owner": owner, "empty": empty} {
			blocks[name] = v.block(db, true)
		}
		if v.p.Sparse {
			twice := v.block(crowd, false)
			for e := range twice.Chunks[0].Index {
				twice.Chunks[0].Index[e] = 0
			}
			blocks["twice"] = twice
		}
		for name, b := range blocks {
			before := fmt.Sprint(b.Chunks)
			for _, rho := range []float64{1e-9, 0.5, 1e6} {
				for _, sized := range []bool{false, true} {
					e := v.at(t, rho, estimator.ReplaceOne, sized)
					v.checkAnswer(t, name, e, e.Release(stattest.Noiser(t, v.name), estimator.Input{Persons: b.Persons(), Vectors: b}))
				}
			}
			if fmt.Sprint(b.Chunks) != before {
				t.Errorf("%s, %s: the block was changed", v.name, name)
			}
		}
	}
}

func (v sparseVariant) checkAnswer(t *testing.T, name string, e estimator.Estimator, a estimator.Estimate) {
	t.Helper()
	if a.Status == estimator.TooFew && a.Needed < 1 || len(a.Values) != v.p.Dim || len(a.StdErr) != v.p.Dim {
		t.Errorf("%s, %s: status %v, %d values", v.name, name, a.Status, len(a.Values))
		return
	}
	for j, x := range a.Values {
		if !(x >= 0 && x <= float64(v.p.Grid.Hi)) {
			t.Errorf("%s, %s: value %v", v.name, name, x)
		}
		if s := a.StdErr[j]; a.Status == estimator.OK && !(s >= 0) || math.IsInf(s, 0) {
			t.Errorf("%s, %s: standard error %v", v.name, name, s)
		}
	}
}

func TestSparseStepsAddUpToTheLoss(t *testing.T) {
	for _, v := range sparseVariants() {
		for _, rho := range []float64{1e-6, 0.1, 1e6} {
			sum := 0.0
			for _, s := range v.at(t, rho, estimator.ReplaceOne, true).Steps() {
				sum += s.Rho
			}
			if sum > rho || sum < rho*(1-1e-9) {
				t.Errorf("%s: the steps' losses sum to %v, want %v", v.name, sum, rho)
			}
		}
	}
}

func TestSparseBadParametersAreRefused(t *testing.T) {
	good := sparseVariants()[0].p
	good.Rho = 0.1
	for name, change := range map[string]func(*Params){
		"negative":  func(p *Params) { p.Grid.Lo = -1 },
		"positive":  func(p *Params) { p.Grid.Lo, p.Grid.Hi = 1, 2 },
		"nothing":   func(p *Params) { p.Grid.Hi = 0 },
		"rotate":    func(p *Params) { p.Rotate = true },
		"search":    func(p *Params) { p.Search = Exponential },
		"coinpress": func(p *Params) { p.Method = Coinpress },
		"pairs":     func(p *Params) { p.Scale, p.Method = Pairs, Plan },
		"dimension": func(p *Params) { p.Dim = 0 },
	} {
		p := good
		change(&p)
		if _, err := NewMean(p); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
