package estimator_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/internal/stattest"
)

// variant is one estimator with its options, as a function of its parameters.
type variant struct {
	name string
	grid bool // reads a grid
	make func(estimator.Params) (estimator.Estimator, error)
	p    estimator.Params // without Rho
}

func ptr(x int64) *int64 { return &x }

// variants lists every estimator with every set of options that changes its steps, under every neighbour relation.
// All pass the same suite.
func variants() []variant {
	var all []variant
	for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		all = append(all, under(r, false)...)
	}
	return append(all, under(estimator.ReplaceOne, true)...)
}

// under lists the estimators of one relation, with a private or a public number of persons.
func under(r estimator.Relation, sized bool) []variant {
	all := estimators()
	for i := range all {
		all[i].p.Relation, all[i].p.Sized = r, sized
		if all[i].name += "," + r.String(); sized {
			all[i].name += ",sized"
		}
	}
	return all
}

func estimators() []variant {
	grid := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	open := estimator.Params{Grid: grid}
	with := func(bounds bool, rows int64) estimator.Params {
		p := open
		if p.MaxRows = rows; bounds {
			p.Lower, p.Upper = ptr(-3), ptr(10)
		}
		return p
	}
	var all []variant
	for _, bounds := range []bool{false, true} {
		for _, rows := range []int64{0, 1, 3, 9} {
			p := with(bounds, rows)
			add := func(name string, grid bool, make func(estimator.Params) (estimator.Estimator, error)) {
				all = append(all, variant{fmt.Sprintf("%s,bounds=%v,rows=%d", name, bounds, rows), grid, make, p})
			}
			if !bounds {
				add("count rows", false, func(p estimator.Params) (estimator.Estimator, error) { return count.NewRows(p, true) })
			}
			add("sum", true, mean.NewSum)
			add("row mean", true, mean.NewRowMean)
			add("row variance", true, func(p estimator.Params) (estimator.Estimator, error) {
				return variance.NewRows(p, variance.Options{})
			})
			if rows != 3 { // persons see MaxRows only as 1, and quantiles of rows only when bounded
				add("mean", true, mean.NewMean)
				add("variance", true, func(p estimator.Params) (estimator.Estimator, error) {
					return variance.New(p, variance.Options{})
				})
				add("population stddev", true, func(p estimator.Params) (estimator.Estimator, error) {
					return variance.New(p, variance.Options{Stddev: true, Population: true})
				})
			}
			if rows > 0 {
				add("row quantiles", true, func(p estimator.Params) (estimator.Estimator, error) {
					return quantile.New(p, []quantile.Fraction{{Num: 9, Den: 10}, {Num: 1, Den: 4}}, quantile.Options{Rows: true})
				})
			}
		}
		p := with(bounds, 0)
		all = append(all,
			variant{"units", false, func(p estimator.Params) (estimator.Estimator, error) { return count.NewUnits(p, false) }, p},
			variant{"median", true, func(p estimator.Params) (estimator.Estimator, error) {
				return quantile.New(p, []quantile.Fraction{quantile.Median}, quantile.Options{})
			}, p},
			variant{"quantiles", true, func(p estimator.Params) (estimator.Estimator, error) {
				return quantile.New(p, []quantile.Fraction{{Num: 1, Den: 4}, {Num: 1, Den: 2}, {Num: 99, Den: 100}}, quantile.Options{})
			}, p})
	}
	return all
}

// exact reports whether the answer is the public number of persons.
func (v variant) exact() bool {
	return v.p.Sized && (v.name[:5] == "units" || v.name[:10] == "count rows" && v.p.MaxRows == 1)
}

func (v variant) at(t testing.TB, rho float64) estimator.Estimator {
	t.Helper()
	p := v.p
	p.Rho = rho
	e, err := v.make(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// person is one person's rows in steps.
type person struct{ rows, sum, hi, lo, median int64 }

// extremes are persons at every edge, some with columns that no real rows could give.
var extremes = []person{
	{rows: 1, sum: 0, median: 0},
	{rows: 1, sum: 7, lo: 49, median: 7},
	{rows: 1, sum: -3, lo: 9, median: -3},
	{rows: 2, sum: 9, lo: 41, median: 4},
	{rows: 3, sum: -6, lo: 14, median: -2},
	{rows: 0},
	{rows: 0, sum: 5, lo: 25, median: 5},
	{rows: 1, sum: estimator.MaxUnits, hi: 1 << 36, median: estimator.MaxUnits},
	{rows: 1, sum: -estimator.MaxUnits, hi: 1 << 36, median: -estimator.MaxUnits},
	{rows: 1 << 40, sum: estimator.MaxUnits, hi: math.MaxInt64, lo: -1, median: 1 << 10},
	{rows: math.MaxInt64, sum: -estimator.MaxUnits, hi: 1, median: math.MinInt64},
	{rows: 5, sum: math.MaxInt64, hi: -1, lo: -1, median: math.MaxInt64},
	{rows: math.MinInt64, sum: math.MinInt64, hi: math.MinInt64, median: math.MinInt64},
	{rows: 4, sum: math.MinInt64, hi: math.MinInt64, median: 2},
	{rows: 1000, sum: 70000, lo: 49e5, median: 70},
}

// input lays persons out for an estimator. For rows as points every person has at most maxRows entries.
func input(e estimator.Estimator, persons []person, maxRows int64) estimator.Input {
	var b block
	if len(e.Columns()) == 1 && e.Columns()[0] == estimator.Value {
		for _, p := range persons {
			for range min(max(p.rows, 0), maxRows) {
				b.median = append(b.median, p.median)
			}
		}
		return b.input(e.Columns())
	}
	for _, p := range persons {
		b.rows, b.sum, b.median = append(b.rows, p.rows), append(b.sum, p.sum), append(b.median, p.median)
		b.hi, b.lo = append(b.hi, p.hi), append(b.lo, p.lo)
	}
	return b.input(e.Columns())
}

// answers returns forced answers: the number of persons looks large where it is asked for first, the rest is the truth,
// the truth with noise, or far off, so that searches take many branches.
func answers(r *rand.Rand, n noise.Noiser, counted bool) func(int, *big.Int, *big.Int) *big.Int {
	style := r.IntN(4)
	return func(i int, value, sigma2 *big.Int) *big.Int {
		switch {
		case i == 0 && counted:
			return big.NewInt(1 << 40)
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

// anyone returns a random person.
func anyone(r *rand.Rand) person {
	if r.IntN(4) > 0 {
		return extremes[r.IntN(len(extremes))]
	}
	m := 1 + r.Int64N(5)
	return person{rows: m, sum: r.Int64N(200) - 100, lo: r.Int64N(40000), median: r.Int64N(40) - 20}
}

// mirror returns a person as far from p as possible on the other side of 0.
func mirror(p person) person {
	p.sum, p.median = -p.sum, -p.median
	return p
}

// database returns a few random persons, and, where their number is public, enough others for an answer: it is
// exact there, and cannot be forced. valued says that everybody must have a value.
func database(r *rand.Rand, v variant, e estimator.Estimator, valued bool) []person {
	db := make([]person, 1+r.IntN(4))
	for i := range db {
		db[i] = anyone(r)
	}
	if v.p.Sized {
		db = append(db, slices.Repeat([]person{{rows: 1, sum: 3, lo: 9, median: 3}}, int(e.MinPersons()))...)
	}
	for i := range db {
		if valued && db[i].rows < 1 {
			db[i].rows = 1
		}
	}
	return db
}

// neighbours returns databases that differ from db in one of the first persons: without that person, or, under
// replace-one, with others in that place; where the number of persons is private these may be absent.
func neighbours(r *rand.Rand, v variant, db []person, valued bool) [][]person {
	var all [][]person
	for k := range min(len(db), 4) {
		if v.p.Relation == estimator.AddRemove || !v.p.Sized {
			all = append(all, slices.Delete(slices.Clone(db), k, k+1))
		}
		if v.p.Relation == estimator.AddRemove {
			continue
		}
		for _, other := range []person{mirror(db[k]), anyone(r), anyone(r)} {
			if valued && other.rows < 1 {
				other.rows = 1
			}
			next := slices.Clone(db)
			next[k] = other
			all = append(all, next)
		}
	}
	return all
}

// worstLoss returns the largest zCDP loss between random small databases and their neighbours under the relation of v, with
// the same answers forced on both sides. It stops at the first above enough, unless that is nil.
func worstLoss(t *testing.T, v variant, e estimator.Estimator, tries int, enough *big.Rat) *big.Rat {
	r := rand.New(stattest.Source(t, "soundness"+v.name))
	n := stattest.Noiser(t, "soundness noise"+v.name)
	worst := new(big.Rat)
	// Values come without their person: where there must be one each, a person without a value is none.
	valued := v.p.Sized && e.Columns()[0] == estimator.Value
	for range tries {
		if enough != nil && worst.Cmp(enough) > 0 {
			break
		}
		db := database(r, v, e, valued)
		full := &stattest.Recorder{Answer: answers(r, n, !v.p.Sized)}
		e.Release(full, input(e, db, v.p.MaxRows))
		for _, other := range neighbours(r, v, db, valued) {
			less := full.Replay(t)
			e.Release(less, input(e, other, v.p.MaxRows))
			if l := stattest.Loss(t, full, less); l.Cmp(worst) > 0 {
				worst = l
			}
			if t.Failed() {
				t.Fatalf("database %+v against %+v", db, other)
			}
		}
	}
	return worst
}

// TestOnePersonMovesTheQueriesWithinTheLoss is the soundness test: on every branch, what is about to
// be noised differs between neighbours by no more than the declared loss allows. The same test must reject an
// estimator that was built for three times the loss, and one that was built for the other relation.
func TestOnePersonMovesTheQueriesWithinTheLoss(t *testing.T) {
	const rho = 0.05
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			e := v.at(t, rho)
			declared := new(big.Rat).SetFloat64(e.Loss().Rho.Float())
			tries := 250
			if v.p.Relation == estimator.ReplaceOne {
				tries = int(max(20, 16000/(200+e.MinPersons()))) // with more neighbours each, and more persons
			}
			worst := worstLoss(t, v, e, tries, nil)
			if worst.Cmp(declared) > 0 {
				t.Errorf("a person moves the queries by %v, declared %v", worst.FloatString(9), declared.FloatString(9))
			}
			if declared.Sign() == 0 {
				return // a public number
			}
			ratio, _ := new(big.Rat).Quo(worst, declared).Float64()
			t.Logf("worst branch uses %.3f of the declared loss", ratio)
			if worst = worstLoss(t, v, v.at(t, 3*rho), 80, declared); worst.Cmp(declared) <= 0 {
				t.Error("an estimator with a third of the noise variance passed")
			}
			if w := v; v.p.Relation == estimator.ReplaceOne && !v.p.Sized && exchangeCosts(v) {
				w.p.Relation = estimator.AddRemove
				if worst = worstLoss(t, v, w.at(t, rho), 200, declared); worst.Cmp(declared) <= 0 {
					t.Error("an estimator for add-remove passed under replace-one")
				}
			}
		})
	}
}

// exchangeCosts reports whether exchanging a person moves the sums of an estimator by more than removing one: not so
// for counts, and little for their searches.
func exchangeCosts(v variant) bool { return v.grid }

func TestLossIsTheParameterRoundedUp(t *testing.T) {
	for _, v := range variants() {
		for _, rho := range []float64{accounting.RhoUnit, 1e-6, 0.01, 0.1, 1, 1e6} {
			e := v.at(t, rho)
			want := accounting.Loss{Rho: accounting.RhoOf(rho)}
			if v.exact() {
				want = accounting.Loss{}
			}
			if got := e.Loss(); got != want {
				t.Errorf("%s: loss %+v at rho %v, want %+v", v.name, got, rho, want)
			}
			sum := 0.0
			for _, s := range e.Steps() {
				sum += s.Rho
				if s.Name == "" || s.Mechanism == "" || s.Sensitivity == "" || s.Queries < 1 {
					t.Errorf("%s: step %+v is not described", v.name, s)
				}
			}
			if v.exact() && sum != 0 || !v.exact() && math.Abs(sum/rho-1) > 1e-9 {
				t.Errorf("%s: the steps' losses sum to %v, want %v", v.name, sum, rho)
			}
		}
	}
}

func TestBadParametersAreNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, v := range variants() {
		good := v.p
		good.Rho = 0.1
		for name, change := range map[string]func(*estimator.Params){
			"rho 0":       func(p *estimator.Params) { p.Rho = 0 },
			"rho < 0":     func(p *estimator.Params) { p.Rho = -1 },
			"rho NaN":     func(p *estimator.Params) { p.Rho = nan },
			"rho inf":     func(p *estimator.Params) { p.Rho = inf },
			"rho tiny":    func(p *estimator.Params) { p.Rho = 1e-300 },
			"relation":    func(p *estimator.Params) { p.Relation, p.Sized = 7, false },
			"sized":       func(p *estimator.Params) { p.Relation, p.Sized = estimator.AddRemove, true },
			"rows < 0":    func(p *estimator.Params) { p.MaxRows = -1 },
			"one bound":   func(p *estimator.Params) { p.Lower, p.Upper = ptr(1), nil },
			"bounds":      func(p *estimator.Params) { p.Lower, p.Upper = ptr(1), ptr(1) },
			"grid NaN":    func(p *estimator.Params) { p.Grid.Decimal, p.Grid.Step = false, nan },
			"grid 0":      func(p *estimator.Params) { p.Grid.Decimal, p.Grid.Step = false, 0 },
			"grid empty":  func(p *estimator.Params) { p.Grid.Lo, p.Grid.Hi = 1, 0 },
			"grid wide":   func(p *estimator.Params) { p.Grid.Hi = estimator.MaxUnits + 1 },
			"bounds wide": func(p *estimator.Params) { p.Lower, p.Upper = ptr(math.MinInt64), ptr(1) },
			"scale":       func(p *estimator.Params) { p.Grid.Scale = -1 },
		} {
			if !v.grid && (name[0] == 'g' || name == "bounds wide" || name == "scale") {
				continue
			}
			p := good
			change(&p)
			if _, err := v.make(p); err == nil {
				t.Errorf("%s: %s was accepted", v.name, name)
			}
		}
	}
}

// TestEdgeInputsGiveFiniteAnswers releases on empty groups, single persons, equal persons and hostile columns with
// real noise: no panic, no NaN, TooFew with a number that would do.
func TestEdgeInputsGiveFiniteAnswers(t *testing.T) {
	same := make([]person, 400)
	huge := make([]person, 400)
	for i := range same {
		same[i] = person{rows: 1, sum: 5, lo: 25, median: 5}
		huge[i] = same[i]
	}
	huge[7] = extremes[9]
	hostile := append([]person{}, huge...)
	for i := range hostile {
		hostile[i] = extremes[i%len(extremes)]
	}
	groups := map[string][]person{"empty": {}, "one": same[:1], "absent": {{}, {}}, "equal": same, "one huge": huge, "hostile": hostile}
	for _, p := range extremes {
		groups[fmt.Sprint(p)] = []person{p}
	}
	for _, v := range variants() {
		for _, rho := range []float64{accounting.RhoUnit, 0.05, 1e6} {
			e, n := v.at(t, rho), stattest.Noiser(t, v.name)
			for name, g := range groups {
				in := input(e, g, v.p.MaxRows)
				before := fmt.Sprint(in)
				a := e.Release(n, in)
				if fmt.Sprint(in) != before {
					t.Errorf("%s, %s: the input was changed", v.name, name)
				}
				for i, x := range a.Values {
					if math.IsNaN(x) || math.IsInf(x, 0) {
						t.Errorf("%s, %s, rho %v: value %v", v.name, name, rho, x)
					}
					if s := a.StdErr[i]; s < 0 || math.IsInf(s, 0) {
						t.Errorf("%s, %s, rho %v: standard error %v", v.name, name, rho, s)
					}
				}
				if a.Status == estimator.TooFew && a.Needed < 1 || len(a.Values) == 0 || len(a.StdErr) != len(a.Values) {
					t.Errorf("%s, %s: answer %+v", v.name, name, a)
				}
				if e.MinPersons() == 0 && a.Status != estimator.OK {
					t.Errorf("%s, %s: TooFew from an estimator that always answers", v.name, name)
				}
			}
		}
	}
}

// TestOneValueIsARange: a column that can hold one value only is no special case.
func TestOneValueIsARange(t *testing.T) {
	for _, v := range variants() {
		if v.p.Grid.Lo, v.p.Grid.Hi = 5, 5; v.p.Bounded() {
			continue
		}
		e, n := v.at(t, 0.1), stattest.Noiser(t, v.name)
		for _, g := range [][]person{nil, slices.Repeat([]person{{rows: 1, sum: 5, lo: 25, median: 5}}, 400)} {
			for _, x := range e.Release(n, input(e, g, max(v.p.MaxRows, 1))).Values {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%s: value %v", v.name, x)
				}
			}
		}
	}
}

// TestEqualPersonsAreAnsweredExactly: with all values equal and little noise the answer is the value.
// A radius search overshoots in about one draw of a thousand, so the median of five draws is
// compared: three of five fail with probability about 1e-8 a variant.
func TestEqualPersonsAreAnsweredExactly(t *testing.T) {
	same := make([]person, 20000)
	for i := range same {
		same[i] = person{rows: 1, sum: 5, lo: 25, median: 5}
	}
	want := map[string]float64{ // by the first four letters
		"coun": 20000, "unit": 20000, "sum,": 1000, "mean": 0.05, "row ": 0.05, "medi": 0.05, "quan": 0.05, "vari": 0, "popu": 0,
	}
	for _, v := range variants() {
		e, n := v.at(t, 10), stattest.Noiser(t, v.name)
		w := want[v.name[:4]]
		if len(v.name) > 12 && v.name[:12] == "row variance" {
			w = 0
		}
		var draws [][]float64
		for range 5 {
			draws = append(draws, e.Release(n, input(e, same, max(v.p.MaxRows, 1))).Values)
		}
		for i := range draws[0] {
			x := []float64{draws[0][i], draws[1][i], draws[2][i], draws[3][i], draws[4][i]}
			slices.Sort(x)
			if math.Abs(x[2]-w) > 0.002*w+0.0005 {
				t.Errorf("%s: got %v, want %v", v.name, x[2], w)
			}
		}
	}
}

// TestStdErrIsTheNoise compares the answers' spread on one group with the standard error that they state.
func TestStdErrIsTheNoise(t *testing.T) {
	group := make([]person, 600)
	r := rand.New(stattest.Source(t, "group"))
	for i := range group {
		x := r.Int64N(14) - 3
		group[i] = person{rows: 1, sum: x, lo: x * x, median: x}
	}
	for _, v := range variants() {
		if !v.p.Bounded() && v.grid || v.p.MaxRows == 0 && v.name[:3] != "uni" {
			continue // searches add what StdErr does not count
		}
		if v.exact() {
			continue // there is no noise
		}
		t.Run(v.name, func(t *testing.T) {
			e := v.at(t, 0.02)
			if math.IsNaN(e.Release(stattest.Noiser(t, "x"), input(e, group, 1)).StdErr[0]) {
				return // quantiles do not state one
			}
			spread := func(n noise.Noiser) []float64 {
				var z []float64
				exact := e.Release(stattest.Zero{}, input(e, group, 1)).Values[0]
				for range 400 {
					if a := e.Release(n, input(e, group, 1)); a.Status == estimator.OK {
						z = append(z, (a.Values[0]-exact)/a.StdErr[0])
					}
				}
				if len(z) < 396 { // a clip far too large comes once in thousands, and is TooFew
					t.Errorf("%d of 400 answers", len(z))
				}
				return z
			}
			good := spread(stattest.Noiser(t, v.name))
			stattest.Accept(t, stattest.Variance(v.name, good, 1, 3))
			stattest.Reject(t, stattest.Variance(v.name, spread(stattest.Shrunk{Noiser: stattest.Noiser(t, v.name), Factor: 3}), 1, 3))
		})
	}
}
