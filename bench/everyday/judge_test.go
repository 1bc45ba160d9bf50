package everyday

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"scrim/bench/internal/served"
	"scrim/engine/estimator"
)

// known is a truth over given rows a person by group.
func known(persons ...map[int]float64) *truth {
	t := &truth{persons: len(persons), index: map[string]int{}, clipped: map[place]clips{}}
	for _, p := range persons {
		var list []entry
		for g, n := range p {
			for len(t.keys) <= g {
				key := strings.Repeat("g", len(t.keys)+1)
				t.index[key] = len(t.keys)
				t.keys, t.level, t.members = append(t.keys, key), append(t.level, 0), append(t.members, 0)
			}
			list = append(list, entry{group: g, rows: n, values: []pair{{n, n}}})
			t.members[g]++
			t.groups++
		}
		t.entries = append(t.entries, list)
	}
	return t
}

var counting = Statement{Name: "counting", Aggregates: []Aggregate{{rowCount, ""}}}

// TestHindsightIsTheBestClip compares with all clips at small steps.
func TestHindsightIsTheBestClip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var persons []map[int]float64
	var totals []float64
	for range 300 {
		n := math.Floor(1 + 20*math.Pow(r.Float64(), 4))
		persons, totals = append(persons, map[int]float64{0: n}), append(totals, n)
	}
	truth := known(persons...)
	if err := truth.answer(t.Context(), served.Session{}, counting); err != nil {
		t.Fatal(err)
	}
	for _, rho := range []float64{0.0005, 0.01, 1} {
		least := math.Inf(1)
		for clip := 0.05; clip <= 21; clip += 0.05 {
			cut := 0.0
			for _, n := range totals {
				cut += max(0, n-clip)
			}
			least = min(least, math.Hypot(cut, clip/math.Sqrt(2*rho)))
		}
		for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			squares, _ := truth.hindsight(counting, 0, rho, relation)
			got := math.Sqrt(squares[0])
			if got < 0.999*least || got > 1.02*least {
				t.Errorf("ρ = %g, %v: %.4g, want %.4g", rho, relation, got, least)
			}
		}
	}
}

// TestHindsightOfGroupsIsJoint: ten equal persons who have 3 rows in one group and 4 in another
// have vectors of length 5, and an exchange moves the sum by √2 as much.
func TestHindsightOfGroupsIsJoint(t *testing.T) {
	var persons []map[int]float64
	for range 1000 {
		persons = append(persons, map[int]float64{0: 3, 1: 4})
	}
	truth := known(persons...)
	if err := truth.answer(t.Context(), served.Session{}, counting); err != nil {
		t.Fatal(err)
	}
	for relation, moves := range map[estimator.Relation]float64{estimator.AddRemove: 5, estimator.ReplaceOne: 5 * math.Sqrt2} {
		want := moves * moves / (2 * 0.5)
		squares, _ := truth.hindsight(counting, 0, 0.5, relation)
		for g, got := range squares {
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%v: squared error %g in group %d, want %g", relation, got, g, want)
			}
		}
	}
}

// replied is a reply of one row, with the same interval at all levels.
func replied(value, deviation, low, high string) reply {
	row := []*string{}
	add := func(text string) {
		if text == "" {
			row = append(row, nil)
			return
		}
		row = append(row, &text)
	}
	add(value)
	add(deviation)
	for range levels {
		add(low)
		add(high)
	}
	return reply{rows: [][]*string{row}}
}

func TestJudging(t *testing.T) {
	truth := known(map[int]float64{0: 300})
	truth.keys, truth.index = []string{""}, map[string]int{"": 0}
	if err := truth.answer(t.Context(), served.Session{}, counting); err != nil {
		t.Fatal(err)
	}
	warned := replied("", "", "", "")
	warned.warnings = []string{"too few persons"}
	for name, test := range map[string]struct {
		reply                           reply
		wild, silent, null, hold, error int
	}{
		"right":           {reply: replied("310", "10", "290", "330"), hold: 1, error: 10},
		"short of it":     {reply: replied("310", "1", "305", "330"), error: 10},
		"far too low":     {reply: replied("33", "5", "22", "44"), wild: 1, error: 267},
		"low, and honest": {reply: replied("33", "200", "0", "433"), hold: 1, error: 267},
		"no upper end":    {reply: replied("33", "5", "22", ""), hold: 1, error: 267},
		"far too high":    {reply: replied("1000", "5", "990", "1010"), wild: 1, error: 300},
		"silent":          {reply: replied("", "", "", ""), silent: 1, null: 1, error: 300},
		"a warned NULL":   {reply: warned, null: 1, error: 300},
		"empty":           {silent: 1, error: 300},
	} {
		c := &Cell{}
		s := &scores{cell: c, statement: counting, ms: []float64{100}, best: []float64{100}}
		s.judge(truth, test.reply)
		s.finish()
		if c.Wild() != test.wild || c.Silent != test.silent || c.Null != test.null || c.Covered[usual] != test.hold || math.Abs(c.RMS-float64(test.error)) > 1e-9 {
			t.Errorf("%s: wild %d, silent %d, NULL %d, holds %d, error %g", name, c.Wild(), c.Silent, c.Null, c.Covered[usual], c.RMS)
		}
	}
}

// TestCoverageIsJudgedFairly: a cell is called short by few intervals only where they are far off.
func TestCoverageIsJudgedFairly(t *testing.T) {
	for _, test := range []struct {
		intervals, covered int
		short              bool
	}{{10, 8, false}, {10, 6, true}, {1000, 930, false}, {1000, 900, true}, {1, 0, false}, {0, 0, false}} {
		c := &Cell{Intervals: test.intervals}
		c.Covered[usual] = test.covered
		if got := c.short(usual, 0.02); got != test.short {
			t.Errorf("%d of %d intervals hold: short %v", test.covered, test.intervals, got)
		}
	}
}

// TestTables: generated rows follow their laws, and every statement has its table.
func TestTables(t *testing.T) {
	all := Tables()
	for _, s := range Statements() {
		if all[s.Table] == nil || len(s.Aggregates) == 0 {
			t.Errorf("%s has no table %q, or no aggregates", s.Name, s.Table)
		}
	}
	rows := map[string]int{}
	owned := 0
	if err := all["n1000_giant"].rows("", func(fields ...string) error {
		rows[fields[0]]++
		owned++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if share := float64(rows["1"]) / float64(owned); len(rows) != 1000 || math.Abs(share-0.3) > 0.01 {
		t.Errorf("%d persons, the largest has %.2f of all rows", len(rows), share)
	}
	if n := len(Statements()); n < 40 {
		t.Errorf("%d statements, want at least 40", n)
	}
}

// TestBiasAndSharpness: answers of known bias and noise have them in their cell; no bias is seen
// where there is none but chance.
func TestBiasAndSharpness(t *testing.T) {
	truth := known(map[int]float64{0: 1000, 1: 1000})
	if err := truth.answer(t.Context(), served.Session{}, counting); err != nil {
		t.Fatal(err)
	}
	statement := counting
	statement.Keys = []string{"k"}
	for _, bias := range []float64{0, 30} {
		r := rand.New(rand.NewPCG(3, 4))
		c := &Cell{}
		s := &scores{cell: c, statement: statement, ms: []float64{100, 100}}
		for range 400 {
			var answers reply
			for _, key := range truth.keys {
				v := 1000 - bias + 20*r.NormFloat64()
				row := []*string{&key}
				for _, x := range []float64{v, 20, v - 13, v + 13, v - 33, v + 33, v - 60, v + 60, v - 80, v + 80} {
					text := strconv.FormatFloat(x, 'f', -1, 64)
					row = append(row, &text)
				}
				answers.rows = append(answers.rows, row)
			}
			s.judge(truth, answers)
		}
		s.finish()
		want := bias / 20
		if math.Abs(c.Bias-want) > 0.15 || math.Abs(c.TotalBias+bias/1000) > 0.006 || c.totalOff() != (bias > 0) || math.Abs(c.Sharpness-60/math.Hypot(bias, 20)) > 0.3 {
			t.Errorf("bias %v: got %v, total %v ± %v, sharpness %v", bias, c.Bias, c.TotalBias, c.TotalDoubt, c.Sharpness)
		}
	}
}
