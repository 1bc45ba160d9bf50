package groups

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestOnePersonMovesTheProfileByItsSensitivity: over all variants and persons at every edge, the
// squares of what one person moves add up to what the noise is for, and come up to it; one who is
// exchanged in all groups moves it by more than what add-remove's noise is for.
func TestOnePersonMovesTheProfileByItsSensitivity(t *testing.T) {
	r := rand.New(stattest.Source(t, "profile"))
	for _, v := range variants() {
		for _, relation := range relations {
			e := v.at(t, 1, relation)
			if !e.profiled() {
				continue
			}
			worst, dim := new(big.Int), v.p.Groups*v.p.Width()
			for range 200 {
				db := v.tiny(r, 1+r.IntN(3))
				if r.IntN(2) == 0 { // one who is in one group alone
					db[0] = map[int]int64{}
					for c := range v.p.Width() {
						db[0][c] = 1 + r.Int64N(100)
					}
				}
				other := slices.Clone(db)
				if relation == estimator.ReplaceOne {
					other[0] = v.tiny(r, 1)[0]
					if r.IntN(2) == 0 {
						other[0] = map[int]int64{}
						for c := range v.p.Width() {
							other[0][v.p.Width()+c] = 1 + r.Int64N(100)
						}
					}
				} else {
					other = other[1:]
				}
				moved, less := new(big.Int), e.layout.profile(layOut(dim, other))
				for j, s := range e.layout.profile(layOut(dim, db)) {
					d := new(big.Int).Sub(s, less[j])
					moved.Add(moved, d.Mul(d, d))
				}
				if moved.Cmp(worst) > 0 {
					worst = moved
				}
			}
			most := new(big.Int).Lsh(big.NewInt(e.profileMoved()), 48)
			ratio, _ := new(big.Rat).SetFrac(worst, most).Float64()
			if worst.Cmp(most) > 0 || ratio < 0.9 {
				t.Errorf("%s, %v: a person moves the profile by %v of its squared sensitivity", v.name, relation, ratio)
			}
			if relation == estimator.ReplaceOne && ratio <= 0.5 {
				t.Errorf("%s: the noise of add-remove passed under replace-one", v.name)
			}
		}
	}
}

// TestTheProfileTellsShares: everyone counts by a length of 1, whatever they have.
func TestTheProfileTellsShares(t *testing.T) {
	e := variants()[3].at(t, 1, estimator.AddRemove)
	sums := e.layout.profile(layOut(4, []map[int]int64{{0: 3, 1: -4}, {2: 1 << 49}, {0: 30000, 1: 40000}, {}}))
	for j, want := range []float64{1.2, 1.6, 1, 0} {
		if f, _ := new(big.Float).SetInt(sums[j]).Float64(); math.Abs(math.Ldexp(f, -24)-want) > 1e-6 {
			t.Errorf("group %d: %v, want %v", j, math.Ldexp(f, -24), want)
		}
	}
}

// TestShapesFollowTheProfile: noise grows with the fourth root of what a group has, groups that
// noise hides are alike, and equal groups get equal weights whatever the noise.
func TestShapesFollowTheProfile(t *testing.T) {
	e := variants()[0].at(t, 1, estimator.AddRemove)
	s := e.shapeOf([]float64{1600, 400, 100, 3}, 0.01)
	if w := s.weights; math.Abs(w[0]/w[1]-0.5) > 1e-3 || math.Abs(w[1]/w[2]-0.5) > 1e-3 || math.Abs(w[3]-1) > 1e-9 {
		t.Errorf("weights %v", s.weights)
	}
	s = e.shapeOf([]float64{1600, 3, -7, 5}, 10)
	if w := s.weights; w[1] != w[2] || w[2] != w[3] || w[3] != 1 || !(w[0] < 0.2) {
		t.Errorf("weights %v of groups that noise hides", s.weights)
	}
	s = e.shapeOf([]float64{110, 90, 105, 95}, 10)
	if w := s.weights; slices.Min(w) < 0.97 || s.spare > 1.03 || s.longer > 1.03 {
		t.Errorf("shape %+v of even groups", s)
	}
	two := variants()[2].at(t, 1, estimator.AddRemove) // rows and persons
	s = two.shapeOf([]float64{1600, 1, 1600, 1, 100, 1, 100, 1}, 0.01)
	if math.Abs(s.spare-1) > 1e-9 || s.weights[1] != 1 || math.Abs(s.weights[4]/s.weights[0]-4) > 1e-2 {
		t.Errorf("shape %+v of two aggregates", s)
	}
}

// TestShapingHelpsUnevenGroups: where groups differ as 1, 1/2, 1/3, … and persons are in most of
// them, the squared errors add up to much less than those of one release with the same noise in
// all; with equal groups they do not add up to more.
func TestShapingHelpsUnevenGroups(t *testing.T) {
	const groups, persons, runs = 40, 2000, 15
	errorsOf := func(even, shaped bool) float64 {
		r := rand.New(stattest.Source(t, "uneven"))
		db, truth := make([]map[int]int64, persons), make([]float64, groups)
		for i := range db {
			db[i] = map[int]int64{}
			for g := range groups {
				if x := 1 + r.Int64N(2000)/int64(g+1); !even || r.IntN(4) == 0 {
					if even {
						x = 1 + r.Int64N(100)
					}
					db[i][g] = x
					truth[g] += float64(x) / 4
				}
			}
		}
		v := variant{p: Params{Groups: groups, Aggregates: []Aggregate{{Measure: Sum, Grid: quarters()}}}}
		e, n, q := v.at(t, 0.1, estimator.AddRemove), stattest.Noiser(t, "noise"), 0.0
		if !shaped {
			e.profile = 0
		}
		for range runs {
			for g, x := range e.Release(n, estimator.Input{Vectors: layOut(groups, db)}).Values {
				q += (x - truth[g]) * (x - truth[g]) / runs
			}
		}
		return q
	}
	if with, without := errorsOf(false, true), errorsOf(false, false); !(with < 0.7*without) {
		t.Errorf("uneven groups: squared errors %.3g, %.3g without a shape", with, without)
	}
	if with, without := errorsOf(true, true), errorsOf(true, false); !(with < 1.2*without) {
		t.Errorf("even groups: squared errors %.3g, %.3g without a shape", with, without)
	}
}
