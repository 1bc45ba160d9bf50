package flow

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/test/stattest"
)

// variant is an estimator with its options, as a function of its loss.
type variant struct {
	name string
	p    estimator.Params
	o    Options
}

// variants are all shapes with every option that changes their steps, under both relations.
func variants() []variant {
	grid := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	var all []variant
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, s := range []Shape{Two, Self, Distinct, One} {
			for _, o := range []Options{{}, {Sum: true}, {Signed: true}, {Cap: 3}, {Cap: 3, Signed: true, Sum: true}, {Most: 40}, {Clamp: true}} {
				if o.Shape = s; o.Signed && s != Two && s != Self || s == Distinct && o.Sum {
					continue
				}
				v := variant{fmt.Sprintf("%v,%v,%+v", relation, s, o), estimator.Params{Relation: relation}, o}
				if o.Sum {
					v.p.Grid = grid
				}
				all = append(all, v)
			}
		}
	}
	return all
}

func (v variant) at(t *testing.T, rho float64) release {
	t.Helper()
	v.p.Rho = rho
	return v.build(t)
}

func (v variant) pure(t *testing.T, epsilon float64) release {
	t.Helper()
	v.p.Epsilon = epsilon
	return v.build(t)
}

func (v variant) build(t *testing.T) release {
	t.Helper()
	e, err := New(v.p, v.o)
	if err != nil {
		t.Fatal(v.name, err)
	}
	return e.(release)
}

func TestLossIsTheParameterRoundedUp(t *testing.T) {
	for _, v := range variants() {
		for _, loss := range []float64{1e-9, 0.01, 1, 1e6} {
			e := v.at(t, loss)
			if want := (privacy.Loss{Rho: privacy.RhoOf(loss)}); e.Loss() != want {
				t.Errorf("%s: loss %+v, want %+v", v.name, e.Loss(), want)
			}
			pure := v.pure(t, loss)
			if want := privacy.PureLoss(loss); pure.Loss() != want {
				t.Errorf("%s: pure loss %+v, want %+v", v.name, pure.Loss(), want)
			}
			rho, epsilon := 0.0, 0.0
			for i, s := range e.Steps() {
				rho += s.Rho
				epsilon += pure.Steps()[i].Epsilon
				if s.Name == "" || s.Mechanism == estimator.Unlisted || s.Sensitivity == "" || s.Queries != 1 {
					t.Errorf("%s: step %+v is not described", v.name, s)
				}
			}
			if math.Abs(rho/loss-1) > 1e-9 || math.Abs(epsilon/loss-1) > 1e-9 || rho > loss || epsilon > loss {
				t.Errorf("%s: the steps' losses sum to %v and %v, want %v", v.name, rho, epsilon, loss)
			}
			var sum privacy.Rho
			for _, x := range e.Events() {
				sum = sum.Add(x.Rho)
			}
			if v.o.Cap > 0 && sum != e.Loss().Rho || v.o.Cap == 0 && len(e.Events()) != 2 {
				t.Errorf("%s: events %+v", v.name, e.Events())
			}
		}
	}
}

func TestBadParametersAreNamed(t *testing.T) {
	good := estimator.Params{Rho: 0.1}
	for name, c := range map[string]struct {
		p estimator.Params
		o Options
	}{
		"rho 0":           {estimator.Params{}, Options{}},
		"shape":           {good, Options{Shape: 9}},
		"cap":             {good, Options{Cap: -1}},
		"cap of 2^51":     {good, Options{Cap: 1 << 51}},
		"most":            {good, Options{Most: -1}},
		"signed distinct": {good, Options{Shape: Distinct, Signed: true}},
		"sum, no grid":    {good, Options{Sum: true}},
	} {
		if _, err := New(c.p, c.o); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// groups are pairs at the edges: none, one, all of one person, everybody with everybody, weights
// that no rows could give.
func groups(r *rand.Rand) map[string]*estimator.Pairs {
	all := map[string]*estimator.Pairs{
		"none":    nil,
		"empty":   {},
		"persons": {Lefts: 9, Rights: 9},
		"one":     {Lefts: 1, Rights: 1, Left: []uint32{0}, Right: []uint32{0}},
		"joined":  joined(r, 40, 40, 900),
	}
	star := &estimator.Pairs{Lefts: 300, Rights: 300}
	hostile := &estimator.Pairs{Lefts: 30, Rights: 30}
	for i := range uint32(300) {
		star.Left, star.Right = append(star.Left, 0), append(star.Right, i)
		hostile.Left, hostile.Right = append(hostile.Left, i%30), append(hostile.Right, i*i%30)
		hostile.Weights = append(hostile.Weights, []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, 1 << 40}[r.IntN(6)])
	}
	all["star"], all["hostile"] = star, hostile
	return all
}

// TestEdgeInputsGiveFiniteAnswers releases with real noise at losses from the smallest to the
// largest.
func TestEdgeInputsGiveFiniteAnswers(t *testing.T) {
	r := rand.New(stattest.Source(t, "edges"))
	for name, p := range groups(r) {
		for _, v := range variants() {
			for _, e := range []release{v.at(t, 1e-9), v.at(t, 0.05), v.at(t, 1e6), v.pure(t, 0.5)} {
				a := e.Release(stattest.Noiser(t, v.name), estimator.Input{Pairs: p})
				if x := a.Values[0]; math.IsNaN(x) || math.IsInf(x, 0) || a.Status == estimator.OK && !(a.StdErr[0] > 0) {
					t.Errorf("%s, %s: answer %+v", v.name, name, a)
				}
				if a.Status == estimator.TooFew && (a.Needed < 1 || e.MinPersons() == 0) {
					t.Errorf("%s, %s: TooFew, %d needed of at least %d", v.name, name, a.Needed, e.MinPersons())
				}
				for _, level := range []float64{1e-9, 0.5, 0.95, 1 - 1e-12} {
					lo, hi := errorbar.Interval(a, 0, level)
					if lo > a.Values[0] || hi < a.Values[0] || a.Status == estimator.OK && (math.IsNaN(lo) || math.IsNaN(hi)) {
						t.Errorf("%s, %s: interval [%v, %v] of %v", v.name, name, lo, hi, a.Values[0])
					}
				}
			}
		}
	}
}

// recorded replays a release with forced answers for its Gaussian steps and a cap that is forced
// too, and returns what was about to be noised.
func recorded(t *testing.T, e release, p *estimator.Pairs, i int, answer func(int, *big.Int, *big.Int) *big.Int) *stattest.Recorder {
	t.Helper()
	q := newProfile(e.o.Shape, e.o.Signed, e.caps, p)
	q.from(0)
	rec := &stattest.Recorder{Answer: answer}
	e.first().Big(rec, q.all[0])
	e.after(rec, q, i, 0)
	return rec
}

// signed gives weights of both signs to a small graph, the same to a slot in every graph.
func signed(p *estimator.Pairs, signs int) *estimator.Pairs {
	out := *p
	out.Weights = append([]int64{}, p.Weights...)
	for i := range out.Weights {
		if signs>>(4*out.Left[i]+out.Right[i])&1 == 1 {
			out.Weights[i] = -out.Weights[i]
		}
	}
	return &out
}

// worstLoss is the largest loss of the Gaussian steps between random small neighbours, at every
// cap, with the same answers on both sides: of so many tries, or up to the first that is beyond
// enough.
func worstLoss(t *testing.T, v variant, e release, tries int, enough *big.Rat, loss func(t testing.TB, a, b *stattest.Recorder) *big.Rat) *big.Rat {
	r := rand.New(stattest.Source(t, v.name))
	n := stattest.Noiser(t, "noise of "+v.name)
	worst := new(big.Rat)
	var family []world
	for _, w := range worlds() {
		if w.shape == v.o.Shape {
			family = append(family, w)
		}
	}
	for try := 0; try < tries && (enough == nil || worst.Cmp(enough) <= 0); try++ {
		w := family[r.IntN(len(family))]
		person, signs := r.IntN(w.persons()), r.Int()
		i, cap := r.IntN(w.graphs()), r.IntN(6)
		full := recorded(t, e, signed(w.graph(i), signs), cap, stattest.Forced(r, n, nil, 4))
		others := []*estimator.Pairs{w.graph(w.without(i, person))}
		if v.p.Relation == estimator.ReplaceOne {
			for range 6 { // another of the same rest
				j := r.IntN(w.graphs())
				others = append(others, w.splice(i, j, person))
			}
		}
		for _, other := range others {
			less := recorded(t, e, signed(other, signs), cap, full.Replay(t).Answer)
			if l := loss(t, full, less); l.Cmp(worst) > 0 {
				worst = l
			}
		}
	}
	return worst
}

// splice is graph i with what person p has in graph j.
func (w world) splice(i, j, p int) *estimator.Pairs {
	rest, own := w.without(i, p), j-w.without(j, p)
	return w.graph(rest + own)
}

// TestOnePersonMovesTheQueriesWithinTheLoss: at every cap, what is about to be noised differs
// between neighbours by no more than the loss of the Gaussian steps allows. An estimator that was
// built for three times the loss is rejected: few of the neighbours show it, so that it is looked
// for until one does.
func TestOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	const rho = 0.05
	for _, v := range variants() {
		if v.o.Cap > 0 || v.o.Sum {
			continue
		}
		declared := new(big.Rat).SetFloat64(rho * (shares[0] + shares[2] + shares[3]))
		worst := worstLoss(t, v, v.at(t, rho), 100, nil, stattest.Loss)
		if worst.Cmp(declared) > 0 {
			t.Errorf("%s: a person moves the queries by %v, declared %v", v.name, worst.FloatString(9), declared.FloatString(9))
		}
		if worst := worstLoss(t, v, v.pure(t, rho), 50, nil, stattest.PureLoss); worst.Cmp(declared) > 0 {
			t.Errorf("%s: a person moves the queries of a pure release by %v, declared %v", v.name, worst.FloatString(9), declared.FloatString(9))
		}
		if worst = worstLoss(t, v, v.at(t, 3*rho), 20000, declared, stattest.Loss); worst.Cmp(declared) <= 0 {
			t.Errorf("%s: an estimator with a third of the noise variance passed: %v of %v", v.name, worst.FloatString(9), declared.FloatString(9))
		}
	}
}

// TestTheNumberOfStepsIsTheSame whatever the pairs are, as each is charged.
func TestTheNumberOfStepsIsTheSame(t *testing.T) {
	r := rand.New(stattest.Source(t, "steps"))
	for _, v := range variants() {
		want := 3 // and the choice
		if v.o.Cap > 0 {
			want = 1
		}
		e := v.at(t, 0.05)
		for name, p := range groups(r) {
			rec := &stattest.Recorder{Answer: func(_ int, value, _ *big.Int) *big.Int { return value }}
			e.Release(rec, estimator.Input{Pairs: p})
			if len(rec.Queries) != want {
				t.Errorf("%s, %s: %d queries", v.name, name, len(rec.Queries))
			}
		}
	}
}

// TestSkippedCapsChangeNothing: a choice that computes every cap draws the same as one that leaves
// out those that cannot matter.
func TestSkippedCapsChangeNothing(t *testing.T) {
	p := joined(rand.New(stattest.Source(t, "skipped")), 1000, 1000, 20000)
	e := variant{"", estimator.Params{}, Options{Shape: Two}}.at(t, 0.1)
	skipped := 0
	for k := range 5 {
		all, some := newProfile(Two, false, e.caps, p), newProfile(Two, false, e.caps, p)
		all.from(0)
		a := e.pick.choose(stattest.Noiser(t, fmt.Sprint(k)), all, 8)
		if b := e.pick.choose(stattest.Noiser(t, fmt.Sprint(k)), some, 8); a != b {
			t.Fatalf("cap %d of all, %d of some", e.caps[a], e.caps[b])
		}
		for _, known := range some.known {
			if !known {
				skipped++
			}
		}
	}
	if skipped == 0 {
		t.Error("no cap was left out")
	}
}

// TestAnswersAreNearTheTruth: persons enough, little noise, every shape; and signed weights.
func TestAnswersAreNearTheTruth(t *testing.T) {
	r := rand.New(stattest.Source(t, "near"))
	p := joined(r, 4000, 4000, 60000)
	for _, s := range []Shape{Two, Self, Distinct, One} {
		for _, sign := range []int64{1, -1} {
			o, q := Options{Shape: s, Signed: sign < 0}, *p
			if sign < 0 && s != Two && s != Self {
				continue
			}
			q.Weights = append([]int64{}, p.Weights...)
			for i := range q.Weights {
				q.Weights[i] *= sign
			}
			e := variant{"", estimator.Params{}, o}.at(t, 20)
			a := e.Release(stattest.Noiser(t, s.String()), estimator.Input{Pairs: &q})
			want := float64(sign) * truthOf(s, p)
			if a.Status != estimator.OK || math.Abs(a.Values[0]-want) > 0.005*math.Abs(want) {
				t.Errorf("%v: %v, want %v (%v)", s, a.Values[0], want, a.Status)
			}
		}
	}
}

// TestFewPersonsAreTooFew: where hardly anybody is there, noise is all there would be.
func TestFewPersonsAreTooFew(t *testing.T) {
	r := rand.New(stattest.Source(t, "few"))
	answered := 0
	for k := range 200 {
		e := variant{"", estimator.Params{}, Options{Shape: Two}}.at(t, 0.01)
		p := joined(r, 5, 5, 100)
		if a := e.Release(stattest.Noiser(t, fmt.Sprint(k)), estimator.Input{Pairs: p}); a.Status == estimator.OK {
			answered++
		}
	}
	if answered > 12 { // noise is above 2.5 of its standard deviations in 0.6 % of draws
		t.Errorf("%d of 200 answered", answered)
	}
}

// TestErrorsAreErrors keeps the two ways apart in which New refuses.
func TestErrorsAreErrors(t *testing.T) {
	_, err := New(estimator.Params{Rho: 1e-300}, Options{})
	if err == nil || errors.Is(err, estimator.ErrNotPure) {
		t.Errorf("have %v", err)
	}
}

// TestSumsOfFewPersonsAreTooFew: four persons with much each, in small steps. The cap that is
// chosen is far too small, which the look at the tail cannot see of so few; without the rule an
// answer that is off by more than a half is shown.
func TestSumsOfFewPersonsAreTooFew(t *testing.T) {
	p := &estimator.Pairs{Lefts: 4, Rights: 200}
	for i := range uint32(200) {
		p.Left, p.Right, p.Weights = append(p.Left, i%4), append(p.Right, i), append(p.Weights, 300_000_000)
	}
	for _, signed := range []bool{false, true} {
		v := variant{"few sums", estimator.Params{Grid: estimator.Grid{Step: 0.0001, Decimal: true, Scale: 4, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}, Options{Shape: Two, Sum: true, Signed: signed}}
		e := v.at(t, 15)
		without := e
		without.ofMean = true // nor the rule of who may be beyond the cap
		shown, wrong := 0, 0
		for k := range 100 {
			n := stattest.Noiser(t, fmt.Sprint(signed, k))
			q := newProfile(Two, signed, e.caps, p)
			if a := e.searched(n, q); a.Status == estimator.OK {
				shown++
			}
			q.fill([]int{0})
			persons := e.first().Big(n, q.all[0])
			if a := without.after(n, q, e.pick.choose(n, q, e.pick.power(persons)), persons); a.Status == estimator.OK && a.Values[0] < 3_000_000 {
				wrong++
			}
		}
		if shown > 8 { // Q(1) seems to be of three persons more in 1 % of draws
			t.Errorf("signed %v: %d of 100 answered", signed, shown)
		}
		if wrong < 20 {
			t.Errorf("signed %v: without the rule only %d answers are off: the test can hardly fail", signed, wrong)
		}
	}
}
