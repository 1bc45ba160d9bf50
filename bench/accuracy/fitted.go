package accuracy

import (
	"fmt"
	"io"
	"math"
	"strings"

	"scrim/bench/figure"
	"scrim/engine/estimator"
)

// fits has, for each fitted method, the constants and every measured error beside the fitted one.
func (r Report) fits() (out []sheet) {
	for _, relation := range r.Experiment.Relations {
		for _, method := range r.Experiment.fitted() {
			all := r.measurements(relation, method)
			if len(all) > termCount {
				out = append(out, fitSheet(relation, method, all))
			}
		}
	}
	return out
}

func fitSheet(relation estimator.Relation, method string, all []measured) sheet {
	t := fit(all)
	out := sheet{kind: "terms", lead: fmt.Sprintf("**Four terms fitted to `%s`**, %v, ε = √(2ρ): %v", method, relation, t),
		about: [][2]string{{"relation", relation.String()}, {"method", method}, {"fit", t.String()}},
		head:  []string{"n", "m", "d", "k", "ρ", "set", "measured α", "fitted α", "measured / fitted", "sampling", "privacy", "heavy tail", "first look"}}
	logs := []float64{}
	for _, m := range all {
		out.add(m.row(t)...)
		if x := t.alpha(m.facts); !math.IsNaN(x) {
			logs = append(logs, math.Abs(math.Log(m.alpha/x)))
		}
	}
	out.foot = fmt.Sprintf("The last four columns are the terms' shares of n at the fitted error. %d of %d points have a fitted error, off by a factor of %s on (geometric) average.",
		len(logs), len(all), digits(math.Exp(mean(logs))))
	return out
}

// String is the sample size with its constants.
func (t Terms) String() string {
	var parts []string
	for i, c := range t {
		if c < 1e-6 { // the search is in logarithms: it never comes to 0
			c = 0
		}
		parts = append(parts, digits(c)+"·"+termNames[i])
	}
	return "n = " + strings.Join(parts, " + ")
}

// termsText writes the fitted constants, for a terminal.
func (r Report) termsText(w io.Writer) {
	for _, t := range r.termsJSON() {
		fmt.Fprintf(w, "%s, %s, ε = √(2ρ): %v\n", t.Method, t.Relation, t.Constants)
	}
}

// jsonTerms are fitted constants in the JSON form.
type jsonTerms struct {
	Method    string `json:"method"`
	Relation  string `json:"relation"`
	Constants Terms  `json:"constants"`
}

func (r Report) termsJSON() []jsonTerms {
	var out []jsonTerms
	fits := r.allFits()
	for _, relation := range r.Experiment.Relations {
		for _, method := range r.Experiment.fitted() {
			if t, ok := fits[Cell{Relation: relation, Method: method}]; ok {
				out = append(out, jsonTerms{method, relation.String(), t})
			}
		}
	}
	return out
}

func (m measured) row(t Terms) []string {
	f, x := m.facts, t.alpha(m.facts)
	kind, _, _ := strings.Cut(m.at.law(), ",")
	row := []string{number(f.persons), number(f.rows), number(f.dim), number(f.moment), number(m.at.Rho), kind, digits(m.alpha), digits(x), digits(m.alpha / x)}
	for i, v := range f.terms(x) {
		share := "–"
		if !math.IsNaN(x) {
			share = fmt.Sprintf("%.0f %%", 100*t[i]*v/f.persons)
		}
		row = append(row, share)
	}
	return row
}

// law is what a point's set says of its rows' distribution.
func (p Point) law() string {
	_, rest, ok := strings.Cut(p.Data, "law=")
	if !ok {
		return "gaussian"
	}
	return rest
}

// fitCurve is the fitted error over the points of a series.
func (r Report) fitCurve(p Panel, series string, c Cell, t Terms, colour int, suffix string) figure.Curve {
	out := figure.Curve{Name: "four terms: " + c.Method + suffix, Colour: colour, Dash: 2}
	for _, at := range p.Points {
		f, ok := factsOf(at)
		if x := t.alpha(f); ok && at.Series == series && !math.IsNaN(x) {
			out.Points = append(out.Points, figure.Point{X: at.X, Y: x, Err: math.NaN()})
		}
	}
	return out
}

// allFits are the fitted constants by relation and method.
func (r Report) allFits() map[Cell]Terms {
	out := map[Cell]Terms{}
	for _, relation := range r.Experiment.Relations {
		for _, method := range r.Experiment.fitted() {
			if all := r.measurements(relation, method); len(all) > termCount {
				out[Cell{Relation: relation, Method: method}] = fit(all)
			}
		}
	}
	return out
}
