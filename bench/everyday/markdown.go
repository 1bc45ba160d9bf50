package everyday

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"scrim/bench/internal/form"
	"scrim/engine/estimator"
)

// Markdown writes the report as a page. pictures is the directory of its plots as seen from the
// page; charted says that those of Chart are there too.
func (r Report) Markdown(w io.Writer, pictures string, charted bool) error {
	var b strings.Builder
	b.WriteString(opening)
	fmt.Fprintf(&b, "%d statements, %d cells, %d runs each; ε = %s; %s.%s\n\n", r.statements(), len(r.chosen()), r.Options.Runs, r.losses(), r.neighbours(), r.interrupted())
	b.WriteString("## What is reached\n\n")
	r.total(&b)
	r.byM(&b)
	fmt.Fprintf(&b, "![Errors over hindsight by m](%s/by-m.png)\n\n", pictures)
	b.WriteString("## By statement\n\n" + aboveStatements)
	r.byStatement(&b)
	fmt.Fprintf(&b, "![Every cell](%s/cells.png)\n\n", pictures)
	r.choicesTable(&b)
	r.gainsTable(&b)
	r.refused(&b)
	if charted {
		b.WriteString(aboveCharts)
		for _, c := range charts {
			fmt.Fprintf(&b, "![%s](%s/%s.png)\n\n", c.title, pictures, c.name)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

const opening = `# Everyday answers

How far the answers to ordinary counts, sums and means are from the exact ones, on public data and on made-up tables: the server is
asked over its own wire, as an analyst would. This page is written by

` + "```sh" + `
make everyday DATA=directory    # of the data files; without DATA only generated tables and what ships are asked
` + "```" + `

and ` + "`bin/scrim-bench everyday --help`" + ` has more. What is compared here is the server, with its planner and its choices; [accuracy.md](accuracy.md)
compares estimators with papers.

## The words

- A **cell** is one aggregate of a statement at one ε under one neighbour relation. Its **ρ** is an even share of the statement's loss: of its aggregates, of
  the selection of keys where keys are selected, and of the levels of ROLLUP.
- **m** = n·√(2ρ), n the persons with a row in the statement. With m under 20 nobody can say much. A group's own m is (persons in the group)·√(2ρ/k),
  where a person is in k groups on average.
- **Hindsight** is the error of the best clip, known for nothing: min over τ of √(B(τ)² + τ²/2ρ), B(τ) what is cut from the persons' totals. Groups are one vector a
  person, clipped at the best joint length R, with noise of √(2ρ) over R in each group (√2·R under replace-one, where there are several); the
  error is the ℓ2 norm over groups. A person adds to a mean their sum less the exact mean times their values, so that hindsight knows the centre; such numbers are clipped on both
  sides, what is cut counts from both, and groups are weighed by N^-a, N their values, with the best a of 0, ½ and 1. Levels of ROLLUP stand by themselves.
- The **error** is the root mean square over the runs of the ℓ2 distance from the exact answers. An answer that is not there counts as 100 %, and no answer counts more; a
  mean that is not there counts where its group's m is at least 20. The **ratio** is (error − 1 % of the exact answer) / hindsight. Medians, standard deviations
  and what is of two numbers have no hindsight.
- **Coverage** is the share of DP_LOW … DP_HIGH that hold the exact answer. A cell is *short* when intervals that hold as often as wanted (the level less .02; .05 for m
  under 50) would hold so seldom with a probability under 1 %: of a hundred good cells one is called short.
- **Wild**: an answer under a third, or over three times, of the exact one, whose interval at 95 % denies it. Noise of exactly the stated size does so now and then
  where a group is small; how often is the number in brackets.
- **Bias** is |mean − exact| over DP_STDERR, the root of the mean square over a statement's groups, without what so few runs have in it by chance. The **total** over groups, of counts and
  sums that are all told, is off where the mean of its answers is more than 2 % from the exact one, beyond two of its standard errors. The tables by m count only cells whose
  best clip takes at most 1 % of the answers. **Sharpness** is half the width of the interval at 95 % over the error, the median
  over groups; 1.96 is perfect.
- **Silent**: an empty result, or a NULL, without a warning (SHOW WARNINGS after each statement). **No answer**: NULL, or a key that was left out.
- Of a class of m, coverage and the share without an answer are averages over its cells, the latter by the m of groups.
- **Out of reach**: one person with 30 % of all rows; a thin tail with m under 300. No mechanism can see these; they are left out of the summary.

`

const aboveStatements = `Numbers under add-remove / replace-one. Wild, silent and no answer are of both relations and all ε together; ° marks cells out of reach.

`

const aboveCharts = `## Charts

One answer each at ε = 1, add-remove, with its interval at 95 %; the line is the exact one.

`

func (r Report) statements() int {
	names := map[string]bool{}
	for _, c := range r.chosen() {
		names[c.Statement] = true
	}
	return len(names)
}

func (r Report) losses() string {
	var out []string
	for _, e := range r.Options.Epsilons {
		out = append(out, fmt.Sprintf("%g", e))
	}
	return strings.Join(out, ", ")
}

func (r Report) neighbours() string {
	var out []string
	for _, n := range r.Options.Relations {
		out = append(out, n.String())
	}
	return strings.Join(out, " and ")
}

func (r Report) interrupted() string {
	if r.Cut {
		return " Interrupted: only what was asked until then."
	}
	return ""
}

// total writes what counts over all cells.
func (r Report) total(b *strings.Builder) {
	var t Summary
	for _, s := range r.Summaries() {
		t.Cells, t.Far, t.Values, t.Wild, t.Chance = t.Cells+s.Cells, t.Far+s.Far, t.Values+s.Values, t.Wild+s.Wild, t.Chance+s.Chance
		t.Silent, t.Unsaid, t.Runs = t.Silent+s.Silent, t.Unsaid+s.Unsaid, t.Runs+s.Runs
	}
	form.Table(b, []string{"", "aim", "reached"}, func(row func([]string)) {
		row([]string{"wild answers", "none in 10,000 beyond chance", fmt.Sprintf("%d of %d, %.0f by chance", t.Wild, t.Values, t.Chance)})
		row([]string{"cells with more of them than chance (1 in 10⁶) allows", "none", fmt.Sprintf("%d of %d", r.wildCells(), t.Cells)})
		row([]string{"silent", "none", fmt.Sprintf("%d of %d runs", t.Silent, t.Runs)})
		row([]string{"keys left out without a warning", "none", fmt.Sprintf("%d of %d runs", t.Unsaid, t.Runs)})
		row([]string{"cells out of reach", "", fmt.Sprintf("%d beside %d", t.Far, t.Cells)})
	})
}

// wildCells counts the cells with wild answers beyond chance.
func (r Report) wildCells() int {
	n := 0
	for _, c := range r.chosen() {
		if c.Problem == "" && !c.Far && c.wild(1e-6) {
			n++
		}
	}
	return n
}

// byM writes the summary by classes of m.
func (r Report) byM(b *strings.Builder) {
	form.Table(b, []string{"m", "cells", "ratio: aim", "reached: within", "median", "90 %", "worst", "no answer: aim", "reached", "coverage 50 / 90 / 95 / 99", "cells short", "typical width", "wild (chance)", "silent"}, func(row func([]string)) {
		for _, s := range r.Summaries() {
			row([]string{s.name, fmt.Sprint(s.Cells), s.ratioAim(), s.within(), two(middle(s.Ratios)), two(quantile(s.Ratios, 0.9)), two(quantile(s.Ratios, 1)),
				s.nullAim(), share(average(s.Missing)), s.coverages(), s.shorts(), share(middle(s.Widths)), fmt.Sprintf("%d (%.0f)", s.Wild, s.Chance), fmt.Sprint(s.Silent)})
		}
	})
	form.Table(b, []string{"m", "bias, aim: median / 95 %", "reached", "totals off by over 2 %", "sharpness, aim: median / all", "reached: median / 95 % / worst"}, func(row func([]string)) {
		for _, s := range r.Summaries() {
			bias, sharp := "–", "–"
			if s.sharp > 0 {
				bias, sharp = fmt.Sprintf("%g / %g", biasMiddle, biasMost), fmt.Sprintf("%g / %d", s.sharp, sharpMost)
			}
			row([]string{s.name, bias, two(middle(s.Biases)) + " / " + two(quantile(s.Biases, 0.95)), fmt.Sprintf("%d of %d", s.Off, s.Totals),
				sharp, two(middle(s.Sharp)) + " / " + two(quantile(s.Sharp, 0.95)) + " / " + two(quantile(s.Sharp, 1))})
		}
	})
	for _, s := range r.Summaries() {
		if c := s.Worst[len4]; c != nil && s.worst > 0 {
			fmt.Fprintf(b, "- m %s: the largest ratio is that of `%s` %s at ε = %g, %v", s.name, c.Statement, c.Aggregate, c.Epsilon, c.Relation)
			if c := s.Worst[usual]; c != nil {
				fmt.Fprintf(b, "; the least coverage at 95 %%, %s, that of `%s` %s at ε = %g, %v", share(c.Coverage(usual)), c.Statement, c.Aggregate, c.Epsilon, c.Relation)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
}

func (s Summary) ratioAim() string {
	switch {
	case s.worst == 0:
		return "–"
	case s.share == 1:
		return fmt.Sprintf("%g in all", s.worst)
	}
	return fmt.Sprintf("%g in %.0f %%, %g in all", s.most, 100*s.share, s.worst)
}

func (s Summary) within() string {
	if s.worst == 0 {
		return "–"
	}
	return share(over(s.Within, len(s.Ratios)))
}

func (s Summary) nullAim() string {
	if s.null == 0 {
		return "–"
	}
	return share(s.null)
}

func (s Summary) coverages() string {
	var out []string
	for l := range levels {
		out = append(out, two(s.Coverage[l]/float64(s.Judged)))
	}
	return strings.Join(out, " / ")
}

func (s Summary) shorts() string {
	if s.below == 0 {
		return "–"
	}
	var out []string
	for _, n := range s.Short {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, " / ") + fmt.Sprintf(" of %d", s.Judged)
}

func average(x []float64) float64 { return floats.Sum(x) / float64(len(x)) }

func over(a, b int) float64 { return float64(a) / float64(b) }

// byStatement writes a row for each aggregate of each statement, with a pair of columns for each ε.
func (r Report) byStatement(b *strings.Builder) {
	head := []string{"statement", "answer", "persons", "groups"}
	for _, e := range r.Options.Epsilons {
		head = append(head, fmt.Sprintf("ε = %g: m", e), "ratio", "bias", "total", "95 %", "width", "sharpness")
	}
	form.Table(b, append(head, "wild (chance)", "silent", "no answer"), func(row func([]string)) {
		for _, list := range r.rows() {
			first := list[0]
			cells := []string{"`" + first.Statement + "`", "`" + first.Aggregate + "`", fmt.Sprint(first.Persons), fmt.Sprint(first.Groups)}
			for _, e := range r.Options.Epsilons {
				cells = append(cells, r.pairs(list, e)...)
			}
			row(append(cells, sums(list)...))
		}
	})
}

// rows are the cells by statement and aggregate, without those that were refused.
func (r Report) rows() [][]*Cell {
	var out [][]*Cell
	place := map[string]int{}
	for _, c := range r.chosen() {
		if c.Problem != "" {
			continue
		}
		key := c.Statement + "\x00" + c.Aggregate
		i, seen := place[key]
		if !seen {
			i = len(out)
			place[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// pairs has m, ratio, bias, coverage, width and sharpness at one ε, of both relations.
func (r Report) pairs(list []*Cell, epsilon float64) []string {
	pick := func(of func(*Cell) string) string {
		var out []string
		for _, n := range r.Options.Relations {
			i := slices.IndexFunc(list, func(c *Cell) bool { return c.Epsilon == epsilon && c.Relation == n })
			if i < 0 {
				out = append(out, "–")
				continue
			}
			out = append(out, of(list[i]))
		}
		return strings.Join(out, " / ")
	}
	m := "–"
	for _, c := range list {
		if c.Epsilon == epsilon && (m == "–" || c.Relation == estimator.AddRemove) {
			if m = fmt.Sprintf("%.0f", c.M); c.Far {
				m += "°"
			}
		}
	}
	return []string{m, pick(func(c *Cell) string { return two(c.Ratio()) }), pick(func(c *Cell) string { return two(c.Bias) }), pick(func(c *Cell) string { return share(c.TotalBias) }),
		pick(func(c *Cell) string { return two(c.Coverage(usual)) }), pick(func(c *Cell) string { return share(c.Width()) }), pick(func(c *Cell) string { return two(c.Sharpness) })}
}

// sums has what counts over all cells of a row.
func sums(list []*Cell) []string {
	wild, silent, values, missing, chance := 0, 0, 0, 0, 0.0
	for _, c := range list {
		wild, silent, values, missing, chance = wild+c.Wild(), silent+c.Silent, values+c.Values, missing+c.Null+c.Hidden, chance+c.Chance
	}
	return []string{fmt.Sprintf("%d (%.1f)", wild, chance), fmt.Sprint(silent), share(over(missing, values))}
}

// refused lists what was not answered at all.
func (r Report) refused(b *strings.Builder) {
	seen := map[string]bool{}
	for _, c := range r.chosen() {
		if c.Problem == "" || seen[c.Statement+c.Problem] {
			continue
		}
		if len(seen) == 0 {
			b.WriteString("Not answered:\n\n")
		}
		seen[c.Statement+c.Problem] = true
		fmt.Fprintf(b, "- `%s`: %s\n", c.Statement, c.Problem)
	}
	if len(seen) > 0 {
		b.WriteString("\n")
	}
}
