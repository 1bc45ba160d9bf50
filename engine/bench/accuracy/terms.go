package accuracy

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"scrim/engine/bench/dataset"
	"scrim/engine/bench/figure"
	"scrim/engine/estimator"
)

// termCount is the number of terms of the sample size of [AKM25, Theorems 1.1, 1.2 and 4.3].
const termCount = 4

var termNames = [termCount]string{"d/(α²m)", "d/(α√m ε)", "d/(α^(k/(k−1)) m ε)", "d/ε"}

// facts are what a sample size depends on.
type facts struct {
	persons, rows, dim float64
	moment, epsilon    float64 // ε = √(2ρ) stands for the loss
	spread             float64 // of a row
}

// terms returns the four terms of the number of persons that the error alpha needs, without constants and logarithms:
// sampling, privacy for light tails, privacy for tails with k moments, and the persons that a first look needs.
func (f facts) terms(alpha float64) [termCount]float64 {
	a, k := alpha/f.spread, f.moment
	return [termCount]float64{
		f.dim / (a * a * f.rows),
		f.dim / (a * math.Sqrt(f.rows) * f.epsilon),
		f.dim / (math.Pow(a, k/(k-1)) * f.rows * f.epsilon),
		f.dim / f.epsilon,
	}
}

// Terms are the fitted constants of the four terms.
type Terms [termCount]float64

// persons is the sample size that the error alpha needs.
func (t Terms) persons(f facts, alpha float64) float64 {
	sum := 0.0
	for i, x := range f.terms(alpha) {
		sum += t[i] * x
	}
	return sum
}

// alpha is the error at which the sample size is that of the facts; NaN where the last term alone asks for more.
func (t Terms) alpha(f facts) float64 {
	lo, hi := math.Log(1e-12*f.spread), math.Log(1e12*f.spread)
	if !(t.persons(f, math.Exp(hi)) < f.persons) || !(t.persons(f, math.Exp(lo)) > f.persons) {
		return math.NaN()
	}
	for range 100 {
		if mid := (lo + hi) / 2; t.persons(f, math.Exp(mid)) > f.persons {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(hi)
}

// measured is an error with its facts.
type measured struct {
	at    Point
	facts facts
	alpha float64
}

// fit returns the constants, none negative, that minimise Σ (1 − Σ_i c_i·t_i(α)/n)² over what was measured: least squares
// of the relative deviation of the sample size. With four terms the best set of positive constants is found by trying
// all sets.
func fit(all []measured) (best Terms) {
	least := math.Inf(1)
	for set := 1; set < 1<<termCount; set++ {
		t, off := fitSet(all, set)
		if off < least {
			best, least = t, off
		}
	}
	return best
}

// fitSet is the plain least squares on a set of terms, +Inf off where a constant is negative or there are too few points.
func fitSet(all []measured, set int) (t Terms, off float64) {
	var used []int
	for i := range termCount {
		if set>>i&1 == 1 {
			used = append(used, i)
		}
	}
	if len(all) < len(used) {
		return t, math.Inf(1)
	}
	a, b := mat.NewDense(len(all), len(used), nil), mat.NewVecDense(len(all), nil)
	for i, m := range all {
		terms := m.facts.terms(m.alpha)
		b.SetVec(i, 1)
		for j, k := range used {
			a.Set(i, j, terms[k]/m.facts.persons)
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		return t, math.Inf(1)
	}
	for j, k := range used {
		if t[k] = x.AtVec(j); t[k] < 0 {
			return t, math.Inf(1)
		}
	}
	var rest mat.VecDense
	rest.MulVec(a, &x)
	rest.SubVec(&rest, b)
	return t, mat.Dot(&rest, &rest)
}

// factsOf reads a point's facts from its set; false for sets without rows and moments.
func factsOf(at Point) (facts, bool) {
	s, err := dataset.Open(at.Data, "")
	if err != nil || s.RowSigma == 0 || s.Moment == 0 {
		return facts{}, false
	}
	return facts{float64(s.Persons), float64(s.Rows), float64(s.Dim), s.Moment, math.Sqrt(2 * at.Rho), s.RowSigma}, true
}

// measurements are the median errors of a method at every point of the experiment's fitted panels, each once.
func (r Report) measurements(relation estimator.Relation, method string) []measured {
	var out []measured
	seen := map[Cell]bool{}
	for _, p := range r.Experiment.Panels {
		if !p.fits(method) {
			continue
		}
		for _, at := range p.Points {
			o := r.outcome(at, relation, method)
			s, done, refused := o.Summary(p.Metric)
			f, ok := factsOf(at)
			if !ok || done == 0 || 2*refused >= done || seen[o.Cell] || !(s.Median > 0) {
				continue
			}
			seen[o.Cell] = true
			out = append(out, measured{at, f, s.Median})
		}
	}
	return out
}

func (p Panel) fits(method string) bool {
	for _, m := range p.Fitted {
		if m == method {
			return true
		}
	}
	return false
}

// fitted lists the methods that an experiment fits.
func (e Experiment) fitted() []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range e.Panels {
		for _, m := range p.Fitted {
			if !seen[m] {
				seen[m] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// fits writes, for each fitted method, the constants and every measured error beside the fitted one.
func (r Report) fits(b *strings.Builder) {
	for _, relation := range r.Experiment.Relations {
		for _, method := range r.Experiment.fitted() {
			all := r.measurements(relation, method)
			if len(all) > termCount {
				r.fitTable(b, relation, method, all)
			}
		}
	}
}

func (r Report) fitTable(b *strings.Builder, relation estimator.Relation, method string, all []measured) {
	t := fit(all)
	fmt.Fprintf(b, "**Four terms fitted to `%s`**, %v, ε = √(2ρ): n = %s·%s + %s·%s + %s·%s + %s·%s\n\n", method, relation,
		digits(t[0]), termNames[0], digits(t[1]), termNames[1], digits(t[2]), termNames[2], digits(t[3]), termNames[3])
	head := []string{"n", "m", "d", "k", "ρ", "set", "measured α", "fitted α", "measured / fitted", "sampling", "privacy", "heavy tail", "first look"}
	table(b, head, func(yield func([]string)) {
		for _, m := range all {
			yield(m.row(t))
		}
	})
	logs := []float64{}
	for _, m := range all {
		if x := t.alpha(m.facts); !math.IsNaN(x) {
			logs = append(logs, math.Abs(math.Log(m.alpha/x)))
		}
	}
	fmt.Fprintf(b, "The last four columns are the terms' shares of n at the fitted error. %d of %d points have a fitted error, off by a factor of %s on (geometric) average.\n\n",
		len(logs), len(all), digits(math.Exp(mean(logs))))
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
func (r Report) fitCurve(p Panel, series string, c Cell, colour int, suffix string) figure.Curve {
	out := figure.Curve{Name: "four terms: " + c.Method + suffix, Colour: colour, Dash: 2}
	all := r.measurements(c.Relation, c.Method)
	if len(all) <= termCount {
		return out
	}
	t := fit(all)
	for _, at := range p.Points {
		f, ok := factsOf(at)
		if x := t.alpha(f); ok && at.Series == series && !math.IsNaN(x) {
			out.Points = append(out.Points, figure.Point{X: at.X, Y: x, Err: math.NaN()})
		}
	}
	return out
}
