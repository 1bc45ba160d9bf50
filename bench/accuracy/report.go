package accuracy

import (
	"fmt"
	"io"
	"math"
	"strings"

	"scrim/bench/internal/form"
	"scrim/engine/estimator"
)

// Report is an experiment with its results.
type Report struct {
	Experiment Experiment
	Results    Results
	Seed       uint64
	Cut        bool // ended before all trials were done
}

// Markdown writes the report as tables, one a panel and relation. A cell has mean / median /
// trimmed mean ± standard error of the mean; the trimmed mean leaves out the lowest and the highest
// tenth.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	r.remarks(&b)
	for _, s := range r.sheets() {
		s.markdown(&b)
	}
	for _, p := range r.Experiment.Panels {
		for _, relation := range r.Experiment.Relations {
			r.panel(&b, p, relation)
		}
	}
	fmt.Fprintf(&b, "Mean / median / mean without the lowest and highest tenth ± standard error of the mean. %s, seed %d.\n", r.counts(), r.Seed)
	_, err := io.WriteString(w, b.String())
	return err
}

// remarks writes what the source claims and what differs here.
func (r Report) remarks(b *strings.Builder) {
	if r.Experiment.Claim != "" {
		fmt.Fprintf(b, "The paper: %s\n\n", r.Experiment.Claim)
	}
	if r.Experiment.Notes != "" {
		fmt.Fprintf(b, "%s\n\n", r.Experiment.Notes)
	}
}

// counts says how many trials there were.
func (r Report) counts() string {
	least, most := math.MaxInt, 0
	for _, o := range r.Results {
		if o.Problem == "" {
			least, most = min(least, len(o.Trials)), max(most, len(o.Trials))
		}
	}
	text := fmt.Sprintf("%d trials", most)
	if least < most {
		text = fmt.Sprintf("%d to %d trials", least, most)
	}
	if r.Cut {
		text += ", interrupted"
	}
	return text
}

// panel writes one table: a row for each point, a column for each method.
func (r Report) panel(b *strings.Builder, p Panel, relation estimator.Relation) {
	fmt.Fprintf(b, "**%s**, %v, %v\n\n", p.Title, p.Metric, relation)
	head := append(p.place(p.heading(), r.Experiment.loss()), p.Methods...)
	for _, q := range p.Quoted {
		head = append(head, q.Name)
	}
	form.Table(b, head, func(yield func([]string)) {
		for _, at := range p.Points {
			cells := p.place(at.label(), number(at.Rho))
			for _, m := range p.Methods {
				cells = append(cells, r.cell(p, at, relation, m))
			}
			for _, q := range p.Quoted {
				cells = append(cells, q.Values[at.key()])
			}
			yield(cells)
		}
	})
}

// heading is the title of a panel's first column.
func (p Panel) heading() string {
	if p.XLabel != "" {
		return p.XLabel
	}
	return "setting"
}

// place returns the first cells of a row: the position and ρ, or ρ alone where it is the position.
func (p Panel) place(label, rho string) []string {
	if p.places() {
		return []string{label, rho}
	}
	return []string{rho}
}

// outcome returns the outcome of a cell, which may have no trials.
func (r Report) outcome(at Point, relation estimator.Relation, method string) *Outcome {
	c := Cell{at.Data, at.Rho, relation, method}
	if o := r.Results[c]; o != nil {
		return o
	}
	return &Outcome{Cell: c, Problem: "not run"}
}

func (r Report) cell(p Panel, at Point, relation estimator.Relation, method string) string {
	o := r.outcome(at, relation, method)
	if o.Problem != "" {
		return "–"
	}
	s, done, refused := o.Summary(p.Metric)
	switch {
	case done == 0:
		return "no trial"
	case refused == done:
		return "refused"
	}
	text := fmt.Sprintf("%s / %s / %s ± %s", digits(s.Mean), digits(s.Median), digits(s.Trimmed), short(s.StdErr))
	if refused > 0 {
		text += fmt.Sprintf(" (%d of %d refused)", refused, done)
	}
	return text
}

// digits writes an error with three significant digits.
func digits(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case x == 0:
		return "0"
	case math.Abs(x) >= 1000 || math.Abs(x) < 1e-3:
		return fmt.Sprintf("%.2e", x)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(math.Abs(x))))), x)
}

// short writes a standard error with two significant digits.
func short(x float64) string {
	if math.IsNaN(x) || x == 0 || math.Abs(x) >= 100 || math.Abs(x) < 1e-4 {
		return fmt.Sprintf("%.2g", x)
	}
	return fmt.Sprintf("%.*f", max(0, 1-int(math.Floor(math.Log10(math.Abs(x))))), x)
}
