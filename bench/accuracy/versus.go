package accuracy

import (
	"fmt"
	"io"
	"math"
	"strings"

	"scrim/bench/internal/form"
	"scrim/engine/estimator"
)

// Versus is a comparison that a method has to win: the median of its errors is at most Factor × the
// least median of the others at the same point. One of the others that refuses in more than half of
// the trials has lost. Where even the Floor, a method that no private one can be better than, has a
// larger median than that, the comparison is out of reach and not counted.
type Versus struct {
	Claim   string
	Panel   string // whose metric counts
	Point   Point
	Method  string
	Against []string
	Factor  float64
	Floor   string
}

// judged is a comparison with its figures.
type judged struct {
	Versus
	relation    estimator.Relation
	ours, best  float64
	chance      float64 // standard error of their ratio
	against     string  // the best of the others; empty: none answers
	verdict     string
	ran, missed bool
	beyond      bool // out of reach
}

// chances is how many standard errors a ratio may be over what is asked for to be called a matter
// of chance.
const chances = 2

// versus has one row for each comparison and relation.
func (r Report) versus() sheet {
	ran, missed, beyond := 0, 0, 0
	out := sheet{kind: "versus", head: []string{"setting", r.Experiment.loss(), "relation", "to reach", "method", "median", "against", "its median", "ratio", "± s.e.", "at most", ""}}
	for _, relation := range r.Experiment.Relations {
		for _, v := range r.Experiment.Versus {
			j := r.judge(v, relation)
			if j.ran {
				ran++
			}
			if j.missed {
				missed++
			}
			if j.beyond {
				beyond++
			}
			out.add(j.row()...)
		}
	}
	more := ""
	if beyond > 0 {
		more = fmt.Sprintf(" %d more are out of reach of any method.", beyond)
	}
	out.lead = fmt.Sprintf("**Comparisons to win**, medians over the trials: %d of %d met.%s", ran-missed, ran, more)
	return out
}

// judge finds the figures and the verdict of a comparison.
func (r Report) judge(v Versus, relation estimator.Relation) judged {
	j := judged{Versus: v, relation: relation, best: math.NaN(), ours: math.NaN()}
	metric := r.metric(v.Panel)
	s, done, refused := r.outcome(v.Point, relation, v.Method).Summary(metric)
	if j.ours, j.ran = s.Median, done > 0; !j.ran {
		j.verdict = "not run"
		return j
	}
	tried, off := 0, 0.0
	for _, m := range v.Against {
		s, done, refused := r.outcome(v.Point, relation, m).Summary(metric)
		if done > 0 {
			tried++
		}
		if done > 0 && 2*refused <= done && !(s.Median >= j.best) {
			j.against, j.best, off = m, s.Median, s.MedianErr/s.Median
		}
	}
	j.chance = j.ours / j.best * math.Hypot(s.MedianErr/s.Median, off)
	floor, known, _ := r.outcome(v.Point, relation, v.Floor).Summary(metric)
	switch {
	case refused > 0:
		j.verdict, j.missed = fmt.Sprintf("**missed**: %d of %d refused", refused, done), true
	case tried == 0:
		j.verdict, j.ran = "nothing to compare with", false
	case j.against == "":
		j.verdict = "met: the others refuse"
	case j.ours <= v.Factor*j.best:
		j.verdict = "met"
	case known > 0 && floor.Median > v.Factor*j.best:
		j.verdict, j.ran, j.beyond = fmt.Sprintf("out of reach: %s has %s", v.Floor, ratio(floor.Median/j.best)), false, true
	case j.ours/j.best <= v.Factor+chances*j.chance:
		j.verdict, j.missed = fmt.Sprintf("**missed** within %d s.e.", chances), true
	default:
		j.verdict, j.missed = "**missed**", true
	}
	return j
}

func (j judged) row() []string {
	against := j.against
	if against == "" {
		against = strings.Join(j.Against, ", ")
	}
	return []string{j.Point.label(), number(j.Point.Rho), j.relation.String(), j.Claim, j.Method, digits(j.ours), against, digits(j.best),
		ratio(j.ours / j.best), ratio(j.chance), fmt.Sprintf("%.3g", j.Factor), j.verdict}
}

// versusText writes one line for each comparison, for a terminal.
func (r Report) versusText(w io.Writer) {
	if len(r.Experiment.Versus) == 0 {
		return
	}
	fmt.Fprintf(w, "to reach\tsetting\t%s\trelation\tmethod\tmedian\tagainst\tits median\tratio\t± s.e.\tat most\t\n", r.Experiment.loss())
	for _, relation := range r.Experiment.Relations {
		for _, v := range r.Experiment.Versus {
			c := r.judge(v, relation).row()
			fmt.Fprintln(w, strings.Join(append([]string{c[3], c[0], c[1], c[2]}, c[4:]...), "\t"))
		}
	}
	fmt.Fprintln(w)
}

func ratio(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.3f", x)
}

// jsonComparison is one comparison in the JSON form.
type jsonComparison struct {
	Claim    string   `json:"claim"`
	Data     string   `json:"data"`
	Rho      float64  `json:"rho"`
	Relation string   `json:"relation"`
	Method   string   `json:"method"`
	Median   *float64 `json:"median,omitempty"`
	Against  string   `json:"against,omitempty"`
	Best     *float64 `json:"its_median,omitempty"`
	AtMost   float64  `json:"at_most"`
	Met      bool     `json:"met"`
}

func (r Report) comparisons() []jsonComparison {
	var out []jsonComparison
	for _, relation := range r.Experiment.Relations {
		for _, v := range r.Experiment.Versus {
			j := r.judge(v, relation)
			out = append(out, jsonComparison{v.Claim, v.Point.Data, v.Point.Rho, relation.String(), v.Method, form.Finite(j.ours), j.against, form.Finite(j.best), v.Factor, j.ran && !j.missed})
		}
	}
	return out
}
