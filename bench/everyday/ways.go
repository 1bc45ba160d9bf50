package everyday

import (
	"fmt"
	"slices"
	"strings"

	"scrim/bench/internal/form"
	"scrim/internal/params"
)

// near is how much larger than the better of the two ways the chosen one's error may be.
const near = 1.1

// choice is an aggregate of a GROUP BY as the server chose to answer it, beside both ways.
type choice struct {
	cell             *Cell
	vector, separate float64 // errors
}

// loss is the error over that of the better way, one hundredth of the exact answer left aside as
// for ratios.
func (c choice) loss() float64 {
	return max(0, c.cell.RMS-0.01*c.cell.Size) / min(c.vector, c.separate)
}

// chosen are the cells that stand for what the server chooses; those of the two ways are only
// compared with them.
func (r Report) chosen() []*Cell {
	return slices.DeleteFunc(slices.Clone(r.Cells), func(c *Cell) bool { return c.Way != "" })
}

// choices lists the cells that were asked in both ways too, the worst first.
func (r Report) choices() []choice {
	errors := map[string]float64{}
	key := func(c *Cell, way string) string {
		return fmt.Sprint(c.Statement, "\x00", c.Aggregate, "\x00", c.Epsilon, "\x00", c.Relation, "\x00", way)
	}
	for _, c := range r.Cells {
		errors[key(c, c.Way)] = c.RMS
	}
	var out []choice
	for _, c := range r.chosen() {
		v, s := errors[key(c, params.GroupByVector)], errors[key(c, params.GroupBySeparate)]
		if c.Problem == "" && !c.Far && v > 0 && s > 0 {
			out = append(out, choice{c, v, s})
		}
	}
	slices.SortFunc(out, func(a, b choice) int { return descending(a.loss(), b.loss()) })
	return out
}

// shown is how many of the worst choices the page has.
const shown = 12

// choicesTable writes how good the server's choices of a way are.
func (r Report) choicesTable(b *strings.Builder) {
	list := r.choices()
	if len(list) == 0 {
		return
	}
	within := 0
	for _, c := range list {
		if c.loss() <= near {
			within++
		}
	}
	fmt.Fprintf(b, "## One vector, or each group by itself\n\nEvery GROUP BY was also asked with `dp_group_by` vector and separate. The error of what the server chose is at most %g × that of the better of the two in %d of %d cells, "+
		"1 %% of the exact answer left aside; runs differ, so that some cells are above by chance. The worst:\n\n", near, within, len(list))
	form.Table(b, []string{"statement", "answer", "ε", "relation", "m", "chosen", "vector", "separate", "chosen over the better"}, func(row func([]string)) {
		for _, c := range list[:min(shown, len(list))] {
			row([]string{"`" + c.cell.Statement + "`", "`" + c.cell.Aggregate + "`", fmt.Sprintf("%g", c.cell.Epsilon), c.cell.Relation.String(), fmt.Sprintf("%.0f", c.cell.M),
				share(c.cell.RMS / c.cell.Size), share(c.vector / c.cell.Size), share(c.separate / c.cell.Size), two(c.loss())})
		}
	})
}
