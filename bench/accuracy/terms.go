package accuracy

import (
	"math"

	"gonum.org/v1/gonum/optimize"

	"scrim/bench/dataset"
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

// terms returns the four terms of the number of persons that the error alpha needs, without
// constants and logarithms: sampling, privacy for light tails, privacy for tails with k moments,
// and the persons that a first look needs.
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

// alpha is the error at which the sample size is that of the facts; NaN where the last term alone
// asks for more.
func (t Terms) alpha(f facts) float64 {
	if t[termCount-1]*f.dim/f.epsilon >= f.persons {
		return math.NaN()
	}
	lo, hi := -40.0, 40.0
	for range 50 {
		if mid := (lo + hi) / 2; t.persons(f, f.spread*math.Exp(mid)) > f.persons {
			lo = mid
		} else {
			hi = mid
		}
	}
	return f.spread * math.Exp(hi)
}

// measured is an error with its facts.
type measured struct {
	at    Point
	facts facts
	alpha float64
}

// fit returns the constants, none negative, that minimise Σ (ln α − ln α̂)² over what was measured,
// α̂ the error that they give: least squares on the scale of relative errors. The search is in the
// logarithms of the constants, by the simplex of Nelder and Mead from three starts.
func fit(all []measured) (best Terms) {
	least := math.Inf(1)
	for _, start := range []float64{0.1, 1, 10} {
		result, err := optimize.Minimize(optimize.Problem{Func: func(x []float64) float64 { return deviationOf(all, constants(x)) }},
			[]float64{0, math.Log(start), math.Log(start), math.Log(0.01)}, &optimize.Settings{FuncEvaluations: 1500}, &optimize.NelderMead{})
		if result != nil && (err == nil || result.F < math.Inf(1)) && result.F < least {
			best, least = constants(result.X), result.F
		}
	}
	return best
}

func constants(logs []float64) (t Terms) {
	for i, x := range logs {
		t[i] = math.Exp(min(x, 50))
	}
	return t
}

// deviationOf is the sum of squared deviations; a point that the last term forbids is as far off as
// the constant is.
func deviationOf(all []measured, t Terms) float64 {
	sum := 0.0
	for _, m := range all {
		off := math.Log(m.alpha / t.alpha(m.facts))
		if math.IsNaN(off) {
			off = 20 + math.Log(t[termCount-1]*m.facts.dim/m.facts.epsilon/m.facts.persons)
		}
		sum += off * off
	}
	return sum
}

// factsOf reads a point's facts from its set; false for sets without rows and moments.
func factsOf(at Point) (facts, bool) {
	s, err := dataset.Open(at.Data, "")
	if err != nil || s.RowSigma == 0 || s.Moment == 0 {
		return facts{}, false
	}
	return facts{float64(s.Persons), float64(s.Rows), float64(s.Dim), s.Moment, math.Sqrt(2 * at.Rho), s.RowSigma}, true
}

// measurements are the mean errors of a method at every point of the experiment's fitted panels,
// each once.
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
			if !ok || done == 0 || 2*refused >= done || seen[o.Cell] || !(s.Mean > 0) {
				continue
			}
			seen[o.Cell] = true
			out = append(out, measured{at, f, s.Mean})
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
