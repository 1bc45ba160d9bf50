package groups

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// variant is one form of the release.
type variant struct {
	name  string
	p     Params   // without Rho and Relation
	ones  bool     // its vectors are never negative: an exchange moves a sum by √2 radii only
	count *big.Int // the released number of persons; nil: that is forced like all other answers
}

func variants() []variant {
	grid := func(lo, hi int64) estimator.Grid {
		return estimator.Grid{Step: 0.25, Lo: lo, Hi: hi}
	}
	lo, hi := int64(-30), int64(101)
	open, positive := grid(-estimator.MaxUnits, estimator.MaxUnits), grid(0, estimator.MaxUnits)
	of := func(a ...Aggregate) Params { return Params{Groups: 4, Aggregates: a} }
	many := func(a ...Aggregate) Params { return Params{Groups: leastPlanned, Aggregates: a} }
	once := of(Aggregate{Measure: Persons})
	once.MaxGroups = 1
	bounded := of(Aggregate{Measure: Sum, Grid: open, Lower: &lo, Upper: &hi})
	bounded.MaxRows, bounded.MaxGroups = 3, 2
	rows := of(Aggregate{Measure: Rows}, Aggregate{Measure: Persons})
	rows.MaxRows = 5
	return []variant{
		{name: "persons", p: of(Aggregate{Measure: Persons}), ones: true},
		{name: "persons in one group", p: once, ones: true},
		{name: "rows and persons", p: rows, ones: true},
		{name: "sum", p: of(Aggregate{Measure: Sum, Grid: open})},
		{name: "sum of no negative numbers", p: of(Aggregate{Measure: Sum, Grid: positive}), ones: true},
		{name: "sum with bounds", p: bounded},
		{name: "row mean", p: of(Aggregate{Measure: RowMean, Grid: open})},
		{name: "row mean with bounds", p: of(Aggregate{Measure: RowMean, Grid: open, Lower: &lo, Upper: &hi})},
		{name: "mean of person means", p: of(Aggregate{Measure: PersonMean, Grid: open})},
		{name: "mean of bounded person means", p: of(Aggregate{Measure: PersonMean, Grid: open, Lower: &lo, Upper: &hi})},
		{name: "count, sum and mean", p: of(Aggregate{Measure: Rows}, Aggregate{Measure: Sum, Grid: positive}, Aggregate{Measure: RowMean, Grid: positive})},
		{name: "persons in many groups", p: many(Aggregate{Measure: Persons}), ones: true},
		{name: "sums of many groups", p: many(Aggregate{Measure: Sum, Grid: open})},
		{name: "mean and number with their sum", p: of(Aggregate{Measure: RowMean, Grid: open}, Aggregate{Measure: Rows},
			Aggregate{Measure: Sum, Grid: open, Mean: 1, Count: 2})},
		{name: "two means", p: of(Aggregate{Measure: RowMean, Grid: open, Lower: &lo, Upper: &hi}, Aggregate{Measure: PersonMean, Grid: open})},
	}
}

func (v variant) at(t testing.TB, rho float64, r estimator.Relation) release {
	t.Helper()
	p := v.p
	p.Rho, p.Relation = rho, r
	e, err := New(p)
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	return e.(release)
}

// numbers are entries at every edge, honest or not.
var numbers = []int64{0, 1, 1, 2, 7, -3, 100, -100, 1 << 30, estimator.MaxUnits, -estimator.MaxUnits, math.MaxInt64, math.MinInt64}

// tiny draws persons: in no group, in one, in all, with anything.
func (v variant) tiny(r *rand.Rand, persons int) []map[int]int64 {
	db := make([]map[int]int64, persons)
	for i := range db {
		db[i] = map[int]int64{}
		dim := min(v.p.Groups, 5) * v.p.Width()
		share := []int{1, 2, dim}[r.IntN(3)]
		for j := range dim {
			if r.IntN(share) == 0 {
				db[i][j] = numbers[r.IntN(len(numbers))]
				if r.IntN(2) == 0 {
					db[i][j] = 1
				}
			}
		}
	}
	return db
}

// opposite is a person far from another: all in other groups, or the negative.
func (v variant) opposite(p map[int]int64) map[int]int64 {
	out := map[int]int64{}
	for j := range v.p.Groups * v.p.Width() {
		x, in := p[j]
		switch {
		case !in && v.ones:
			out[j] = estimator.MaxUnits
		case in && !v.ones:
			out[j] = -max(x, -math.MaxInt64)
		}
	}
	for g := range v.p.Groups { // a mean's rows stay
		at := g * v.p.Width()
		for _, a := range v.p.Aggregates {
			if a.Measure.mean() {
				if m, in := p[at+1]; in {
					out[at+1] = m
				}
			}
			at += (Params{Aggregates: []Aggregate{a}}).Width()
		}
	}
	return out
}

// answers forces the first answer, the number of persons, and then one bucket full and all others
// empty, the truth, the truth with noise, the truth as if it stood for a crowd, so that radii are
// those of the persons, or far off.
func answers(r *rand.Rand, n noise.Noiser) func(int, *big.Int, *big.Int) *big.Int {
	style, full := r.IntN(9), 1+r.IntN(500)
	forced := stattest.Forced(r, n, big.NewInt(1<<30), 4)
	return func(i int, value, sigma2 *big.Int) *big.Int {
		switch {
		case style < 3 || i == 0:
			return forced(i, value, sigma2)
		case style < 7:
			crowd := new(big.Int).Lsh(sigma2, 6)
			return crowd.Mul(crowd, value)
		case i == full:
			return new(big.Int).Lsh(sigma2, 10)
		}
		return new(big.Int)
	}
}

// answers are those of the function of that name, but for the number of persons where it is given.
func (v variant) answers(r *rand.Rand, n noise.Noiser) func(int, *big.Int, *big.Int) *big.Int {
	forced := answers(r, n)
	return func(i int, value, sigma2 *big.Int) *big.Int {
		if i == 0 && v.count != nil {
			return v.count
		}
		return forced(i, value, sigma2)
	}
}

// worst returns the largest loss over random tiny neighbours with the same answers forced on both.
// It stops at the first above enough, unless that is nil.
func (v variant) worst(t *testing.T, e release, relation estimator.Relation, tries int, enough *big.Rat) *big.Rat {
	r, n := rand.New(stattest.Source(t, v.name+relation.String())), stattest.Noiser(t, v.name)
	worst, dim := new(big.Rat), v.p.Groups*v.p.Width()
	for range tries {
		if enough != nil && worst.Cmp(enough) > 0 {
			break
		}
		db := v.tiny(r, 1+r.IntN(4))
		full := &stattest.Recorder{Answer: v.answers(r, n)}
		e.Release(full, estimator.Input{Vectors: layOut(dim, db)})
		visit := func(other []map[int]int64) {
			less := full.Replay(t)
			e.Release(less, estimator.Input{Vectors: layOut(dim, other)})
			if l := stattest.Loss(t, full, less); l.Cmp(worst) > 0 {
				worst = l
			}
		}
		for k := range db {
			visit(slices.Delete(slices.Clone(db), k, k+1))
			if relation == estimator.ReplaceOne {
				for _, x := range []map[int]int64{v.opposite(db[k]), v.tiny(r, 1)[0]} {
					other := slices.Clone(db)
					other[k] = x
					visit(other)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("%s: database %v", v.name, db)
		}
	}
	return worst
}

// TestOnePersonMovesTheQueriesWithinTheLoss is the soundness test under both relations; a release
// that was built for three times the loss, or for the weaker relation, must fail it.
func TestOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	const rho, tries = 0.05, 25
	declared := new(big.Rat).SetFloat64(rho)
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
				worst := v.worst(t, v.at(t, rho, relation), relation, tries, nil)
				ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
				t.Logf("%s, %v: worst branch uses %.3f of the declared loss", v.name, relation, ratio)
				if worst.Cmp(declared) > 0 {
					t.Errorf("%s, %v: a person moves the queries by %v of the declared loss", v.name, relation, ratio)
				}
				if v.worst(t, v.at(t, 3*rho, relation), relation, tries, declared).Cmp(declared) <= 0 {
					t.Errorf("%s, %v: a third of the noise variance passed", v.name, relation)
				}
			}
			if v.worst(t, v.at(t, rho, estimator.AddRemove), estimator.ReplaceOne, tries, declared).Cmp(declared) <= 0 {
				t.Errorf("%s: the noise of add-remove passed under replace-one", v.name)
			}
		})
	}
}

// TestOctavesOfMeansAreWithinTheLoss is the same where the released number of persons is too small
// for a search for a centre, and one for κ after it.
func TestOctavesOfMeansAreWithinTheLoss(t *testing.T) {
	const rho, tries = 0.05, 12
	declared := new(big.Rat).SetFloat64(rho)
	for _, v := range variants() {
		for _, relation := range relations {
			e := v.at(t, rho, relation)
			k := slices.IndexFunc(e.searches, func(s search) bool { return s.Measure.mean() })
			if k < 0 {
				continue
			}
			v.count = big.NewInt(e.least())
			if !e.searches[k].few(float64(e.least())) {
				t.Fatalf("%s, %v: %d persons do for a search", v.name, relation, e.least())
			}
			if worst := v.worst(t, e, relation, tries, nil); worst.Cmp(declared) > 0 {
				ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
				t.Errorf("%s, %v: a person moves the queries by %v of the declared loss", v.name, relation, ratio)
			}
			e.searches[k].coarse = scalar.NewCoarse(scalar.Open(v.p.scalar(v.p.Aggregates[k], rho)), e.searches[k].centre.Means, 3*rho)
			if v.worst(t, e, relation, tries, declared).Cmp(declared) <= 0 {
				t.Errorf("%s, %v: octaves at three times the loss passed", v.name, relation)
			}
		}
	}
}

// TestAnExchangeOfSignedNumbersNeedsTwiceTheNoise: built as if no number were negative, a release
// must fail.
func TestAnExchangeOfSignedNumbersNeedsTwiceTheNoise(t *testing.T) {
	v := variants()[3]
	e := v.at(t, 0.05, estimator.ReplaceOne)
	e.factor2 = 2
	declared := new(big.Rat).SetFloat64(0.05)
	if v.worst(t, e, estimator.ReplaceOne, 80, declared).Cmp(declared) <= 0 {
		t.Error("the noise of numbers that are not negative passed for signed ones")
	}
}

// TestTheNumberOfPersonsIsNotFree: under replace-one the number of persons may take as much as one
// who comes or goes leaves of the other steps' loss, and no more.
func TestTheNumberOfPersonsIsNotFree(t *testing.T) {
	declared := new(big.Rat).SetFloat64(0.05)
	for _, v := range variants() {
		e := v.at(t, 0.05, estimator.ReplaceOne)
		if e.persons = scalar.CoveredPersons(0.05, 0); e.counting && v.worst(t, e, estimator.ReplaceOne, 40, declared).Cmp(declared) <= 0 {
			t.Errorf("%s: a number of persons at the whole loss passed", v.name)
		}
	}
}

// TestAuditTellsPersonsApartWithinTheLoss estimates the loss from draws: a crowd of persons of one
// group each, and one person more, or exchanged, in all groups. With a fifteenth of the variance
// they are told apart better than declared.
func TestAuditTellsPersonsApartWithinTheLoss(t *testing.T) {
	const rho = 0.25
	runs := stattest.Runs(500, 3000)
	crowd := make([]map[int]int64, 300)
	for i := range crowd {
		crowd[i] = map[int]int64{i % 4: 1}
	}
	p := Params{Groups: 4, Aggregates: []Aggregate{{Measure: Persons}}, MaxGroups: 4}
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		x, y := slices.Clone(crowd), append(slices.Clone(crowd), map[int]int64{0: 1, 1: 1})
		if relation == estimator.ReplaceOne {
			x = append(x, map[int]int64{2: 1, 3: 1})
		}
		e := variant{p: p}.at(t, rho, relation)
		sample := func(db []map[int]int64, n noise.Noiser) []float64 {
			out, in := make([]float64, runs), estimator.Input{Vectors: layOut(4, db)}
			for i := range out {
				v := e.Release(n, in).Values
				out[i] = v[0] + v[1] - v[2] - v[3]
			}
			return out
		}
		n := stattest.Noiser(t, "audit"+relation.String())
		if bound := stattest.LossBound(sample(x, n), sample(y, n)); bound > rho {
			t.Errorf("%v: the neighbours are told apart with loss %v, declared %v", relation, bound, rho)
		}
		less := stattest.Shrunk{Noiser: n, Factor: 15}
		if bound := stattest.LossBound(sample(x, less), sample(y, less)); bound <= rho {
			t.Errorf("%v: a fifteenth of the variance passed with bound %v", relation, bound)
		}
	}
}
