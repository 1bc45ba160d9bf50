package accuracy

import (
	"fmt"
	"strings"
)

// The settings are ours: [AKM25] has no experiments. Rows have variance 1 in every coordinate; the
// heavy-tailed laws have the k moments that the methods are told and hardly more.

const heavy = "law=student,k=4"

// personLine are the methods over n, m and k.
var personLine = []string{"non-private", "person", "person:declare=1", "auto", "rows-as-persons"}

func persons() []Experiment {
	return []Experiment{personsError(), personsVariants(), personsUneven()}
}

// personsError is the error against n, m and k, with the four terms fitted to all of it.
func personsError() Experiment {
	e := Experiment{Name: "persons-error", Title: "[AKM25]: error against persons, rows and moments", Trials: 50, Relations: replaceOne,
		Claim: "n persons with m rows each of a law with k moments suffice for the error α if n is at least d/(α²m) + d/(α√m ε) + d/(α^(k/(k−1)) m ε) + d/ε, " +
			"up to constants and logarithms; no method can do better but for the last term.",
		Notes: "ε = √(2ρ). The constants of the four terms, none negative, are fitted by least squares of the logarithm of the error, to the mean errors at all points together."}
	persons := []float64{250, 500, 1000, 2000, 4000, 8000}
	for _, d := range []int{1, 8, 64} {
		e.Panels = append(e.Panels, errorPanel(fmt.Sprintf("persons-n-d%d", d), fmt.Sprintf("Student t, k = 4, m = 16, d = %d, ρ = 0.5", d), "n",
			fmt.Sprintf("persons:n=%%v,m=16,d=%d,%s", d, heavy), persons))
	}
	for _, c := range []struct {
		d    int
		most int
	}{{1, 5}, {8, 5}, {64, 4}} {
		e.Panels = append(e.Panels, errorPanel(fmt.Sprintf("persons-m-d%d", c.d), fmt.Sprintf("Student t, k = 4, n = 2000, d = %d, ρ = 0.5", c.d), "m",
			fmt.Sprintf("persons:n=2000,m=%%v,d=%d,%s", c.d, heavy), []float64{1, 4, 16, 64, 256}[:c.most]))
	}
	for _, law := range []string{"student", "pareto"} {
		for _, d := range []int{1, 8} {
			e.Panels = append(e.Panels, errorPanel(fmt.Sprintf("persons-k-%s-d%d", law, d), fmt.Sprintf("%s, n = 1000, m = 16, d = %d, ρ = 0.5", title(law), d), "k",
				fmt.Sprintf("persons:n=1000,m=16,d=%d,law=%s,k=%%v", d, law), []float64{2, 3, 4, 6, 8}))
		}
	}
	return e
}

func title(law string) string {
	return map[string]string{"gaussian": "Gaussian", "student": "Student t", "pareto": "Pareto"}[law]
}

func errorPanel(name, title, x, spec string, xs []float64) Panel {
	return Panel{Name: name, Title: title, XLabel: x, LogX: true, LogY: true, Points: over(spec, xs, 0.5), Methods: personLine,
		Fitted: []string{"person", "person:declare=1"}}
}

// personsVariants has all stages and splits, and the other estimators, on three laws.
func personsVariants() Experiment {
	e := Experiment{Name: "persons-variants", Title: "[AKM25]: stages and splits, and other estimators of the same mean", Trials: 50, Relations: both,
		Notes: "`person` learns spread and number of rows; declare=1 is told them. `pure` and `cover` run at ε = √(2ρ), whose loss is ρ in zCDP. " +
			"`rows-as-persons` protects rows at ρ/m², which protects a person of m rows at ρ."}
	methods := []string{"non-private", "person", "person:stages=threaded", "person:stages=single", "person:split=persons", "person:declare=1",
		"person:declare=1,split=persons", "person:pure=1", "auto", "plan", "rows-as-persons", "rows-as-persons:declare=1", "rows-as-persons:method=coinpress"}
	for _, c := range []struct{ n, m, d int }{{1000, 64, 1}, {1000, 16, 8}, {4000, 16, 64}} {
		var points []Point
		for _, law := range []string{"gaussian", "student", "pareto"} {
			p := overRho(fmt.Sprintf("persons:n=%d,m=%d,d=%d,law=%s,k=4", c.n, c.m, c.d, law), 0.05, 0.5)
			for i := range p {
				p[i].Label = title(law)
			}
			points = append(points, p...)
		}
		line := methods
		if c.d == 1 {
			line = append(methods[:len(methods):len(methods)], "cover")
		}
		e.Panels = append(e.Panels, Panel{Name: fmt.Sprintf("persons-variants-d%d", c.d), Title: fmt.Sprintf("n = %d, m = %d, d = %d, k = 4", c.n, c.m, c.d),
			Points: points, Methods: line})
	}
	return e
}

// personsUneven has persons with unequal numbers of rows, and such whose mean goes with that
// number.
func personsUneven() Experiment {
	e := Experiment{Name: "persons-uneven", Title: "Persons with unequal numbers of rows", Trials: 50, Relations: replaceOne,
		Notes: "A person's number of rows is log-normal with mean 16; the position is the spread of its logarithm. Errors are to the mean of the persons' means, every person alike. " +
			"The bias is the mean over trials of estimate − sample mean, averaged over coordinates: beside its standard error it shows what clipping does to the answer. " +
			"`person` with declare=1 is told 16 rows, which many persons do not have. " +
			"With tilt = 1 persons with more rows have a higher mean: the mean of all rows, which is another question, is then off by the spread."}
	for _, tilt := range []float64{0, 1} {
		for _, law := range []string{"gaussian", "pareto"} {
			p := Panel{Name: fmt.Sprintf("persons-uneven-tilt%g-%s", tilt, law),
				Title: fmt.Sprintf("%s, tilt = %g, n = 1000, d = 8, ρ = 0.5", title(law), tilt), XLabel: "spread of ln m", LogY: true,
				Points:  over(fmt.Sprintf("persons:n=1000,m=16,d=8,law=%s,k=4,tilt=%g,uneven=%%v", law, tilt), []float64{0, 0.5, 1, 1.5}, 0.5),
				Methods: []string{"non-private", "mean-of-rows", "person", "person:declare=1", "auto", "plan"}}
			bias := p
			bias.Name, bias.Metric, bias.LogY, bias.Methods = strings.Replace(p.Name, "uneven", "bias", 1), Bias, false, p.Methods[2:]
			e.Panels = append(e.Panels, p, bias)
		}
	}
	return e
}
