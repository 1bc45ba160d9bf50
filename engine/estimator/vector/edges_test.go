package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// blockOf lays persons of one row out, in chunks of different lengths.
func blockOf(dim, persons int, value func(i, j int) int64) *estimator.Block {
	b := &estimator.Block{Dim: dim}
	for at, size := 0, 1; at < persons; at, size = at+size, size*3 {
		ch := estimator.Chunk{Persons: min(size, persons-at)}
		for i := range ch.Persons {
			for j := range dim {
				ch.Dense = append(ch.Dense, value(at+i, j))
			}
		}
		b.Chunks = append(b.Chunks, ch)
	}
	return b
}

// relations are the three cases that estimators tell apart.
var relations = []struct {
	relation estimator.Relation
	sized    bool
}{{estimator.AddRemove, false}, {estimator.ReplaceOne, false}, {estimator.ReplaceOne, true}}

// TestTheStepsSpendTheLoss: what EXPLAIN prints adds up, at any dimension and loss.
func TestTheStepsSpendTheLoss(t *testing.T) {
	for _, m := range denseMethods() {
		for _, rel := range relations {
			for _, dim := range []int{1, 3, 4, 100, 1 << 12} {
				for _, rho := range []float64{privacy.RhoUnit, 1e-3, 0.1, 10} {
					p := m.params(dim, rho, rel.relation, rel.sized)
					e := m.at(t, p)
					if got := e.Loss().Rho; got != privacy.RhoOf(rho) {
						t.Errorf("%s: loss %v at rho %v", m.name, got, rho)
					}
					sum := 0.0
					for _, s := range e.Steps() {
						covered := rel.relation == estimator.ReplaceOne && s.Rho == 0 && s.Sensitivity == "l2=1 (covered by the other steps)"
						sum += s.Rho
						if s.Name == "" || s.Mechanism == estimator.Unlisted || s.Sensitivity == "" || s.Queries < 1 || !(s.Rho > 0) && !covered {
							t.Errorf("%s, d=%d, rho=%v: step %+v", m.name, dim, rho, s)
						}
					}
					if math.Abs(sum/rho-1) > 1e-9 || sum > rho {
						t.Errorf("%s, d=%d: the steps' losses sum to %v, want %v", m.name, dim, sum, rho)
					}
					if e.MinPersons() < leastPersons {
						t.Errorf("%s: answers from %d persons", m.name, e.MinPersons())
					}
				}
			}
		}
	}
}

// TestFewPersonsAreTooFew: exactly under MinPersons the answer is NULL, with the number that would
// do.
func TestFewPersonsAreTooFew(t *testing.T) {
	for _, m := range denseMethods() {
		e := m.at(t, m.params(3, 5, estimator.ReplaceOne, true))
		for _, persons := range []int64{0, 1, 2, e.MinPersons() - 1, e.MinPersons()} {
			b := blockOf(3, int(persons), func(i, j int) int64 { return int64(i % 7 * j) })
			got := e.Release(stattest.Noiser(t, m.name), estimator.Input{Persons: b.Persons(), Vectors: b})
			want := estimator.OK
			if persons < e.MinPersons() {
				want = estimator.TooFew
			}
			if got.Status != want || want == estimator.TooFew && got.Needed != e.MinPersons() || len(got.Values) != 3 || len(got.StdErr) != 3 {
				t.Errorf("%s: %d persons, of %d needed: %+v", m.name, persons, e.MinPersons(), got)
			}
		}
	}
	e := method{name: "no block"}.at(t, method{p: Params{Params: denseMethods()[0].p.Params}}.params(3, 5, estimator.AddRemove, false))
	if got := e.Release(stattest.Zero{}, estimator.Input{}); got.Status != estimator.TooFew {
		t.Errorf("without a block: %+v", got)
	}
}

// edgeGroups are groups that some step may stumble over, of d coordinates.
func edgeGroups(d, persons int) map[string]*estimator.Block {
	r := rand.New(rand.NewPCG(1, 2))
	return map[string]*estimator.Block{
		"equal":    blockOf(d, persons, func(int, int) int64 { return 41 }),
		"zero":     blockOf(d, persons, func(int, int) int64 { return 0 }),
		"constant": blockOf(d, persons, func(_, j int) int64 { return int64(j%2) * r.Int64N(90) }),
		"outlier": blockOf(d, persons, func(i, _ int) int64 {
			if i == 7 {
				return estimator.MaxUnits
			}
			return 30 + r.Int64N(9)
		}),
		"two ends": blockOf(d, persons, func(i, _ int) int64 { return int64(i%2*2-1) * estimator.MaxUnits }),
		"extreme":  blockOf(d, persons, func(int, int) int64 { return int64(r.Uint64()) }),
	}
}

// TestEdgeGroupsGiveFiniteAnswers releases on groups of every odd kind with real noise, much and
// little of it.
func TestEdgeGroupsGiveFiniteAnswers(t *testing.T) {
	for _, d := range []int{1, 3, 5} {
		groups := edgeGroups(d, 3000)
		for _, m := range denseMethods() {
			for _, rho := range []float64{0.05, 50} {
				for name, b := range groups {
					e := m.at(t, m.params(d, rho, estimator.AddRemove, false))
					a := e.Release(stattest.Noiser(t, m.name+name), estimator.Input{Persons: b.Persons(), Vectors: b})
					lo, hi := -float64(estimator.MaxUnits), float64(estimator.MaxUnits)
					for j, v := range a.Values {
						if !(v >= lo && v <= hi) || a.Status == estimator.OK && !(a.StdErr[j] >= 0 && a.StdErr[j] < math.MaxFloat64) {
							t.Errorf("%s, d=%d, rho=%v, %s: %v ± %v", m.name, d, rho, name, v, a.StdErr[j])
						}
					}
				}
			}
		}
	}
}

// TestEqualPersonsAndOutliers: with little noise the answer is the value that all have, constant
// coordinates are found, and one far person moves the answer by little more than a near one.
func TestEqualPersonsAndOutliers(t *testing.T) {
	for _, d := range []int{1, 3, 5} {
		groups := edgeGroups(d, 8000)
		for _, m := range denseMethods() {
			if m.p.Radius > 0 { // declares a norm that these groups do not have
				continue
			}
			e := m.at(t, m.params(d, 20, estimator.ReplaceOne, true))
			release := func(name string) estimator.Estimate {
				return e.Release(stattest.Noiser(t, m.name+name), estimator.Input{Persons: groups[name].Persons(), Vectors: groups[name]})
			}
			for j := range d {
				want := map[string]float64{"equal": 41, "zero": 0, "constant": 44.5 * float64(j%2), "outlier": 34}
				for name, w := range want {
					got := release(name).Values[j] / e.p.Grid.Step
					if tolerance := 1.5; math.Abs(got-w) > tolerance {
						t.Errorf("%s, d=%d, %s: coordinate %d is %v, want %v", m.name, d, name, j, got, w)
					}
				}
			}
		}
	}
}

// quiet adds no noise, but has secret bits.
type quiet struct {
	stattest.Zero
	bits noise.Bits
}

// Uniform implements noise.Noiser.
func (q quiet) Uniform() uint64 { return q.bits.Uint64() }

// TestShiftedMeansMoveWithTheData: without noise the answer for data moved by a constant is the
// answer moved by it, but for the clip's edge, which the grids of radii and centres decide, and has
// the noise that it had. The noise of the clipped mean about 0 grows with the move.
func TestShiftedMeansMoveWithTheData(t *testing.T) {
	const d, persons, spread = 5, 4000, 1000
	moves := func(m method) (worst, noise float64) {
		r := rand.New(stattest.Source(t, "moves"))
		base := make([]int64, d*persons)
		for i := range base {
			base[i] = int64(spread * r.NormFloat64() * math.Exp(r.NormFloat64()/2))
		}
		e := m.at(t, m.params(d, 0.1, estimator.AddRemove, false))
		answer := func(by int64) estimator.Estimate {
			b := blockOf(d, persons, func(i, j int) int64 { return base[i*d+j] + by })
			return e.Release(quiet{bits: stattest.Source(t, "pairs")}, estimator.Input{Persons: b.Persons(), Vectors: b})
		}
		still := answer(0)
		for _, by := range []int64{1, 379, -1 << 12, 1 << 20, -3_000_001} {
			moved := answer(by)
			for j, v := range moved.Values {
				worst = max(worst, math.Abs(v/e.p.Grid.Step-float64(by)-still.Values[j]/e.p.Grid.Step)/spread)
				noise = max(noise, moved.StdErr[j]/still.StdErr[j])
			}
		}
		return worst, noise
	}
	for _, m := range denseMethods() {
		if m.p.Bounded() || m.p.Radius > 0 || m.p.Grid.Lo == 0 || m.p.Rotate || m.p.Method == Auto {
			continue
		}
		if worst, noise := moves(m); worst > 0.05 || (noise > 1.3) != (m.p.Method == Clipped) {
			t.Errorf("%s: moved data move the answer by %v of the spread too much, and the noise is %v times as large", m.name, worst, noise)
		}
	}
}

// TestBadParametersAreRefused names each bad parameter.
func TestBadParametersAreRefused(t *testing.T) {
	good := Params{Params: denseMethods()[0].p.Params, Dim: 3}
	good.Rho = 0.1
	if _, err := NewMean(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Params){
		"rho":           func(p *Params) { p.Rho = math.NaN() },
		"dimension":     func(p *Params) { p.Dim = 0 },
		"have 1048577":  func(p *Params) { p.Dim = 1<<20 + 1 },
		"p <= 100":      func(p *Params) { p.P = 0.5 },
		"have NaN":      func(p *Params) { p.P = math.NaN() },
		"pairs":         func(p *Params) { p.Pairs = -1 },
		"radius":        func(p *Params) { p.Radius = math.Inf(1) },
		"sigma_min":     func(p *Params) { p.SigmaMin, p.SigmaMax = 2, 1 },
		"1 or 3":        func(p *Params) { p.Sigma = []float64{1, 2} },
		"spreads > 0":   func(p *Params) { p.Sigma = []float64{0} },
		"declared":      func(p *Params) { p.Method, p.Scale = Plan, Declared },
		"rotated":       func(p *Params) { p.Method, p.Rotate = Clipped, true },
		"one scale":     func(p *Params) { p.Method, p.Rotate = Plan, true },
		"replace-one":   func(p *Params) { p.Sized = true },
		"grid lo":       func(p *Params) { p.Grid.Lo = math.MinInt64 },
		"method=coinp":  func(p *Params) { p.Method = Coinpress },
		"values from 0": func(p *Params) { p.Sparse = true },
	} {
		p := good
		change(&p)
		if _, err := NewMean(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// TestStdErrIsTheNoise compares the spread of answers on one group with the standard errors that
// they state.
func TestStdErrIsTheNoise(t *testing.T) {
	r := rand.New(stattest.Source(t, "group"))
	b := blockOf(6, 3000, func(_, j int) int64 { return int64(math.Exp2(float64(j)) * 200 * r.NormFloat64()) })
	for _, m := range denseMethods() {
		if m.p.Bounded() || m.p.Radius > 0 || m.p.Grid.Lo == 0 {
			continue // these data are not within those
		}
		t.Run(m.name, func(t *testing.T) {
			e := m.at(t, m.params(6, 0.2, estimator.AddRemove, false))
			stattest.Accept(t, stattest.Variance(m.name, spreads(t, e, b, stattest.Noiser(t, m.name)), 1, 3.6))
			few := stattest.Shrunk{Noiser: stattest.Noiser(t, m.name), Factor: 3}
			stattest.Reject(t, stattest.Variance(m.name, spreads(t, e, b, few), 1, 3.6))
		})
	}
}

// spreads returns the errors of many answers, in their standard errors. The errors are against the
// mean of all answers, as a clipped mean has a bias of its own.
func spreads(t *testing.T, e mean, b *estimator.Block, n noise.Noiser) []float64 {
	const releases = 70
	var all []estimator.Estimate
	for range releases {
		all = append(all, e.Release(n, estimator.Input{Persons: b.Persons(), Vectors: b}))
	}
	var z []float64
	for j := range b.Dim {
		sum := 0.0
		for _, a := range all {
			sum += a.Values[j] / releases
		}
		for _, a := range all {
			if a.Status != estimator.OK {
				t.Fatalf("too few: %+v", a)
			}
			z = append(z, (a.Values[j]-sum)/a.StdErr[j]*math.Sqrt(releases/(releases-1.0)))
		}
	}
	return z
}

// TestMedianSearchesAgree: both searches find the same means, and their slack is charged.
func TestMedianSearchesAgree(t *testing.T) {
	r := rand.New(stattest.Source(t, "searches"))
	b := blockOf(5, 4000, func(_, j int) int64 { return int64(1000*j) + int64(300*r.NormFloat64()) })
	for _, method := range []Method{Shifted, Plan} {
		p := Params{Params: denseMethods()[0].p.Params, Dim: 5, Method: method, Search: Exponential}
		p.Rho = 1
		e, err := NewMean(p)
		if err != nil {
			t.Fatal(err)
		}
		if d := e.Loss().DeltaTV; !(d > 0 && d < 1e-25) {
			t.Errorf("slack %v", d)
		}
		a := e.Release(stattest.Noiser(t, fmt.Sprint(method)), estimator.Input{Persons: b.Persons(), Vectors: b})
		for j, v := range a.Values {
			if got := v / p.Grid.Step; math.Abs(got-float64(1000*j)) > 60 {
				t.Errorf("method %d: coordinate %d is %v", method, j, got)
			}
		}
	}
}

// TestNoRunIsRuined: a search that turns the wrong way, or a radius that passes the data by, makes
// an answer that is wrong by a large factor. With the least number of persons that is answered, and
// with more, none of some hundred does. A method whose minimum is ignored must fail.
func TestNoRunIsRuined(t *testing.T) {
	worst := func(m method, d int, short float64, sized bool) float64 {
		p := m.params(d, 0.5, estimator.AddRemove, false)
		if sized {
			p.Relation, p.Sized = estimator.ReplaceOne, true
		}
		e := m.at(t, p)
		r, n := rand.New(stattest.Source(t, m.name)), stattest.Noiser(t, m.name)
		count := float64(e.MinPersons()) * short
		var errors []float64
		for range 40 {
			b := blockOf(d, int(count), func(_, j int) int64 { return 500 + int64(math.Exp2(float64(j%4))*300*r.NormFloat64()) })
			mean, _, _ := e.core.(dense).mean(n, e.p.group(b).Block, count)
			q := 0.0
			for _, v := range mean {
				q = math.Hypot(q, math.Ldexp(v, -int(e.p.shift()))-500)
			}
			errors = append(errors, q)
		}
		slices.Sort(errors)
		return errors[len(errors)-1] / errors[len(errors)/2]
	}
	for _, m := range denseMethods() {
		if m.name != "shifted" && m.name != "plan" && m.name != "plan pairs" {
			continue
		}
		for _, d := range []int{1, 4, 32} {
			for _, sized := range []bool{false, true} {
				for _, times := range []float64{1.05, 3} {
					if x := worst(m, d, times, sized); x > 9 {
						t.Errorf("%s, d=%d, sized=%v, %v times the least number of persons: an error %.1f times the median", m.name, d, sized, times, x)
					}
				}
			}
		}
		if x := worst(m, 32, 0.2, true); m.name == "shifted" && x < 1.5 {
			t.Errorf("%s: with a fifth of the least number of persons the largest error is %.1f times the median", m.name, x)
		}
	}
}
