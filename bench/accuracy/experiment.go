package accuracy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scrim/bench/dataset"
	"scrim/engine/estimator"
)

// Experiment is a set of panels with what the paper says about them.
type Experiment struct {
	Name, Title string
	Claim       string // what the source claims, in our words
	Notes       string // what differs here
	Trials      int
	Relations   []estimator.Relation
	Panels      []Panel
	Epsilon     bool           // losses are ε, of collections, not ρ
	Costly      bool           // no more trials than Trials, in few dimensions neither
	Most        map[string]int // most trials of methods that take long
	Shapes      []Shape        // how curves have to run
	// figures that the project has set itself; auto is then compared with the single methods
	Goals  []Goal
	Versus []Versus // comparisons that the project has set itself
}

var (
	replaceOne = []estimator.Relation{estimator.ReplaceOne} // the papers'
	addRemove  = []estimator.Relation{estimator.AddRemove}  // the product's default
	both       = []estimator.Relation{estimator.ReplaceOne, estimator.AddRemove}
)

// Panel is one plot: errors of methods over points.
type Panel struct {
	Name, Title string
	XLabel      string
	LogX, LogY  bool
	Metric      Metric
	Points      []Point
	Methods     []string
	Quoted      []Quoted
	Within      float64 // if not 0: errors that have a closed form are within this share of it
	// methods whose errors the four terms of [AKM25] are fitted to, over all such panels of the
	// experiment
	Fitted []string
}

// Point is one setting. Points of a series are joined by a curve.
type Point struct {
	X      float64
	Label  string // the setting's name in tables; empty: X
	Series string
	Data   string
	Rho    float64 // ε where the experiment says so
}

// label is the point's name in tables.
func (p Point) label() string {
	if p.Label != "" {
		return p.Label
	}
	return number(p.X)
}

// loss is what the experiment's losses are called.
func (e Experiment) loss() string {
	if e.Epsilon {
		return "ε"
	}
	return "ρ"
}

// places reports whether a panel's points differ in more than the loss, so that they need a column
// of their own.
func (p Panel) places() bool {
	return p.XLabel != "ρ" && p.XLabel != "ε" || slices.ContainsFunc(p.Points, func(at Point) bool { return at.Label != "" })
}

// Quoted is a column of figures from a source, by point.
type Quoted struct {
	Name   string
	Values map[string]string // by key
}

// key names a point in Quoted.Values: "X ρ" with as few digits as they need.
func (p Point) key() string { return number(p.X) + " " + number(p.Rho) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// over makes a point for every x and ρ; spec has one %v for x.
func over(spec string, xs []float64, rhos ...float64) []Point {
	var out []Point
	for _, rho := range rhos {
		series := ""
		if len(rhos) > 1 {
			series = "ρ=" + number(rho)
		}
		for _, x := range xs {
			out = append(out, Point{X: x, Series: series, Data: fmt.Sprintf(spec, number(x)), Rho: rho})
		}
	}
	return out
}

// overRho makes a point for every ρ.
func overRho(data string, rhos ...float64) []Point {
	var out []Point
	for _, rho := range rhos {
		out = append(out, Point{X: rho, Data: data, Rho: rho})
	}
	return out
}

// quote reads a column of figures: "x ρ value" or, where x is ρ, "ρ value", between semicolons.
func quote(column, list string) Quoted {
	q := Quoted{column, map[string]string{}}
	for entry := range strings.SplitSeq(list, ";") {
		f := strings.Fields(entry)
		q.Values[f[0]+" "+f[len(f)-2]] = f[len(f)-1]
	}
	return q
}

// Cell is what is run together: one method in one setting.
type Cell struct {
	Data     string
	Rho      float64
	Relation estimator.Relation
	Method   string
}

// cells lists the different cells of an experiment.
func (e Experiment) cells() []Cell {
	var out []Cell
	seen := map[Cell]bool{}
	for _, p := range e.Panels {
		for _, at := range p.Points {
			for _, r := range e.Relations {
				for _, m := range p.Methods {
					c := Cell{at.Data, at.Rho, r, m}
					if !seen[c] {
						seen[c] = true
						out = append(out, c)
					}
				}
			}
		}
	}
	return out
}

// Experiments lists all experiments.
func Experiments() []Experiment {
	return slices.Concat(huangLiangYi(), plan(), persons(), anisotropic(), groupBy(), collections(), []Experiment{acceptance(), acceptancePersons(), acceptanceAnisotropic(), acceptanceGroups()})
}

// Find returns the experiment of a name.
func Find(name string) (Experiment, error) {
	var all []string
	for _, e := range Experiments() {
		if e.Name == name {
			return e, nil
		}
		all = append(all, e.Name)
	}
	return Experiment{}, fmt.Errorf("accuracy: no experiment %q; there are %s", name, strings.Join(all, ", "))
}

// Custom is the experiment of a command line: every data set with every ρ and method. Errors are in
// the norm of the set, to the truth where there is one.
func Custom(data, methods []string, rhos []float64, dir string) (Experiment, error) {
	e := Experiment{Name: "custom", Title: "As asked", Trials: 50, Relations: replaceOne}
	for i, d := range data {
		s, err := dataset.Open(d, dir)
		if err != nil {
			return e, err
		}
		e.Panels = append(e.Panels, Panel{Name: "custom-" + strconv.Itoa(i+1), Title: d, XLabel: "ρ", LogX: true, LogY: true,
			Metric: natural(s), Points: overRho(d, rhos...), Methods: methods})
	}
	return e, nil
}

// natural is the metric of the papers for a set.
func natural(s *dataset.Set) Metric {
	switch {
	case s.Groups > 0:
		return Groups
	case s.P == 1 && !s.Observed:
		return HalfL1
	case s.P == 1:
		return HalfL1Sample
	case !s.Observed:
		return L2
	}
	return L2Sample
}

// With returns the experiment with other methods and losses, where some are given. Goals and quoted
// figures that no longer belong to a point are left out of its report.
func (e Experiment) With(methods []string, rhos []float64) Experiment {
	if len(methods) == 0 && len(rhos) == 0 {
		return e
	}
	e.Goals, e.Versus, e.Shapes, e.Panels = nil, nil, nil, slices.Clone(e.Panels)
	for i := range e.Panels {
		p := &e.Panels[i]
		if len(methods) > 0 {
			p.Methods, p.Fitted = methods, common(p.Fitted, methods)
		}
		if len(rhos) > 0 {
			p.Points = at(p.Points, rhos, p.XLabel == "ρ" || p.XLabel == "ε", e.loss())
		}
	}
	return e
}

// common lists what both lists have.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return !slices.Contains(b, x) })
}

// at returns the points with their losses replaced by rhos; isX says that the loss is the position.
func at(points []Point, rhos []float64, isX bool, loss string) []Point {
	var out []Point
	seen := map[Point]bool{}
	for _, rho := range rhos {
		for _, p := range points {
			if isX {
				p.X = rho
			} else if len(rhos) > 1 {
				p.Series = loss + "=" + number(rho)
			} else {
				p.Series = ""
			}
			p.Rho = rho
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}
