package synthetic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// dims are four columns of few values.
var dims = []cube.Dimension{{Name: "a", Size: 4}, {Name: "b", Size: 3}, {Name: "c", Size: 5}, {Name: "d", Size: 2}}

// crowd are persons whose columns depend on each other: b on a, c on b, d on a.
func crowd(r *rand.Rand, n int) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		a := min(r.Int64N(4), r.Int64N(4))
		b := (a + r.Int64N(2)) % 3
		c := min(b+r.Int64N(2)*r.Int64N(3), 4)
		d := int64(0)
		if a >= 2 != (r.IntN(10) == 0) {
			d = 1
		}
		out[i] = []int64{a, b, c, d}
	}
	return out
}

func blockOf(rows [][]int64) *estimator.Block {
	b := &estimator.Block{Dim: len(dims), Chunks: []estimator.Chunk{{Persons: len(rows)}}}
	for _, r := range rows {
		b.Chunks[0].Dense = append(b.Chunks[0].Dense, r...)
	}
	return b
}

func build(t testing.TB, p Params) synthetic {
	t.Helper()
	p.Columns = dims
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return e.(synthetic)
}

// chosen is Release with the choices given, which costs what its noise costs.
func (s synthetic) chosen(n noise.Noiser, persons [][]int64, choices func() int) {
	r := s.start(n, estimator.Input{Vectors: blockOf(persons)})
	r.columns()
	for more := true; more; {
		if r.left < 2*r.each {
			r.each = r.left
		}
		at := choices()
		more = r.take(at, r.made(&r.cand[at]))
	}
	r.answer()
}

// TestNoiseCostsNoMoreThanItsShare adds up what one person more, less or exchanged costs in all
// noisy numbers together, given the same answers and choices: at most ρ without the choices' part,
// and near it. Noise of add-remove is found out where persons are exchanged.
func TestNoiseCostsNoMoreThanItsShare(t *testing.T) {
	const rho = 0.5
	others := crowd(rand.New(stattest.Source(t, "crowd")), 400)
	persons := [][][]int64{nil, {{0, 0, 0, 0}}, {{3, 2, 4, 1}}, {{1, 2, 0, 1}}, {{-7, 99, 2, 1}}}
	worst := func(under, of estimator.Relation) float64 {
		e := build(t, Params{Rho: rho, Relation: under, Ways: 3})
		run := func(person [][]int64, r *stattest.Recorder) *stattest.Recorder {
			choices := rand.New(rand.NewPCG(3, 4))
			e.chosen(r, slices.Concat(others, person), func() int { return choices.IntN(len(e.cand)) })
			return r
		}
		n := stattest.Noiser(t, "answers")
		base := run(nil, &stattest.Recorder{Answer: func(_ int, v, s2 *big.Int) *big.Int { return n.Gaussian(v, s2) }})
		most, seen := new(big.Rat), []*stattest.Recorder(nil)
		for _, p := range persons {
			with := run(p, base.Replay(t))
			beside := []*stattest.Recorder{base}
			if of == estimator.ReplaceOne {
				beside = append(beside, seen...)
			}
			for _, other := range beside {
				if l := stattest.Loss(t, with, other); l.Cmp(most) > 0 {
					most = l
				}
			}
			seen = append(seen, with)
		}
		f, _ := most.Float64()
		return f
	}
	for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		if got, share := worst(r, r), rho*(reportShare+(1-reportShare)*measureShare); got > share*(1+1e-9)+rho/150 || got < 0.7*share {
			t.Errorf("%v: one person costs %v in noise, of %v", r, got, share)
		}
	}
	if got := worst(estimator.AddRemove, estimator.ReplaceOne); got <= rho {
		t.Errorf("an exchange under add-remove costs %v, of rho %v, and is not found out", got, rho)
	}
}

// TestScoresMoveByAtMostTheSpan compares what speaks for each candidate with one person more, less
// or exchanged: all moves are within an interval that holds 0, of the length that the choice counts
// with, and some reach an end of it.
func TestScoresMoveByAtMostTheSpan(t *testing.T) {
	r := rand.New(stattest.Source(t, "crowd"))
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		s := build(t, Params{Rho: 1, Relation: relation, Ways: 3})
		bound, most := s.span()/2, int64(0)
		for range 40 {
			base := crowd(r, 30)
			with := append(slices.Clone(base), crowd(r, 1)...)
			if relation == estimator.ReplaceOne {
				base = append(base, []int64{r.Int64N(4), r.Int64N(3), r.Int64N(5), r.Int64N(2)})
			}
			one := s.start(stattest.Noiser(t, "noise"), estimator.Input{Vectors: blockOf(base)})
			one.columns()
			other := *one
			other.exact = persons(dims, s.cand, blockOf(with))
			x, _ := one.speaks(10)
			y, _ := other.speaks(10)
			for i := range x {
				d := x[i] - y[i]
				if d < -bound || d > bound {
					t.Fatalf("%v: the score of %v moves by %d, beyond %d", relation, s.cand[i].columns, d, bound)
				}
				most = max(most, d, -d)
			}
		}
		if most != bound {
			t.Errorf("%v: scores move by %d at most, and the choice counts with %d", relation, most, bound)
		}
	}
}

// TestRoundsUseTheLossAndNoMore adds up what the rounds took.
func TestRoundsUseTheLossAndNoMore(t *testing.T) {
	r := rand.New(stattest.Source(t, "crowd"))
	for k, rho := range []float64{1e-6, 1e-3, 0.02, 1, 30} {
		for _, n := range []int{0, 1, 50, 2000} {
			s := build(t, Params{Rho: rho, Ways: 2 + k%2, Relation: estimator.Relation(k % 2), Rows: 500})
			got := ResultOf(s.Release(stattest.Noiser(t, "noise"), estimator.Input{Vectors: blockOf(crowd(r, n))}), len(dims))
			sum := reportShare * rho
			for _, d := range got.Rounds {
				sum += d.Rho
			}
			if sum > rho || sum < rho*(1-1e-6) || len(got.Rounds) > len(dims)+s.rounds() {
				t.Errorf("rho %v, %d persons: %d rounds of %v together", rho, n, len(got.Rounds), sum)
			}
			steps := 0.0
			for _, x := range s.Steps() {
				steps += x.Rho
			}
			if math.Abs(steps/rho-1) > 1e-6 {
				t.Errorf("rho %v: steps of %v together", rho, steps)
			}
			for _, row := range got.Rows {
				for i, code := range row {
					if int(code) >= dims[i].Size {
						t.Fatalf("code %d of %s", code, dims[i].Name)
					}
				}
			}
			if len(got.Rows) < 1 || len(got.Rows) > 500 || len(got.Pairs) != 6 {
				t.Errorf("rho %v, %d persons: %d rows, %d pairs", rho, n, len(got.Rows), len(got.Pairs))
			}
		}
	}
}

// off is the mean total variation distance of the tables of so many columns.
func off(persons [][]int64, rows [][]uint16, ways int) float64 {
	sum, tables := 0.0, 0
	each(len(dims), 3, func(columns ...int) {
		if len(columns) != ways {
			return
		}
		t := newTable(dims, columns)
		x, y := make([]float64, t.cells), make([]float64, t.cells)
		row := make([]uint16, len(dims))
		for _, p := range persons {
			for i, v := range p {
				row[i] = uint16(v)
			}
			x[t.cell(row)] += 1 / float64(len(persons))
		}
		for _, r := range rows {
			y[t.cell(r)] += 1 / float64(len(rows))
		}
		for c := range x {
			sum += math.Abs(x[c]-y[c]) / 2
		}
		tables++
	})
	return sum / float64(tables)
}

// withoutRounds are the rows of independent columns.
func withoutRounds(s synthetic, n noise.Noiser, persons [][]int64) [][]uint16 {
	r := s.start(n, estimator.Input{Vectors: blockOf(persons)})
	r.columns()
	return ResultOf(r.answer(), len(dims)).Rows
}

// TestRowsAreNearThePersons: of 20,000 persons the pairs of the rows are five times nearer than
// those of independent columns, which are what rows are where no round is made; the report holds
// what it says in 99.99 % of the cases, six standard errors; and there are as many rows as persons,
// about.
func TestRowsAreNearThePersons(t *testing.T) {
	persons := crowd(rand.New(stattest.Source(t, "crowd")), 20000)
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		s := build(t, Params{Rho: 0.02, Relation: relation, Ways: 2})
		got := ResultOf(s.Release(stattest.Noiser(t, "noise"), estimator.Input{Vectors: blockOf(persons)}), len(dims))
		none := off(persons, withoutRounds(s, stattest.Noiser(t, "noise"), persons), 2)
		near := off(persons, got.Rows, 2)
		t.Logf("%v: %d rounds, pairs off by %.4f, and by %.4f where columns are independent", relation, len(got.Rounds), near, none)
		if near > none/5 {
			t.Errorf("%v: pairs are off by %v, and by %v where columns are independent", relation, near, none)
		}
		if math.Abs(float64(len(got.Rows))-20000) > 300 || float64(len(got.Rows)) != got.Total {
			t.Errorf("%v: %d rows of a total of %v", relation, len(got.Rows), got.Total)
		}
		told := 0.0
		for _, p := range got.Pairs {
			told += p.Variation / float64(len(got.Pairs))
			if p.StdErr <= 0 || p.StdErr > 0.01 {
				t.Errorf("%v: a report with a standard error of %v", relation, p.StdErr)
			}
		}
		if math.Abs(told-near) > 6*got.Pairs[0].StdErr {
			t.Errorf("%v: the report says %v, and it is %v", relation, told, near)
		}
	}
}

// TestFewRowsStandForMany: where fewer rows are made than there are persons their shares are as
// near.
func TestFewRowsStandForMany(t *testing.T) {
	persons := crowd(rand.New(stattest.Source(t, "crowd")), 20000)
	s := build(t, Params{Rho: 0.05, Ways: 2, Rows: 2000})
	got := ResultOf(s.Release(stattest.Noiser(t, "noise"), estimator.Input{Vectors: blockOf(persons)}), len(dims))
	if near := off(persons, got.Rows, 2); len(got.Rows) != 2000 || near > 0.02 {
		t.Errorf("%d rows, off by %v", len(got.Rows), near)
	}
}

// TestRowsAreRepeatedEvenly: where more rows are made than are moved each is there as often as
// others, or once more.
func TestRowsAreRepeatedEvenly(t *testing.T) {
	s := build(t, Params{Rho: 1, Ways: 2})
	r := s.start(stattest.Noiser(t, "noise"), estimator.Input{Vectors: blockOf(crowd(rand.New(stattest.Source(t, "crowd")), 1000))})
	r.columns()
	r.fit.rows = []uint16{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 0}
	r.total = mean{1000, 1}
	r.repeat()
	if got := newTable(dims, []int{0}).count(r.fit.rows, 4); r.fit.scale != 1 || got[0]+got[1]+got[2] != 1000 || slices.Min(got[:3]) < 333 {
		t.Errorf("three rows become %v, of a scale of %v", got, r.fit.scale)
	}
}

// TestBadParamsAreRefused: by what is public.
func TestBadParamsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Params){
		"rho":     func(p *Params) { p.Rho = math.NaN() },
		"columns": func(p *Params) { p.Columns = nil },
		"values":  func(p *Params) { p.Columns = []cube.Dimension{{Name: "a", Size: MaxValues + 1}} },
		"none":    func(p *Params) { p.Columns = []cube.Dimension{{Name: "a"}} },
		"ways":    func(p *Params) { p.Ways = 4 },
		"rows":    func(p *Params) { p.Rows = -1 },
		"cells":   func(p *Params) { p.Cells = 10 },
	} {
		p := Params{Rho: 1, Columns: dims, Ways: 2}
		change(&p)
		if _, err := New(p); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if _, err := New(Params{Rho: 1, Columns: dims[:1], Ways: 2}); err != nil {
		t.Errorf("one column: %v", err)
	}
}
