package accuracy

import (
	"math"
	"strconv"
)

// Tables are a report's numbers as lines of CSV files, by the file's name; the first line has the
// columns. One named after the experiment has a line for each cell and each quoted figure. The
// others, EXPERIMENT-KIND, are the sheets: goals (figures to reach), auto and overall (auto beside
// the single methods), versus (comparisons to win), shapes, forecasts (closed forms) and terms
// (fitted constants).
func (r Report) Tables() map[string][][]string {
	name := r.Experiment.Name
	out := map[string][][]string{name: r.lines()}
	kinds := map[string][]sheet{}
	for _, s := range r.sheets() {
		kinds[s.kind] = append(kinds[s.kind], s)
	}
	for kind, sheets := range kinds {
		out[name+"-"+kind] = union(sheets)
	}
	return out
}

// lines has a line for each cell and, after the cells of a point, one for each figure that a source
// has for it. A quoted figure has no relation: sources count the loss in ways of their own.
func (r Report) lines() [][]string {
	loss := "rho"
	if r.Experiment.Epsilon {
		loss = "epsilon"
	}
	out := [][]string{{"panel", "title", "metric", "relation", "x_label", "x", "setting", "data", loss, "method", "source",
		"mean", "median", "trimmed_mean", "standard_error", "quoted", "trials", "refused", "problem"}}
	for _, p := range r.Experiment.Panels {
		for _, at := range p.Points {
			for _, relation := range r.Experiment.Relations {
				for _, m := range p.Methods {
					out = append(out, append(p.where(at, relation.String(), m, "measured"), r.outcome(at, relation, m).statistics(p.Metric)...))
				}
			}
			for _, q := range p.Quoted {
				if x := q.Values[at.key()]; x != "" {
					out = append(out, append(p.where(at, "", q.Name, "published"), "", "", "", "", x, "", "", ""))
				}
			}
		}
	}
	return out
}

// where has the cells of a line that say what it is about.
func (p Panel) where(at Point, relation, method, source string) []string {
	x := number(at.X)
	if p.XLabel == "" {
		x = ""
	}
	return []string{p.Name, p.Title, p.Metric.Key(), relation, p.XLabel, x, at.Label, at.Data, number(at.Rho), method, source}
}

// statistics has the other cells of a line.
func (o *Outcome) statistics(m Metric) []string {
	s, done, refused := o.Summary(m)
	return []string{known(s.Mean), known(s.Median), known(s.Trimmed), known(s.StdErr), "", strconv.Itoa(done), strconv.Itoa(refused), o.Problem}
}

// known is a number, or nothing where there is none.
func known(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return number(x)
}
