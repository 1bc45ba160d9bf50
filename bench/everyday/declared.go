package everyday

import (
	"fmt"
	"slices"
	"strings"

	"scrim/bench/internal/form"
)

// declared lists tables of the rows of others with true declarations: a range of the values, and
// the largest number of rows of a person.
func declared() []*Table {
	var out []*Table
	for _, d := range []struct {
		plain, column, values string
		rows                  int
	}{
		{"n200_poisson", "x", `{"min":0,"max":500}`, 0},
		{"n1279_regulars", "x", `{"min":0,"max":1000}`, 30},
		{"n5000_poisson", "x", `{"min":0,"max":50000}`, 0},
		{"n10000_holes", "x", `{"min":0,"max":150}`, 100},
	} {
		i := slices.IndexFunc(generated(), func(t *Table) bool { return t.Name == d.plain })
		t := generated()[i]
		t.Plain, t.Name = d.plain, d.plain+"_declared"
		t.Domains = append(t.Domains, [2]string{d.column, d.values})
		if d.rows > 0 {
			t.Defaults = fmt.Sprintf(`{"max_rows_per_unit": %d}`, d.rows)
		}
		out = append(out, t)
	}
	return out
}

// gain is a cell over declared rows beside that over the same rows without declarations.
type gain struct{ with, without *Cell }

// over is the error with declarations over that without, one hundredth of the exact answer left
// aside.
func (g gain) over() float64 {
	return max(0, g.with.RMS-0.01*g.with.Size) / g.without.RMS
}

// harmless is how much larger the error with a true declaration may be.
const harmless = 1.05

// gains lists the cells over declared rows, the worst first.
func (r Report) gains() []gain {
	plain := map[string]string{}
	for _, t := range declared() {
		plain[t.Name] = t.Plain
	}
	var out []gain
	for _, c := range r.chosen() {
		table, question, _ := strings.Cut(c.Statement, "/")
		if plain[table] == "" || c.Problem != "" || c.RMS == 0 {
			continue
		}
		for _, d := range r.chosen() {
			if d.Statement == plain[table]+"/"+question && d.Aggregate == c.Aggregate && d.Epsilon == c.Epsilon && d.Relation == c.Relation && d.RMS > 0 {
				out = append(out, gain{c, d})
			}
		}
	}
	slices.SortFunc(out, func(a, b gain) int { return descending(a.over(), b.over()) })
	return out
}

// gainsTable writes what declarations do.
func (r Report) gainsTable(b *strings.Builder) {
	list := r.gains()
	if len(list) == 0 {
		return
	}
	within := 0
	var all []float64
	for _, g := range list {
		if g.over() <= harmless {
			within++
		}
		all = append(all, g.over())
	}
	fmt.Fprintf(b, "## With declarations\n\nThe same rows with a true range of the values, and for two tables the largest number of a person's rows, declared. The error is at most %g × that without "+
		"in %d of %d cells, 1 %% of the exact answer left aside; in the median it is %s × that. Runs differ, so that some cells are above by chance. The worst:\n\n", harmless, within, len(list), two(middle(all)))
	form.Table(b, []string{"statement", "answer", "ε", "relation", "m", "error with", "without", "with over without"}, func(row func([]string)) {
		for _, g := range list[:min(shown, len(list))] {
			c := g.with
			row([]string{"`" + c.Statement + "`", "`" + c.Aggregate + "`", fmt.Sprintf("%g", c.Epsilon), c.Relation.String(), fmt.Sprintf("%.0f", c.M),
				share(c.RMS / c.Size), share(g.without.RMS / g.without.Size), two(g.over())})
		}
	})
}

// descending compares for a sort that has the largest first.
func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
