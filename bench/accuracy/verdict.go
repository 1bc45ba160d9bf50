package accuracy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"scrim/engine/estimator"
)

// metric returns the metric of a panel by name.
func (r Report) metric(panel string) Metric {
	for _, p := range r.Experiment.Panels {
		if p.Name == panel {
			return p.Metric
		}
	}
	return L2
}

// goals has one row for each figure to reach.
func (r Report) goals() sheet {
	missed, judged := 0, 0
	out := sheet{kind: "goals", head: []string{"setting", r.Experiment.loss(), "relation", "method", "ours", "± s.e.", "non-private", "figure", "ratio", "at most", ""}}
	for _, g := range r.Experiment.Goals {
		m := r.metric(g.Panel)
		s, done, refused := r.outcome(g.Point, g.Relation, g.Method).Summary(m)
		exact, _, _ := r.outcome(g.Point, g.Relation, "non-private").Summary(m)
		ours, limit := s.Mean, fmt.Sprintf("%.2f", g.Factor)
		if g.Within > 0 {
			ours, limit = s.Trimmed, fmt.Sprintf("1 ± %.2f", g.Within)
		}
		verdict := g.verdict(ours, done, refused)
		if done > 0 {
			judged++
		}
		if done > 0 && verdict != "met" {
			missed++
		}
		out.add(g.Point.label(), number(g.Point.Rho), g.Relation.String(), g.Method, digits(ours), short(s.StdErr), digits(exact.Mean),
			number(g.Figure), fmt.Sprintf("%.3f", ours/g.Figure), limit, verdict)
	}
	out.lead = fmt.Sprintf("**Figures to reach**: %d of %d met.", judged-missed, judged)
	return out
}

func (g Goal) verdict(mean float64, done, refused int) string {
	switch {
	case done == 0:
		return "not run"
	case refused > 0:
		return fmt.Sprintf("**missed**: %d of %d refused", refused, done)
	case g.Within > 0 && math.Abs(mean/g.Figure-1) <= g.Within, g.Within == 0 && mean <= g.Factor*g.Figure:
		return "met"
	}
	return "**missed**"
}

// comparison is auto beside the single methods at one point.
type comparison struct {
	panel    Panel
	at       Point
	relation estimator.Relation
	auto     float64
	singles  map[string]float64 // those that always answer
	best     string
	limit    float64
}

func (c comparison) ratio() float64 { return c.auto / c.singles[c.best] }

// single reports whether a method of a panel with auto is one that auto may be compared with.
func single(method string) bool {
	return method != "non-private" && !isAuto(method)
}

func isAuto(method string) bool { return method == "auto" || strings.HasPrefix(method, "auto:") }

// compare returns a comparison for every point at which auto and some single method answer in every
// trial.
func (r Report) compare() []comparison {
	var out []comparison
	for _, p := range r.Experiment.Panels {
		at := slices.IndexFunc(p.Methods, isAuto)
		if at < 0 {
			continue
		}
		for _, point := range p.Points {
			for _, relation := range r.Experiment.Relations {
				c := comparison{panel: p, at: point, relation: relation, singles: map[string]float64{}, limit: 1.10}
				c.auto, _ = r.answered(p, point, relation, p.Methods[at])
				c.fill(r)
				if len(c.singles) > 0 && !math.IsNaN(c.auto) {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// fill finds the single methods' errors and the least of them.
func (c *comparison) fill(r Report) {
	for _, m := range c.panel.Methods {
		if !single(m) {
			continue
		}
		x, ok := r.answered(c.panel, c.at, c.relation, m)
		if !ok {
			if m == "plan" {
				c.limit = 1.15
			}
			continue
		}
		c.singles[m] = x
		if c.best == "" || x < c.singles[c.best] {
			c.best = m
		}
	}
}

// answered returns the mean error of a method, and whether it answered in every trial; NaN where it
// never did.
func (r Report) answered(p Panel, at Point, relation estimator.Relation, method string) (float64, bool) {
	s, done, refused := r.outcome(at, relation, method).Summary(p.Metric)
	return s.Mean, done > 0 && refused == 0
}

// ratios has auto beside the best single method at every point.
func ratios(all []comparison) sheet {
	missed := 0
	out := sheet{kind: "auto", head: []string{"setting", "ρ", "relation", "auto", "best single method", "its error", "ratio", "at most", ""}}
	for _, c := range all {
		verdict := "met"
		if c.ratio() > c.limit {
			verdict = "**missed**"
			missed++
		}
		out.add(c.at.label(), number(c.at.Rho), c.relation.String(), digits(c.auto), c.best, digits(c.singles[c.best]),
			fmt.Sprintf("%.3f", c.ratio()), fmt.Sprintf("%.2f", c.limit), verdict)
	}
	out.lead = fmt.Sprintf("**auto beside the best single method**: %d of %d met.", len(all)-missed, len(all))
	return out
}

// overall has, for every method, the geometric mean of its error over that of the best single
// method.
func overall(all []comparison) sheet {
	logs := map[string][]float64{}
	against := map[string][]float64{}
	for _, c := range all {
		best := c.singles[c.best]
		logs["auto"] = append(logs["auto"], math.Log(c.auto/best))
		for m, x := range c.singles {
			m = strings.TrimSuffix(m, ":declare=1") // the same method, told more
			logs[m] = append(logs[m], math.Log(x/best))
			against[m] = append(against[m], math.Log(c.auto/x))
		}
	}
	methods := make([]string, 0, len(logs))
	for m := range logs {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	out := sheet{kind: "overall", lead: "**Over all settings**, geometric means. A single method counts only where it answered in every trial.",
		head: []string{"method", "settings answered", "its error / the best single method's", "auto's error / its error", ""}}
	for _, m := range methods {
		row := []string{m, fmt.Sprintf("%d of %d", len(logs[m]), len(all)), fmt.Sprintf("%.3f", math.Exp(mean(logs[m]))), "", ""}
		if a := against[m]; a != nil {
			row[3], row[4] = fmt.Sprintf("%.3f", math.Exp(mean(a))), "met"
			if mean(a) >= 0 {
				row[4] = "**missed**"
			}
		}
		out.add(row...)
	}
	return out
}
