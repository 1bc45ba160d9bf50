package accuracy

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"math"
	"reflect"
	"strings"
	"testing"

	"scrim/bench/figure"
	"scrim/engine/estimator"
)

// small is an experiment that takes a moment.
func small() Experiment {
	return Experiment{Name: "small", Title: "small", Trials: 8, Relations: both, Panels: []Panel{{
		Name: "small-a", Title: "small", XLabel: "d", LogX: true, LogY: true,
		Points:  over("gaussian-a:n=2000,d=%v", []float64{16, 32}, 1, 0.5),
		Methods: []string{"non-private", "clipped", "shifted"},
		Quoted:  []Quoted{quote("elsewhere", "16 1 0.123; 32 0.5 0.456")},
	}}}
}

func run(t *testing.T, e Experiment, o Options) Report {
	t.Helper()
	res, err := Run(context.Background(), []Experiment{e}, o)
	if err != nil {
		t.Fatal(err)
	}
	return Report{Experiment: e, Results: res, Seed: o.Seed}
}

func TestRunEndToEnd(t *testing.T) {
	r := run(t, small(), Options{Seed: 1})
	at := small().Panels[0].Points[0]
	exact, done, _ := r.outcome(at, estimator.ReplaceOne, "non-private").Summary(L2)
	if want := math.Sqrt(16.0 / 2000); done != 8 || math.Abs(exact.Mean-want) > want/3 {
		t.Errorf("non-private error %v over %d trials, want about %v", exact.Mean, done, want)
	}
	for _, method := range []string{"clipped", "shifted"} {
		o := r.outcome(at, estimator.ReplaceOne, method)
		s, done, refused := o.Summary(L2)
		if o.Problem != "" || done != 8 || refused != 0 || !(s.Mean > 0.8*exact.Mean && s.Mean < 3*exact.Mean) {
			t.Errorf("%s: %+v, %d trials, %d refused, %s", method, s, done, refused, o.Problem)
		}
		own, _, _ := o.Summary(L2Sample)
		if !(own.Mean > 0 && own.Mean < s.Mean) {
			t.Errorf("%s: error to the sample mean %v, to the truth %v", method, own.Mean, s.Mean)
		}
	}
	checkTables(t, r)
	checkFigures(t, r)
}

func checkTables(t *testing.T, r Report) {
	var md, text bytes.Buffer
	if err := r.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| d | ρ | non-private | clipped | shifted | elsewhere |", "| 32 | 0.5 |", "| 0.456 |", "add-remove", "8 trials, seed 1"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("no %q in\n%s", want, md.String())
		}
	}
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n"); n != 2+2*2*2*3+1 {
		t.Errorf("%d lines of text:\n%s", n, text.String())
	}
	b, err := json.Marshal(r.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), `"method"`); n != 2*2*2*3 {
		t.Errorf("%d cells in JSON", n)
	}
}

// checkFigures checks that plots are PNG files with something in them.
func checkFigures(t *testing.T, r Report) {
	figures := r.Figures()
	if len(figures) != 1 || len(figures["small-a"].Curves) != 2*2*3 {
		t.Fatalf("%d figures, %d curves", len(figures), len(figures["small-a"].Curves))
	}
	var b bytes.Buffer
	if err := figures["small-a"].WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[any]bool{}
	for x := 0; x < img.Bounds().Dx(); x++ {
		for y := 0; y < img.Bounds().Dy(); y++ {
			colours[img.At(x, y)] = true
		}
	}
	if img.Bounds().Dx() < 600 || len(colours) < 10 {
		t.Errorf("a picture of %v with %d colours", img.Bounds(), len(colours))
	}
}

// TestPairing checks that a seed fixes everything but the time, and that methods share their
// samples.
func TestPairing(t *testing.T) {
	e := small()
	e.Trials = 2
	a, b, c := run(t, e, Options{Seed: 5, Workers: 1}), run(t, e, Options{Seed: 5, Workers: 2}), run(t, e, Options{Seed: 6})
	for cell, x := range a.Results {
		if !reflect.DeepEqual(errorsOf(x), errorsOf(b.Results[cell])) {
			t.Errorf("%v: the same seed gives %v and %v", cell, errorsOf(x), errorsOf(b.Results[cell]))
		}
		if reflect.DeepEqual(errorsOf(x), errorsOf(c.Results[cell])) {
			t.Errorf("%v: two seeds give the same", cell)
		}
	}
	at := e.Panels[0].Points[0]
	other := at
	other.Rho = 0.5
	if x, y := a.outcome(at, estimator.ReplaceOne, "non-private"), a.outcome(other, estimator.AddRemove, "non-private"); !reflect.DeepEqual(errorsOf(x)[0][:4], errorsOf(y)[0][:4]) {
		t.Error("two settings of one set have different samples")
	}
}

// errorsOf returns the errors of all trials with NaN as -1.
func errorsOf(o *Outcome) []Errors {
	var out []Errors
	for _, t := range o.Trials {
		for m := range t.Errors {
			if math.IsNaN(t.Errors[m]) {
				t.Errors[m] = -1
			}
		}
		out = append(out, t.Errors)
	}
	return out
}

// TestSharedCellsRunOnce runs two experiments together that share cells.
func TestSharedCellsRunOnce(t *testing.T) {
	a, b := small(), small()
	a.Trials, b.Trials = 1, 3
	b.Panels[0].Methods = []string{"clipped"}
	runs := 0
	res, err := Run(context.Background(), []Experiment{a, b}, Options{Progress: func(done, _ int) { runs = done }})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * 2 * 3; len(res) != want || runs != 3*want {
		t.Errorf("%d cells, %d runs; want %d and three times that", len(res), runs, want)
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := small()
	e.Trials = 100000
	res, err := Run(ctx, []Experiment{e}, Options{Progress: func(done, _ int) {
		if done == 40 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range res {
		n += len(o.Trials)
	}
	if n < 40 || n > 400 {
		t.Errorf("%d runs kept", n)
	}
	var md bytes.Buffer
	if err := (Report{Experiment: e, Results: res, Cut: true}).Markdown(&md); err != nil || !strings.Contains(md.String(), "interrupted") {
		t.Errorf("%v: %s", err, md.String())
	}
}

func TestMissingFilesAndRefusals(t *testing.T) {
	e := Experiment{Name: "x", Trials: 1, Relations: replaceOne, Panels: []Panel{
		{Points: overRho("transactions:file=nowhere", 1), Methods: []string{"clipped"}},
		{Points: overRho("gaussian-a:n=10,d=64", 0.001), Methods: []string{"shifted", "covariance"}},
		{Points: overRho("clicks:n=100,d=50,nnz=3", 1), Methods: []string{"shifted-rotated"}},
	}}
	var md bytes.Buffer
	if err := run(t, e, Options{}).Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 1 | – |", "| 0.001 | refused |"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("no %q in\n%s", want, md.String())
		}
	}
	for _, bad := range []Panel{{Points: overRho("gauss", 1), Methods: []string{"auto"}}, {Points: overRho("gaussian", 1), Methods: []string{"mean"}}, {Points: overRho("gaussian", 1), Methods: []string{"plan:q=1"}}} {
		if _, err := Run(context.Background(), []Experiment{{Trials: 1, Relations: replaceOne, Panels: []Panel{bad}}}, Options{}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// TestExperimentsAreWhole opens every data set and method of every experiment, but for files.
func TestExperimentsAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, e := range Experiments() {
		if e.Trials < 20 || len(e.Relations) == 0 || len(e.Panels) == 0 {
			t.Errorf("%s: %d trials, %d panels", e.Name, e.Trials, len(e.Panels))
		}
		if _, _, err := prepare([]Experiment{e}, Options{}); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		for _, p := range e.Panels {
			if names[p.Name] {
				t.Errorf("two panels named %s", p.Name)
			}
			names[p.Name] = true
			checkQuotes(t, p)
		}
		for _, g := range e.Goals {
			if (Report{Experiment: e}).find(g) == nil {
				t.Errorf("%s: nothing runs for the goal %+v", e.Name, g)
			}
		}
	}
}

func checkQuotes(t *testing.T, p Panel) {
	for _, q := range p.Quoted {
		used := 0
		for _, at := range p.Points {
			if q.Values[at.key()] != "" {
				used++
			}
		}
		if used != len(q.Values) {
			t.Errorf("%s: %d of %d quoted figures of %q have a place", p.Name, used, len(q.Values), q.Name)
		}
	}
}

// find returns the panel that runs a goal's cell.
func (r Report) find(g Goal) *Panel {
	for _, p := range r.Experiment.Panels {
		for _, at := range p.Points {
			for _, m := range p.Methods {
				if p.Name == g.Panel && at.Data == g.Point.Data && at.Rho == g.Point.Rho && m == g.Method {
					return &p
				}
			}
		}
	}
	return nil
}

func TestFiguresLeaveOutWhatALogCannotShow(t *testing.T) {
	f := figure.Figure{LogX: true, LogY: true, Curves: []figure.Curve{{Name: "a", Points: []figure.Point{{X: 1, Y: 0}, {X: 2, Y: 3, Err: 7}, {X: 4, Y: 5, Err: math.NaN()}}}}}
	var b bytes.Buffer
	if err := f.WritePNG(&b); err != nil || b.Len() < 1000 {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
}
