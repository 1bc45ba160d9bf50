package estimator_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// pureVariants lists the estimators that have a pure form: all but variances and covariances.
func pureVariants() []variant {
	var all []variant
	for _, v := range variants() {
		if !slices.ContainsFunc([]string{"variance", "stddev", "together"}, func(kind string) bool { return strings.Contains(v.name, kind) }) {
			all = append(all, v)
		}
	}
	return all
}

// pureAt builds the pure form of an estimator.
func (v variant) pureAt(t testing.TB, eps float64) estimator.Estimator {
	t.Helper()
	p := v.p
	p.Epsilon = eps
	e, err := v.make(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPureLossIsTheParameter: the pure ε is the parameter, what the steps cost adds up to it, and
// nothing has a slack or Gaussian noise.
func TestPureLossIsTheParameter(t *testing.T) {
	for _, v := range pureVariants() {
		for _, eps := range []float64{1e-9, 0.01, 1, 1e4} {
			e := v.pureAt(t, eps)
			l, want := e.Loss(), privacy.PureLoss(eps)
			if v.exact() {
				want = privacy.Loss{}
			}
			if l.Pure != want.Pure || l.Rho > want.Rho || l.Rho < want.Rho/16 || l.DeltaEvent != 0 || l.DeltaTV != 0 {
				t.Errorf("%s: loss %+v at epsilon %v, want %+v", v.name, l, eps, want)
			}
			sum := 0.0
			for _, s := range e.Steps() {
				if sum += s.Epsilon; s.Rho != 0 || s.Mechanism == estimator.DiscreteGaussian || strings.HasPrefix(s.Sensitivity, "l2=") && !v.exact() {
					t.Errorf("%s: step %+v", v.name, s)
				}
			}
			if !v.exact() && (sum > eps || sum < eps*(1-1e-9)) {
				t.Errorf("%s: the steps cost %v of %v", v.name, sum, eps)
			}
		}
		for name, change := range map[string]func(*estimator.Params){
			"negative": func(p *estimator.Params) { p.Epsilon = -1 },
			"NaN":      func(p *estimator.Params) { p.Epsilon = math.NaN() },
			"infinite": func(p *estimator.Params) { p.Epsilon = math.Inf(1) },
			"both":     func(p *estimator.Params) { p.Epsilon, p.Rho = 1, 1 },
			"tiny":     func(p *estimator.Params) { p.Epsilon = 1e-300 },
		} {
			p := v.p
			change(&p)
			if _, err := v.make(p); err == nil {
				t.Errorf("%s: %s epsilon was accepted", v.name, name)
			}
		}
	}
}

// TestWhatIsNotPureSaysSo: the other estimators refuse a pure release by the error for it.
func TestWhatIsNotPureSaysSo(t *testing.T) {
	refused := 0
	for _, v := range variants() {
		p := v.p
		p.Epsilon = 1
		if _, err := v.make(p); errors.Is(err, estimator.ErrNotPure) {
			refused++
		} else if strings.Contains(v.name, "variance") {
			t.Errorf("%s: %v", v.name, err)
		}
	}
	if want := len(variants()) - len(pureVariants()); refused != want {
		t.Errorf("%d refused, want %d: variances, and what is answered together", refused, want)
	}
}

// worstPure returns the largest ε between random small databases and their neighbours, with the
// same answers forced on both sides: that of the Laplace noise, and the declared one of choices by
// the exponential mechanism, whose laws package exponential compares. Where a person exchanged is
// on one side only, a choice costs half of it. It stops at the first above enough.
func worstPure(t *testing.T, v variant, e estimator.Estimator, tries int, enough float64) float64 {
	r := rand.New(stattest.Source(t, "pure soundness"+v.name))
	n := stattest.Noiser(t, "pure soundness noise"+v.name)
	choices, worst := 0.0, 0.0
	for _, s := range e.Steps() {
		if s.Mechanism == estimator.Exponential {
			choices += s.Epsilon
		}
	}
	valued := v.p.Sized && e.Columns()[0] == estimator.Value
	for range tries {
		if worst > enough {
			break
		}
		db := database(r, v, e, valued)
		full := &stattest.Recorder{Answer: answers(r, n, !v.p.Sized, e.MinPersons())}
		e.Release(full, input(e, db, v.p.MaxRows))
		for _, other := range neighbours(r, v, db, valued) {
			less := full.Replay(t)
			e.Release(less, input(e, other, v.p.MaxRows))
			l, _ := stattest.PureLoss(t, full, less).Float64()
			switch {
			case full.Choices == 0: // a search for few persons, without a choice
			case v.p.Relation == estimator.ReplaceOne && present(db) != present(other):
				l += choices / 2
			default:
				l += choices
			}
			worst = max(worst, l)
			if t.Failed() {
				t.Fatalf("database %+v against %+v", db, other)
			}
		}
	}
	return worst
}

func present(db []person) int {
	n := 0
	for _, p := range db {
		if p.rows > 0 {
			n++
		}
	}
	return n
}

// TestOnePersonMovesThePureQueriesWithinEpsilon is the soundness test of the pure forms. It must
// reject one that was built for three times the ε, and one that was built for the other relation.
func TestOnePersonMovesThePureQueriesWithinEpsilon(t *testing.T) {
	const eps = 0.5
	for _, v := range pureVariants() {
		if v.name[:12] == "row quantile" || v.exact() {
			// a person's values are counted by their rows: see the enumeration of the choices
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			e := v.pureAt(t, eps)
			tries := stattest.Runs(20, 60)
			if v.p.Relation == estimator.ReplaceOne {
				tries = int(max(8, 5000/(200+e.MinPersons()))) / stattest.Runs(2, 1)
			}
			worst := worstPure(t, v, e, tries, math.Inf(1))
			if worst > eps {
				t.Errorf("a person moves the queries by %v, declared %v", worst, eps)
			}
			t.Logf("worst branch uses %.3f of epsilon", worst/eps)
			if worst = worstPure(t, v, v.pureAt(t, 3*eps), 80, eps); worst <= eps {
				t.Error("an estimator with a third of the noise passed")
			}
			if w := v; v.p.Relation == estimator.ReplaceOne && !v.p.Sized && exchangeCosts(v) && v.name[:2] != "qu" && v.name[:3] != "med" {
				w.p.Relation = estimator.AddRemove
				if worst = worstPure(t, v, w.pureAt(t, eps), 200, eps); worst <= eps {
					t.Error("an estimator for add-remove passed under replace-one")
				}
			}
		})
	}
}

// TestPureCentres forces centres among the data: a forced choice takes the first point of the
// range.
func TestPureCentres(t *testing.T) {
	const eps = 0.5
	for _, v := range pureVariants() {
		if v.p.Bounded() || v.name[:4] != "mean" && v.name[:4] != "row " && v.name[:4] != "sum," || v.name[:5] == "row q" {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			most := 0.0
			for _, lo := range []int64{-100, -3, 0, 5} {
				w := v
				w.p.Grid.Lo, w.p.Grid.Hi = lo, lo+1000
				e, tries := w.pureAt(t, eps), stattest.Runs(16, 40)
				if v.p.Relation == estimator.ReplaceOne {
					tries = int(max(4, 2000/(200+e.MinPersons())))
				}
				worst := worstPure(t, w, e, tries, math.Inf(1))
				if most = max(most, worst); worst > eps {
					t.Errorf("centre %d: a person moves the queries by %v, declared %v", lo, worst, eps)
				}
			}
			if most < eps/2 {
				t.Errorf("a person moves the queries by %v at most, of %v: the databases say little", most, eps)
			}
		})
	}
}

// TestPureLawsByEnumeration compares the exact probabilities of every answer of counts and sums on
// tiny databases. The law of an answer is that of Lap_Z(t): e^{-|y|/t} over a sum that does not
// depend on the data.
func TestPureLawsByEnumeration(t *testing.T) {
	const eps = 0.7
	people := [][]person{{}, {{rows: 1, sum: 5}}, {{rows: 2, sum: -9}}, {{rows: 1, sum: 5}, {rows: 1, sum: -3}}, {{rows: 3, sum: 30}, {rows: 1, sum: 10}}, {{rows: 1, sum: 10}, {rows: 1, sum: -3}}}
	tight := 0
	for _, v := range pureVariants() {
		bounded := v.p.Bounded() && v.p.MaxRows > 0 && v.name[:4] == "sum," && !v.p.Sized
		if v.name[:4] != "unit" && !(v.name[:4] == "coun" && v.p.MaxRows > 0) && !bounded || v.exact() {
			continue
		}
		worst := 0.0
		query := func(db []person) stattest.Query {
			r := &stattest.Recorder{Answer: func(_ int, v, _ *big.Int) *big.Int { return v }}
			e := v.pureAt(t, eps)
			e.Release(r, input(e, db, v.p.MaxRows))
			return r.Queries[0]
		}
		for _, a := range people {
			for _, b := range people {
				if len(a) != len(b) && (v.p.Relation == estimator.AddRemove || !v.p.Sized) && len(a) != len(b)+1 || len(a) == len(b) && v.p.Relation == estimator.AddRemove {
					continue
				}
				if v.p.Sized && len(a) != len(b) || differ(a, b) > 1 {
					continue
				}
				p, q := query(a), query(b)
				scale, _ := new(big.Rat).SetFrac(p.Num, p.Den).Float64()
				x, y := float64(p.Value.Int64()), float64(q.Value.Int64())
				for answer := -200.0; answer <= 200; answer++ {
					worst = max(worst, (math.Abs(answer-y)-math.Abs(answer-x))/scale)
				}
			}
		}
		if worst > eps*(1+1e-12) {
			t.Errorf("%s: an answer is e^%v times as likely for a neighbour", v.name, worst)
		}
		if worst > eps*0.99 {
			tight++
		}
	}
	if tight < 4 {
		t.Errorf("only %d estimators reach their epsilon: the databases say little", tight)
	}
}

// differ is the number of persons in which two databases differ, the longer having one more at the
// end at most.
func differ(a, b []person) int {
	n := max(len(a), len(b)) - min(len(a), len(b))
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestPureAuditOfWorstNeighbours bounds the divergence of the laws from below by samples: it is at
// most ε·tanh(ε/2) for ε-DP, and with a hundredth of the noise every pair is caught. One person
// more moves a median by half a rank, so it tells no more than half of the draws.
func TestPureAuditOfWorstNeighbours(t *testing.T) {
	const eps = 0.5
	limit := eps * math.Tanh(eps/2)
	for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, a := range audits() {
			if strings.Contains(a.name, "variance") {
				continue
			}
			t.Run(r.String()+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				x, y := a.pair(r)
				runs := 80
				if a.name == "median" || a.name == "quantile" {
					runs = 640
				}
				bound := func(eps float64) float64 {
					p := a.params(r, false, 0)
					p.Epsilon = eps
					e, err := a.make(p)
					if err != nil {
						t.Fatal(err)
					}
					n := stattest.Noiser(t, t.Name())
					return stattest.LossBound(sample(e, x, n, runs), sample(e, y, n, runs))
				}
				if b := bound(eps); b > limit {
					t.Errorf("seed %d: the laws diverge by at least %.3f, allowed %.3f", stattest.Seed(t), b, limit)
				}
				if b := bound(100 * eps); b <= limit {
					t.Errorf("seed %d: a hundredth of the noise was not caught: at least %.3f", stattest.Seed(t), b)
				}
			})
		}
	}
}

// TestPureEdges releases on the groups of TestEdgeInputsGiveFiniteAnswers with the pure forms.
func TestPureEdges(t *testing.T) {
	same := make([]person, 400)
	for i := range same {
		same[i] = person{rows: 1, sum: 5, lo: 25, median: 5}
	}
	groups := [][]person{{}, same[:1], same[:2], {{}, {}}, same, append(append([]person{}, same...), extremes...)}
	for _, p := range extremes {
		groups = append(groups, []person{p})
	}
	for _, v := range pureVariants() {
		for _, eps := range []float64{1e-6, 0.5, 1e4} {
			e, n := v.pureAt(t, eps), stattest.Noiser(t, v.name)
			for _, g := range groups {
				a := e.Release(n, input(e, g, v.p.MaxRows))
				for i, x := range a.Values {
					if math.IsNaN(x) || math.IsInf(x, 0) || a.StdErr[i] < 0 || math.IsInf(a.StdErr[i], 0) {
						t.Errorf("%s, epsilon %v, %d persons: %v ± %v", v.name, eps, len(g), x, a.StdErr[i])
					}
				}
				if a.Status == estimator.TooFew && a.Needed < 1 || e.MinPersons() == 0 && a.Status != estimator.OK {
					t.Errorf("%s: %+v", v.name, a)
				}
			}
		}
	}
}
