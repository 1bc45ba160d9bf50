package everyday

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"scrim/bench/internal/served"
)

// truth is what is exactly so: the answers to a statement, and what each person adds to them.
type truth struct {
	keys    []string // of the groups that have rows, the totals of ROLLUP among them
	level   []int    // of each group: how many keys are rolled up
	index   map[string]int
	members []int // persons with a row in each group
	persons int   // with a row
	groups  int   // in which they are, over all persons, totals left out
	entries [][]entry
	exact   [][]float64 // by aggregate and group; NaN for NULL
	clipped map[place]clips
}

// place is an aggregate at a level of ROLLUP.
type place struct{ aggregate, level int }

// entry is what a person has in a group.
type entry struct {
	group  int
	rows   float64
	values []pair // by aggregate
}

// pair is the number of values that are not NULL, and their sum.
type pair struct{ count, sum float64 }

// total is the key of a column that is rolled up.
const total = "\x00"

// keyOf joins the texts of a row's keys.
func keyOf(keys []*string) string {
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteString("\x1f")
		}
		if k == nil {
			b.WriteString(total)
		} else {
			b.WriteString(*k)
		}
	}
	return b.String()
}

// learn asks for what each person adds to a statement's answers; the session may read raw rows.
func learn(ctx context.Context, s served.Session, st Statement, unit string) (*truth, error) {
	list := append([]string{unit}, st.Keys...)
	list = append(list, "COUNT(*)")
	for _, a := range st.Aggregates {
		if a.summed() {
			list = append(list, "COUNT("+a.arg+")", "SUM("+a.arg+")")
		} else {
			list = append(list, "0", "0")
		}
	}
	by := strings.Join(append([]string{unit}, st.Keys...), ", ")
	rows, err := s.Query(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+st.from()+" GROUP BY "+by)
	if err != nil {
		return nil, fmt.Errorf("everyday: what is true of %s: %w", st.Name, err)
	}
	t := &truth{index: map[string]int{}, clipped: map[place]clips{}}
	person := map[string]int{}
	for _, row := range rows {
		i, seen := person[*row[0]]
		if !seen {
			i = len(person)
			person[*row[0]] = i
			t.entries = append(t.entries, nil)
		}
		keys, cells := row[1:1+len(st.Keys)], row[1+len(st.Keys):]
		e := entry{rows: number(cells[0])}
		for a := range st.Aggregates {
			e.values = append(e.values, pair{number(cells[1+2*a]), number(cells[2+2*a])})
		}
		t.groups++
		t.add(i, keys, e, 0)
		if st.Rollup {
			up := slices.Clone(keys)
			for l := range keys {
				up[len(up)-1-l] = nil
				t.add(i, up, e, l+1)
			}
		}
	}
	t.persons = len(person)
	return t, t.answer(ctx, s, st)
}

// add adds what a person has in a group.
func (t *truth) add(person int, keys []*string, e entry, level int) {
	key := keyOf(keys)
	g, seen := t.index[key]
	if !seen {
		g = len(t.keys)
		t.index[key] = g
		t.keys, t.level, t.members = append(t.keys, key), append(t.level, level), append(t.members, 0)
	}
	for i := range t.entries[person] {
		old := &t.entries[person][i]
		if old.group == g { // a total
			old.rows += e.rows
			for a := range old.values {
				old.values[a].count += e.values[a].count
				old.values[a].sum += e.values[a].sum
			}
			return
		}
	}
	t.members[g]++
	e.group, e.values = g, slices.Clone(e.values)
	t.entries[person] = append(t.entries[person], e)
}

// answer computes the exact answers.
func (t *truth) answer(ctx context.Context, s served.Session, st Statement) error {
	for i, a := range st.Aggregates {
		exact := make([]float64, len(t.keys))
		if !a.additive() {
			of := t.ofRows
			if a.whole() {
				of = t.call
			}
			if err := of(ctx, s, st, a, exact); err != nil {
				return err
			}
			t.exact = append(t.exact, exact)
			continue
		}
		n := make([]float64, len(t.keys))
		for _, list := range t.entries {
			for _, e := range list {
				exact[e.group] += a.of(e, i)
				n[e.group] += e.values[i].count
			}
		}
		for g := range exact {
			switch {
			case a.kind == mean:
				exact[g] /= n[g]
			case a.kind == sum && n[g] == 0:
				exact[g] = math.NaN()
			}
		}
		t.exact = append(t.exact, exact)
	}
	return nil
}

// of is what an entry adds to a count or sum, to the sum of a mean.
func (a Aggregate) of(e entry, i int) float64 {
	switch a.kind {
	case rowCount:
		return e.rows
	case valueCount:
		return e.values[i].count
	case personCount:
		return 1
	}
	return e.values[i].sum
}

// call asks for the exact values of a whole call.
func (t *truth) call(ctx context.Context, s served.Session, st Statement, a Aggregate, exact []float64) error {
	rows, err := s.Query(ctx, "SELECT "+strings.Join(append(slices.Clone(st.Keys), a.raw()), ", ")+" FROM "+st.from()+st.groupBy())
	if err != nil {
		return fmt.Errorf("everyday: what is true of %s: %w", st.Name, err)
	}
	for _, row := range rows {
		last := len(row) - 1
		exact[t.index[keyOf(row[:last])]] = reading(row[last])
	}
	return nil
}

// ofRows computes medians and standard deviations from all values.
func (t *truth) ofRows(ctx context.Context, s served.Session, st Statement, a Aggregate, exact []float64) error {
	rows, err := s.Query(ctx, "SELECT "+strings.Join(append(slices.Clone(st.Keys), a.arg), ", ")+" FROM "+st.from())
	if err != nil {
		return fmt.Errorf("everyday: the values of %s: %w", st.Name, err)
	}
	values := make([][]float64, len(t.keys))
	for _, row := range rows {
		last := len(row) - 1
		if row[last] != nil {
			g := t.index[keyOf(row[:last])]
			values[g] = append(values[g], number(row[last]))
		}
	}
	for g, x := range values {
		exact[g] = math.NaN()
		if len(x) < 2 {
			continue
		}
		slices.Sort(x)
		if exact[g] = (x[(len(x)-1)/2] + x[len(x)/2]) / 2; a.kind == deviation {
			exact[g] = spread(x)
		}
	}
	return nil
}

// spread is the standard deviation of a sample.
func spread(x []float64) float64 {
	m, s := 0.0, 0.0
	for _, v := range x {
		m += v / float64(len(x))
	}
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s / float64(len(x)-1))
}

// number reads a number of an answer; NULL is 0, since it adds nothing.
func number(text *string) float64 {
	if x := reading(text); !math.IsNaN(x) {
		return x
	}
	return 0
}

// reading reads a number of an answer; NULL is NaN.
func reading(text *string) float64 {
	if text == nil {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(*text, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}
