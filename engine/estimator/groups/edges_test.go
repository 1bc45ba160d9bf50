package groups

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/test/stattest"
)

var relations = []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne}

// TestTheStepsSpendTheLoss: what EXPLAIN prints adds up, for any number of groups and loss.
func TestTheStepsSpendTheLoss(t *testing.T) {
	for _, v := range variants() {
		for _, relation := range relations {
			for _, groups := range []int{1, 3, 5, 1000} {
				for _, rho := range []float64{privacy.RhoUnit, 1e-3, 0.1, 1e6} {
					v.p.Groups = groups
					e := v.at(t, rho, relation)
					sum := 0.0
					for _, s := range e.Steps() {
						covered := relation == estimator.ReplaceOne && s.Rho == 0 && s.Sensitivity == "l2=1 (covered by the other steps)"
						sum += s.Rho
						if s.Name == "" || s.Mechanism == estimator.Unlisted || s.Sensitivity == "" || s.Queries < 1 || !(s.Rho > 0) && !covered {
							t.Errorf("%s, rho=%v: step %+v", v.name, rho, s)
						}
					}
					if sum > rho || sum < rho*(1-1e-9) || e.Loss().Rho != privacy.RhoOf(rho) {
						t.Errorf("%s: the steps' losses sum to %v, want %v; loss %v", v.name, sum, rho, e.Loss())
					}
				}
			}
		}
	}
}

// TestEdgeInputs releases on 0, 1 and 2 persons, one who owns everything, persons all alike but
// one, and every odd entry: finite answers or NaN for means, standard errors, an unchanged block;
// and too few persons are told so.
func TestEdgeInputs(t *testing.T) {
	for _, v := range variants() {
		for name, db := range v.edges() {
			dim := v.p.Groups * v.p.Width()
			b := layOut(dim, db)
			before := fmt.Sprint(b.Chunks)
			for _, rho := range []float64{1e-9, 0.5, 1e6} {
				for _, relation := range relations {
					e := v.at(t, rho, relation)
					a := e.Release(stattest.Noiser(t, v.name), estimator.Input{Vectors: b})
					v.check(t, name, e, a)
					if e.fixed > 0 && a.Status != estimator.OK {
						t.Errorf("%s, %s: counts of persons did not answer", v.name, name)
					}
					if rho == 0.5 && int64(len(db)) < e.MinPersons()/3 && a.Status != estimator.TooFew {
						t.Errorf("%s, %s: %d persons answered, %d needed", v.name, name, len(db), e.MinPersons())
					}
				}
			}
			if fmt.Sprint(b.Chunks) != before {
				t.Errorf("%s, %s: the block was changed", v.name, name)
			}
		}
	}
}

// edges are databases that some step may stumble over.
func (v variant) edges() map[string][]map[int]int64 {
	r := rand.New(rand.NewPCG(1, 2))
	dim := v.p.Groups * v.p.Width()
	all := func(x int64) map[int]int64 {
		p := map[int]int64{}
		for j := range dim {
			p[j] = x
		}
		return p
	}
	equal, outlier, owner := make([]map[int]int64, 800), make([]map[int]int64, 800), make([]map[int]int64, 800)
	for i := range equal {
		equal[i], outlier[i], owner[i] = all(1), all(1), map[int]int64{}
	}
	outlier[7], owner[3] = all(estimator.MaxUnits), all(7)
	return map[string][]map[int]int64{
		"none": nil, "one": equal[:1], "two": equal[:2], "equal": equal, "outlier": outlier, "owner": owner,
		"opposite outlier": append(slices.Clone(equal), all(-estimator.MaxUnits)), "anything": v.tiny(r, 800),
	}
}

func (v variant) check(t *testing.T, name string, e release, a estimator.Estimate) {
	t.Helper()
	size := len(v.p.Aggregates)
	if a.Status == estimator.TooFew && a.Needed < 1 || len(a.Values) != v.p.Groups*size || len(a.StdErr) != len(a.Values) {
		t.Fatalf("%s, %s: status %v, %d values, needed %d", v.name, name, a.Status, len(a.Values), a.Needed)
	}
	for j, x := range a.Values {
		mean := v.p.Aggregates[j%size].Measure.mean()
		if math.IsInf(x, 0) || x != x && !mean && (e.rest == nil || v.p.Aggregates[j%size].Measure.count()) {
			t.Errorf("%s, %s: value %v", v.name, name, x)
		}
		if s := a.StdErr[j]; a.Status == estimator.OK && x == x && !(s >= 0 && s <= math.MaxFloat64) {
			t.Errorf("%s, %s: standard error %v", v.name, name, s)
		}
		if p := v.p.Aggregates[j%size]; mean && x == x && p.Lower != nil && (x < -7.5 || x > 25.25) && a.Status == estimator.OK {
			t.Errorf("%s, %s: mean %v out of its bounds", v.name, name, x)
		}
	}
}

// TestOddBlocks: no chunk, persons without entries, entries out of order, twice, or out of range,
// and no values.
func TestOddBlocks(t *testing.T) {
	e := variants()[1].at(t, 1e6, estimator.AddRemove) // its radius is public
	for name, c := range map[string]struct {
		chunks []estimator.Chunk
		want   []float64
	}{
		"no chunk":  {nil, []float64{0, 0, 0, 0}},
		"no person": {[]estimator.Chunk{{Starts: []int{0}}}, []float64{0, 0, 0, 0}},
		"no entry":  {[]estimator.Chunk{{Persons: 2, Starts: []int{0, 0, 0}}}, []float64{0, 0, 0, 0}},
		"ones":      {[]estimator.Chunk{{Persons: 2, Starts: []int{0, 2, 3}, Index: []int32{0, 3, 3}}}, []float64{1, 0, 0, 2}},
		"twice":     {[]estimator.Chunk{{Persons: 1, Starts: []int{0, 3}, Index: []int32{2, 2, 1}}}, []float64{0, 0, 1, 0}},
		"outside":   {[]estimator.Chunk{{Persons: 1, Starts: []int{0, 3}, Index: []int32{-1, 1, 9}}}, []float64{0, 1, 0, 0}},
	} {
		a := e.Release(stattest.Zero{}, estimator.Input{Vectors: &estimator.Block{Dim: 4, Sparse: true, Chunks: c.chunks}})
		for g, want := range c.want {
			if math.Abs(a.Values[g]-want) > 0.3 { // the person of two groups may be clipped
				t.Errorf("%s: %v, want %v", name, a.Values, c.want)
				break
			}
		}
	}
	empty := variant{p: Params{Aggregates: []Aggregate{{Measure: Persons}}}}.at(t, 1, estimator.AddRemove)
	if a := empty.Release(stattest.Zero{}, estimator.Input{Vectors: &estimator.Block{Sparse: true}}); a.Status != estimator.OK || len(a.Values) != 0 {
		t.Errorf("no groups: %+v", a)
	}
}

func TestBadParametersAreRefused(t *testing.T) {
	lo, hi := int64(1), int64(2)
	for name, change := range map[string]func(*Params){
		"no aggregate": func(p *Params) { p.Aggregates = nil },
		"measure":      func(p *Params) { p.Aggregates = []Aggregate{{Measure: PersonMean + 1}} },
		"groups":       func(p *Params) { p.Groups = -1 },
		"many groups":  func(p *Params) { p.Groups = maxDim + 1 },
		"rho":          func(p *Params) { p.Rho = math.NaN() },
		"relation":     func(p *Params) { p.Relation = 7 },
		"rows":         func(p *Params) { p.MaxRows = -1 },
		"grid":         func(p *Params) { p.Aggregates = []Aggregate{{Measure: Sum}} },
		"one bound":    func(p *Params) { p.Aggregates[0] = Aggregate{Measure: Sum, Grid: estimator.Grid{Step: 1}, Lower: &lo} },
		"bounds": func(p *Params) {
			p.Aggregates[0] = Aggregate{Measure: Sum, Grid: estimator.Grid{Step: 1}, Lower: &hi, Upper: &lo}
		},
	} {
		p := Params{Rho: 1, Groups: 3, Aggregates: []Aggregate{{Measure: Persons}}}
		if _, err := New(p); err != nil {
			t.Fatal(err)
		}
		change(&p)
		if _, err := New(p); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
