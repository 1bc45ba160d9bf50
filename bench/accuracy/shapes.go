package accuracy

import (
	"fmt"
	"slices"
	"strings"
)

// Shape is how a method's errors have to run over a panel's points: the means without the lowest
// and highest tenth.
type Shape struct {
	Panel  string
	Method string
	Run    Course
	Within float64 // of Flat: the largest is at most this share above the smallest
}

// Course is a way of running.
type Course uint8

// Courses.
const (
	Grows Course = iota
	Falls
	Flat
)

// shapes has one row for each shape.
func (r Report) shapes() sheet {
	met, judged := 0, 0
	out := sheet{kind: "shapes", head: []string{"plot", "method", "has to", "errors", "largest / smallest", ""}}
	for _, s := range r.Experiment.Shapes {
		x := r.errorsOf(s)
		verdict := "not run"
		if len(x) > 1 {
			judged++
			if verdict = "**missed**"; s.met(x) {
				verdict = "met"
				met++
			}
		}
		out.add(append(s.row(x), verdict)...)
	}
	out.lead = fmt.Sprintf("**Shapes**: %d of %d met.", met, judged)
	return out
}

// errorsOf lists a shape's errors over the points of its panel; nil where some point has none.
func (r Report) errorsOf(s Shape) (out []float64) {
	for _, p := range r.Experiment.Panels {
		for _, at := range p.Points {
			if p.Name != s.Panel {
				continue
			}
			sum, done, refused := r.outcome(at, r.Experiment.Relations[0], s.Method).Summary(p.Metric)
			if done == 0 || refused > 0 {
				return nil
			}
			out = append(out, sum.Trimmed)
		}
	}
	return out
}

func (s Shape) met(x []float64) bool {
	for i := range x[1:] {
		if s.Run == Grows && x[i+1] <= x[i] || s.Run == Falls && x[i+1] >= x[i] {
			return false
		}
	}
	return s.Run != Flat || slices.Max(x) <= (1+s.Within)*slices.Min(x)
}

func (s Shape) row(x []float64) []string {
	wants := [...]string{"grow", "fall", fmt.Sprintf("stay within %.0f %%", 100*s.Within)}[s.Run]
	var texts []string
	for _, v := range x {
		texts = append(texts, digits(v))
	}
	spread := "–"
	if len(x) > 0 {
		spread = fmt.Sprintf("%.3f", slices.Max(x)/slices.Min(x))
	}
	return []string{s.Panel, s.Method, wants, strings.Join(texts, ", "), spread}
}
