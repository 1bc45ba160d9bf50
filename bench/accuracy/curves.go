package accuracy

import (
	"math"
	"slices"

	"scrim/bench/figure"
)

// Figures are the plots of a report, one for each panel whose points have different positions, by
// name.
func (r Report) Figures() map[string]figure.Figure {
	out, fits := map[string]figure.Figure{}, r.allFits()
	for _, p := range r.Experiment.Panels {
		if p.XLabel == "" {
			continue
		}
		f := figure.Figure{Title: p.Title, XLabel: p.XLabel, YLabel: p.Metric.String(), LogX: p.LogX, LogY: p.LogY}
		for _, relation := range r.Experiment.Relations {
			suffix := ""
			if len(r.Experiment.Relations) > 1 {
				suffix = ", " + relation.String()
			}
			colours := p.colours()
			for _, m := range p.Methods {
				for _, series := range p.series() {
					f.Curves = append(f.Curves, r.curve(p, series, Cell{Relation: relation, Method: m}, colours[m], suffix))
					if t, ok := fits[Cell{Relation: relation, Method: m}]; ok && p.fits(m) {
						f.Curves = append(f.Curves, r.fitCurve(p, series, Cell{Relation: relation, Method: m}, t, colours[m], suffix))
					}
				}
			}
		}
		if f.Curves = drawn(f.Curves); len(f.Curves) > 0 {
			out[p.Name] = f
		}
	}
	return out
}

// coloured are the methods that have the same colour in every plot.
var coloured = []string{"non-private", "auto", "shifted", "plan", "clipped", "shifted-rotated", "plan-pairs", "plan-unscaled"}

// colours gives each method its colour: the fixed one, or one that the panel has left.
func (p Panel) colours() map[string]int {
	out, used := map[string]int{}, map[int]bool{}
	for i, m := range coloured {
		if slices.Contains(p.Methods, m) {
			out[m], used[i] = i, true
		}
	}
	next := len(coloured)
	for _, m := range p.Methods {
		if _, ok := out[m]; ok {
			continue
		}
		for used[next%figure.Colours] && len(used) < figure.Colours {
			next++
		}
		out[m], used[next%figure.Colours] = next, true
	}
	return out
}

// series lists the names of the panel's series in their order.
func (p Panel) series() []string {
	var out []string
	seen := map[string]bool{}
	for _, at := range p.Points {
		if !seen[at.Series] {
			seen[at.Series] = true
			out = append(out, at.Series)
		}
	}
	return out
}

// curve is one method over the points of a series. Colours go by method, dashes by series and
// relation.
func (r Report) curve(p Panel, series string, c Cell, colour int, suffix string) figure.Curve {
	out := figure.Curve{Name: c.Method + suffix, Colour: colour}
	if series != "" {
		out.Name += ", " + series
	}
	for i, s := range p.series() {
		if s == series {
			out.Dash = i
		}
	}
	if suffix != "" && c.Relation == r.Experiment.Relations[1] {
		out.Dash += len(p.series())
	}
	for _, at := range p.Points {
		if at.Series != series {
			continue
		}
		s, done, refused := r.outcome(at, c.Relation, c.Method).Summary(p.Metric)
		if done > refused && !math.IsNaN(s.Mean) {
			out.Points = append(out.Points, figure.Point{X: at.X, Y: s.Mean, Err: s.StdErr})
		}
	}
	return out
}

func drawn(curves []figure.Curve) []figure.Curve {
	var out []figure.Curve
	for _, c := range curves {
		if len(c.Points) > 0 {
			out = append(out, c)
		}
	}
	return out
}
