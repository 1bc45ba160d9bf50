package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/test/stattest"
)

// TestSumsOfFewPersons: where nothing stands out for a mean, the sum beside it is told all the
// same, and where a sum wants more persons than there are, the count.
func TestSumsOfFewPersons(t *testing.T) {
	parts := []Aggregate{{Measure: RowMean, Grid: quarters()}, {Measure: Sum, Grid: quarters()}, {Measure: Rows}}
	for _, relation := range relations {
		e := variant{p: Params{Groups: 2, Aggregates: parts}}.at(t, 0.2, relation)
		e.searches[0].coarse = scalar.NewCoarse(e.p.scalar(parts[0], 1), e.searches[0].centre.Means, 1e-6)
		few := int(e.rest.least()) * 5 / 4
		counts, sums := 0, 0
		for run := range 40 {
			persons := few
			if run%2 == 1 {
				persons = 20
			}
			db := make([]map[int]int64, persons)
			for i := range db {
				db[i] = map[int]int64{0: 80, 1: 2, 2: 80, 3: 2}
			}
			a := e.Release(stattest.Noiser(t, fmt.Sprint(relation, run)), estimator.Input{Vectors: layOut(8, db)})
			v, s, exact := a.Values, a.StdErr, float64(persons)
			if a.Status != estimator.OK || v[0] == v[0] {
				continue
			}
			if !(math.Abs(v[2]-2*exact) <= 5*s[2]+exact && math.Abs(v[5]) <= 5*s[5]+1) {
				t.Errorf("%v: rows %v ± %v of %d persons", relation, v, s, persons)
			}
			if counts++; v[1] != v[1] {
				continue
			}
			if sums++; !(math.Abs(v[1]-20*exact) <= 5*s[1]+10*exact && math.Abs(v[4]) <= 5*s[4]+1) {
				t.Errorf("%v: sums %v ± %v of %d persons", relation, v, s, persons)
			}
		}
		if t.Logf("%v: of 40 without means %d, %d of them with sums", relation, counts, sums); sums < 3 || counts <= sums {
			t.Errorf("%v: %d counts, %d sums", relation, counts, sums)
		}
	}
}

// TestASumOfNothingIsNaNAlone: a sum that nobody has anything in, SUM(0), leaves a sum, a mean and
// a count beside it as they are.
func TestASumOfNothingIsNaNAlone(t *testing.T) {
	parts := []Aggregate{{Measure: Sum, Grid: quarters()}, {Measure: Sum, Grid: quarters()}, {Measure: RowMean, Grid: quarters()}, {Measure: Rows}}
	for _, relation := range relations {
		e := variant{p: Params{Groups: 2, Aggregates: parts}}.at(t, 10, relation)
		const persons = 2000
		db := make([]map[int]int64, persons)
		for i := range db {
			db[i] = map[int]int64{1: 40, 2: 80, 3: 2, 4: 2}
		}
		a := e.Release(stattest.Noiser(t, relation.String()), estimator.Input{Vectors: layOut(10, db)})
		v := a.Values
		if a.Status != estimator.OK || v[0] == v[0] || v[4] == v[4] || a.Needed == 0 {
			t.Fatalf("%v: %v of %v, and %d are needed", relation, a.Status, v, a.Needed)
		}
		for j, want := range map[int]float64{1: 10 * persons, 2: 10, 3: 2 * persons} {
			if !(math.Abs(v[j]-want) <= want/20) {
				t.Errorf("%v: value %d is %v, want %v", relation, j, v[j], want)
			}
		}
	}
}

// TestMeansWhereMostHaveOneValue: where four in five persons have the same value, the others'
// groups have means, too.
func TestMeansWhereMostHaveOneValue(t *testing.T) {
	const persons = 100
	for _, relation := range relations {
		e := variant{p: Params{Groups: 2, Aggregates: []Aggregate{{Measure: RowMean, Grid: quarters()}, {Measure: Rows}}}}.at(t, 500, relation)
		db := make([]map[int]int64, persons)
		for i := range db {
			db[i] = map[int]int64{0: 4, 1: 1, 2: 1}
			if i%5 == 0 {
				db[i] = map[int]int64{3: 16, 4: 1, 5: 1}
			}
		}
		a := e.Release(stattest.Noiser(t, relation.String()), estimator.Input{Vectors: layOut(6, db)})
		if v := a.Values; a.Status != estimator.OK || !(math.Abs(v[0]-1) <= 0.2 && math.Abs(v[2]-4) <= 0.5) {
			t.Errorf("%v: %v of %v", relation, v, a.Status)
		}
	}
}

// TestShapedNormsHaveALimit: no norm by a shape passes the public limit, whatever persons have, and
// a person who is in as many groups as they may, with all that they may have, comes near.
func TestShapedNormsHaveALimit(t *testing.T) {
	lo, hi := int64(-30), int64(101)
	grid := estimator.Grid{Step: 0.25, Lo: lo, Hi: hi}
	p := Params{Groups: 9, MaxGroups: 4, MaxRows: 3, Aggregates: []Aggregate{
		{Measure: Persons}, {Measure: Rows}, {Measure: Sum, Grid: grid, Lower: &lo, Upper: &hi}, {Measure: RowMean, Grid: grid, Lower: &lo, Upper: &hi}}}
	v := variant{name: "limit", p: p}
	r := rand.New(stattest.Source(t, "limit"))
	for k, one := range p.Aggregates {
		v.p.Aggregates = []Aggregate{one}
		e := v.at(t, 1, estimator.AddRemove)
		centre, kappa := int64(0), 0.0
		if one.Measure.mean() {
			c := e.searches[0].reached()
			centre, kappa = c.centre, c.kappa
		}
		centres := []centring{{centre: centre, reach: int64(kappa)}}
		weights := e.layout.spread(e.layout.weights([]float64{kappa}))
		for g := range p.Groups {
			f := math.Exp2(-float64(r.IntN(8)) / 2)
			for c := range e.layout.width {
				weights[g*e.layout.width+c] *= f
			}
		}
		limit, longest := e.farthestBy(weights), 0.0
		for _, db := range [][]map[int]int64{mostOf(e.layout.width, p, r), capped(v.tiny(r, 300), e.layout.width, p)} {
			norms := e.layout.measure(layOut(e.layout.dim, db), centres).normsBy(&e.layout, weights)
			longest = max(longest, slices.Max(norms))
		}
		if longest > limit || longest < limit/4 {
			t.Errorf("aggregate %d: longest %v, limit %v", k, longest, limit)
		}
	}
}

// mostOf are persons in as many groups as may be, with the most or the least of all.
func mostOf(width int, p Params, r *rand.Rand) []map[int]int64 {
	db := make([]map[int]int64, 300)
	for i := range db {
		db[i] = map[int]int64{}
		for _, g := range r.Perm(p.Groups)[:p.MaxGroups] {
			db[i][g*width] = []int64{math.MaxInt64, math.MinInt64}[i%2]
			db[i][g*width+width-1] = max(db[i][g*width+width-1], 3)
			if width == 1 {
				db[i][g] = []int64{303, 3}[i%2]
			}
		}
	}
	return db
}

// capped leaves persons in as many groups as may be.
func capped(db []map[int]int64, width int, p Params) []map[int]int64 {
	for _, person := range db {
		for g := int(p.MaxGroups); g < p.Groups; g++ {
			for c := range width {
				delete(person, g*width+c)
			}
		}
	}
	return db
}

// TestFewPersonsInFewGroupsAreCounted: counts of persons over few groups have a public limit of
// norms that is narrow, and need no histogram to show them.
func TestFewPersonsInFewGroupsAreCounted(t *testing.T) {
	const groups, persons = 7, 60
	db := make([]map[int]int64, persons)
	for i := range db {
		db[i] = map[int]int64{i % groups: 1, (i + 3) % groups: 1}
	}
	for _, relation := range relations {
		e := variant{p: Params{Groups: groups, Aggregates: []Aggregate{{Measure: Persons}}}}.at(t, 0.002, relation)
		for name := range 20 {
			a := e.Release(stattest.Noiser(t, string(rune('a'+name))), estimator.Input{Vectors: layOut(groups, db)})
			if a.Status != estimator.OK {
				t.Fatalf("%v: too few persons, %d wanted", relation, a.Needed)
			}
			for g, v := range a.Values {
				if !(math.Abs(v-2*persons/groups) <= 6*a.StdErr[g]) || a.StdErr[g] > 2.7*2*math.Sqrt(1/0.004) {
					t.Errorf("%v: %v ± %v", relation, v, a.StdErr[g])
				}
			}
		}
	}
}
