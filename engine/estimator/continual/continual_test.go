package continual

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

func build(t *testing.T, p Params) *Series {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// counted is a series of numbers of rows.
func counted(t *testing.T, days int, bound int64, rho float64, r estimator.Relation) *Series {
	t.Helper()
	return build(t, Params{Rho: rho, Relation: r, Days: days, Measures: []Measure{{Bound: bound}}})
}

func ints(x ...int64) []*big.Int {
	out := make([]*big.Int, len(x))
	for i, v := range x {
		out[i] = big.NewInt(v)
	}
	return out
}

// alone is the standard deviation of one release of the same loss, to which a person adds the whole
// bound.
func alone(bound int64, rho float64) float64 { return float64(bound) / math.Sqrt(2*rho) }

// tree is the error of the running totals of a binary tree of so many days, in units of alone: each
// of its levels has an even part of the loss, and a total takes one node of each at most.
func tree(days int) float64 {
	levels := int(math.Ceil(math.Log2(float64(days))))
	return math.Sqrt(float64(levels)) * math.Sqrt(float64(levels))
}

// TestErrorsOfAYear: the totals of 365 days have at most 2.94 times the error of a single release
// of the same loss, where a binary tree has 9 times and asking each day 19.1 times; so by the
// closed form, and in 2,000 years of noise. Noise of half the variance is found out.
func TestErrorsOfAYear(t *testing.T) {
	const days, bound, rho, want = 365, 30, 0.02, 2.94
	s := counted(t, days, bound, rho, estimator.AddRemove)
	told := s.Days(0, ints(make([]int64, days)...))
	last := told[days-1].TotalStdErr
	if got := last / alone(bound, rho); math.Abs(got/want-1) > 0.05 {
		t.Errorf("the last total has %.4f times the error of a single release, want %v within 5 %%", got, want)
	}
	if tree(days) < 3*want || math.Sqrt(days) < 6*want {
		t.Errorf("a tree has %v times, asking each day %v times", tree(days), math.Sqrt(days))
	}
	for k := 1; k < days; k++ {
		if told[k].TotalStdErr < told[k-1].TotalStdErr || told[k].StdErr > 2*alone(bound, rho)*1.06 {
			t.Errorf("day %d: %+v", k, told[k])
		}
	}
	if e, ok := s.ExpectedError(); !ok || e != last {
		t.Errorf("expects %v, tells %v", e, last)
	}
	measured := func(n noise.Noiser) stattest.Fit {
		var sample []float64
		for range 2000 {
			d := s.Days(0, s.Add(n, 0, ints(make([]int64, days)...), nil))
			sample = append(sample, d[days-1].Total)
		}
		return stattest.Variance("the last total", sample, last*last, 3)
	}
	stattest.Accept(t, measured(stattest.Noiser(t, "years")))
	stattest.Reject(t, measured(stattest.Shrunk{Noiser: stattest.Noiser(t, "less"), Factor: 2}))
}

// TestTheMatrixIsASquareRoot: B·B is the matrix of ones, but for its rounding.
func TestTheMatrixIsASquareRoot(t *testing.T) {
	m := newMatrix(MaxDays)
	for _, k := range []int{0, 1, 2, 100, MaxDays - 1} {
		sum := 0.0
		for j := range k + 1 {
			sum += float64(m.c[j]) * float64(m.c[k-j])
		}
		if got := math.Ldexp(sum, -2*coefficientBits); math.Abs(got-1) > 1e-3 {
			t.Errorf("entry %d of B·B is %v", k, got)
		}
	}
}

// TestTotalsAreExactWithoutNoise: what is made of the numbers are the totals of the days, however
// many calls they come in, and days that were released keep their numbers.
func TestTotalsAreExactWithoutNoise(t *testing.T) {
	const days = 1000
	r := rand.New(stattest.Source(t, "days"))
	grid := estimator.Grid{Decimal: true, Scale: 2, Lo: 0, Hi: 1 << 40}
	s := build(t, Params{Rho: 1, Days: days, Measures: []Measure{{Bound: 5}, {Sum: true, Grid: grid, Bound: estimator.MaxUnits}}})
	for i, limit := range []int64{1000, 1 << 60} {
		var x, y []*big.Int
		var shown []Day
		total := new(big.Int)
		for len(x) < days {
			for range min(1+r.IntN(60), days-len(x)) {
				x = append(x, big.NewInt(r.Int64N(limit)))
			}
			y = append(y, s.Add(stattest.Zero{}, i, x, y)...)
			now := s.Days(i, y)
			for k, d := range shown {
				if d != now[k] {
					t.Fatalf("day %d was %v and is %v", k, d, now[k])
				}
			}
			shown = now
		}
		for k, d := range shown {
			total.Add(total, x[k])
			day, _ := new(big.Float).SetInt(x[k]).Float64()
			all, _ := new(big.Float).SetInt(total).Float64()
			if i == 1 {
				day, all = day/100, all/100
			}
			if math.Abs(d.Total-all) > 1e-9*all+1e-6 || math.Abs(d.Value-day) > 1e-9*all+1e-6 {
				t.Fatalf("measure %d, day %d: %+v, of %v and %v", i, k, d, day, all)
			}
		}
	}
}

// streams are all days of one person who adds at most bound.
func streams(days int, bound int64) [][]*big.Int {
	if days == 0 {
		return [][]*big.Int{nil}
	}
	var out [][]*big.Int
	for _, rest := range streams(days-1, bound) {
		left := bound
		for _, x := range rest {
			left -= x.Int64()
		}
		for v := range left + 1 {
			out = append(out, append(rest[:len(rest):len(rest)], big.NewInt(v)))
		}
	}
	return out
}

// moved is the squared length by which two streams are apart in what is released.
func moved(s *Series, a, b []*big.Int) *big.Int {
	sum := new(big.Int)
	for t := range a {
		d := s.m.row(a, t)
		if b != nil {
			d.Sub(d, s.m.row(b, t))
		}
		sum.Add(sum, d.Mul(d, d))
	}
	return sum
}

// TestSensitivityOfAllSmallStreams: of every stream of one person, and of every two, what is
// released moves by no more than the noise is for, and by that much of some. Noise for the largest
// single number, and persons who are taken back again, are found out.
func TestSensitivityOfAllSmallStreams(t *testing.T) {
	const days, bound, rho = 5, 3, 0.5
	all := streams(days, bound)
	if len(all) != 56 {
		t.Fatalf("%d streams", len(all))
	}
	// With ρ = 1/2 the variance is the squared sensitivity, rounded up.
	come := counted(t, days, bound, rho, estimator.AddRemove)
	change := counted(t, days, bound, rho, estimator.ReplaceOne)
	single := new(big.Int).Mul(big.NewInt(bound*bound), new(big.Int).Mul(big.NewInt(come.m.c[0]), big.NewInt(come.m.c[0])))
	one, two := new(big.Int), new(big.Int)
	for _, a := range all {
		if d := moved(come, a, nil); d.Cmp(one) > 0 {
			one = d
		}
		for _, b := range all {
			if d := moved(change, a, b); d.Cmp(two) > 0 {
				two = d
			}
		}
	}
	near := func(what string, most, sigma2 *big.Int, least float64) {
		f, _ := new(big.Rat).SetFrac(most, sigma2).Float64()
		if most.Cmp(sigma2) > 0 || f < least {
			t.Errorf("%s: moves by %v, noise is for %v", what, most, sigma2)
		}
	}
	near("one person more", one, come.sigma2[0], 1-1e-9)
	near("one person exchanged", two, change.sigma2[0], 1-1e-9)
	if one.Cmp(single) <= 0 {
		t.Error("noise for the largest single number is not found out")
	}
	if two.Cmp(come.sigma2[0]) <= 0 {
		t.Error("an exchange under add-remove is not found out")
	}
	if back := ints(3, -3, 3, -3, 3); moved(come, back, nil).Cmp(come.sigma2[0]) <= 0 {
		t.Error("a person who is taken back again is not found out")
	}
}

// TestOnePersonWhoFollowsTheAnswers adds up what one person costs in all draws, given the same
// noisy answers, where that person's days follow from what was released before: at most ρ. A person
// who is not held to the bound is found out.
func TestOnePersonWhoFollowsTheAnswers(t *testing.T) {
	const days, bound, rho = 40, 12, 0.3
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		s := counted(t, days, bound, rho, relation)
		n := stattest.Noiser(t, "answers")
		for try := range 40 {
			held := try > 0
			r := rand.New(rand.NewPCG(uint64(try), 1))
			with := &stattest.Recorder{Answer: func(_ int, v, s2 *big.Int) *big.Int { return n.Gaussian(v, s2) }}
			var x, mine, other, y, z []*big.Int
			left, leftOther := int64(bound), int64(bound)
			follow := func(left *int64, odd bool) int64 {
				want := int64(r.IntN(4))
				if k := len(y); k > 0 && (y[k-1].Bit(0) == 1) == odd {
					want = bound
				}
				if held {
					want = min(want, *left)
				}
				*left -= want
				return want
			}
			for k := range days {
				x = append(x, big.NewInt(int64(100+k)))
				mine = append(mine, new(big.Int).Add(x[k], big.NewInt(follow(&left, true))))
				other = append(other, x[k])
				if relation == estimator.ReplaceOne {
					other[k] = new(big.Int).Add(x[k], big.NewInt(follow(&leftOther, false)))
				}
				y = append(y, s.Add(with, 0, mine, y)...)
			}
			without := with.Replay(t)
			for k := range days {
				z = append(z, s.Add(without, 0, other[:k+1], z)...)
			}
			loss, _ := stattest.Loss(t, with, without).Float64()
			if held == (loss > rho) {
				t.Errorf("%v, try %d: held to the bound: %v, a loss of %v, of rho %v", relation, try, held, loss, rho)
			}
		}
	}
}

// TestAllDaysAtOnce: a person counts up to the bound, from the first day on; measures have their
// own bounds and parts of the loss.
func TestAllDaysAtOnce(t *testing.T) {
	grid := estimator.Grid{Step: 1, Decimal: true, Lo: 0, Hi: 100}
	s := build(t, Params{Rho: 2, Days: 3, Measures: []Measure{{Bound: 4}, {Sum: true, Grid: grid, Bound: 150}}})
	b := &estimator.Block{Dim: 6, Sparse: true, Chunks: []estimator.Chunk{{Persons: 2, Starts: []int{0, 6, 8},
		Index: []int32{0, 1, 2, 3, 4, 5, 2, 3}, Values: []int64{3, 100, 3, 100, 3, 100, 1, 7}}}}
	e := s.Release(stattest.Zero{}, estimator.Input{Vectors: b})
	for day, want := range [][]float64{{3, 3, 100, 100}, {2, 5, 57, 157}, {0, 5, 0, 157}} {
		at := day * 2 * Numbers
		part := estimator.Estimate{Values: e.Values[at : at+4], StdErr: e.StdErr[at : at+4]}
		n, sum := DayOf(part, 0), DayOf(part, 1)
		for i, got := range []float64{n.Value, n.Total, sum.Value, sum.Total} {
			if math.Abs(got-want[i]) > 1e-6 {
				t.Errorf("day %d: %+v %+v, want %v", day, n, sum, want)
				break
			}
		}
		if !(n.StdErr > 0) || math.Abs(sum.TotalStdErr/n.TotalStdErr-150.0/4) > 1e-6 {
			t.Errorf("day %d: errors %v and %v", day, n.TotalStdErr, sum.TotalStdErr)
		}
	}
	if steps := s.Steps(); len(steps) != 2 || steps[0].Queries != 3 || steps[0].Rho > 1 {
		t.Errorf("steps %v", steps)
	}
	if l := s.Loss(); l.Rho.Float() != 2 {
		t.Errorf("costs %v", l)
	}
}

// TestParametersOfASeries: what no series can have is refused.
func TestParametersOfASeries(t *testing.T) {
	sum := func(lo, bound int64) Measure {
		return Measure{Sum: true, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: lo, Hi: 10}, Bound: bound}
	}
	for name, p := range map[string]Params{
		"no days":       {Rho: 1, Measures: []Measure{{Bound: 1}}},
		"too many days": {Rho: 1, Days: MaxDays + 1, Measures: []Measure{{Bound: 1}}},
		"no measure":    {Rho: 1, Days: 1},
		"no bound":      {Rho: 1, Days: 1, Measures: []Measure{{}}},
		"a large bound": {Rho: 1, Days: 1, Measures: []Measure{sum(0, estimator.MaxUnits+1)}},
		"under 0":       {Rho: 1, Days: 1, Measures: []Measure{sum(-1, 1)}},
		"no loss":       {Days: 1, Measures: []Measure{{Bound: 1}}},
		"NaN":           {Rho: math.NaN(), Days: 1, Measures: []Measure{{Bound: 1}}},
	} {
		if s, err := New(p); err == nil {
			t.Errorf("%s: made %v", name, s.p)
		}
	}
}
