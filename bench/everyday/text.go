package everyday

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Text writes a line for each cell, for a terminal.
func (r Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "statement\tanswer\tε\trelation\tpersons\tgroups\tm\trms\thindsight\tratio\t50 %\t90 %\t95 %\t99 %\twild\tchance\tsilent\tNULL\tleft out\twidth\tmedian error\t")
	for _, c := range r.Cells {
		if c.Problem != "" {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%g\t%v\t", strings.TrimSpace(c.Statement+" "+c.Way), c.Aggregate, c.Epsilon, c.Relation)
		far := ""
		if c.Far {
			far = "*"
		}
		fmt.Fprintf(t, "%d\t%d\t%.0f%s\t%s\t%s\t%s\t", c.Persons, c.Groups, c.M, far, share(c.RMS/c.Size), share(c.Hindsight/c.Size), two(c.Ratio()))
		for l := range levels {
			fmt.Fprintf(t, "%s\t", two(c.Coverage(l)))
		}
		fmt.Fprintf(t, "%d\t%.1f\t%d\t%s\t%s\t%s\t%s\t\n", c.Wild(), c.Chance, c.Silent, share(float64(c.Null)/float64(c.Values)),
			share(float64(c.Hidden)/float64(c.Values)), two(c.Width()), share(middle(c.Relative)))
	}
	for _, c := range r.Cells {
		if c.Problem != "" {
			fmt.Fprintf(t, "%s %s at ε = %g, %v: %s\n", c.Statement, c.Aggregate, c.Epsilon, c.Relation, c.Problem)
		}
	}
	if r.Cut {
		fmt.Fprintln(t, "interrupted: only what was asked until then")
	}
	return t.Flush()
}

// two writes a number with two decimals, a dash for none.
func two(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}

// share writes a share in percent.
func share(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "–"
	case x != 0 && math.Abs(x) < 0.01:
		return fmt.Sprintf("%.2g %%", 100*x)
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}
