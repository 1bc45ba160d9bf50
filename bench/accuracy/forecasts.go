package accuracy

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// forecast is what a cell's answers were expected to be like, and what they were.
type forecast struct {
	place   []string // the point's cells in a table
	method  string
	rms     float64
	chance  float64 // standard error of the rms, as of normal errors
	stated  float64 // median of the standard errors that came with the answers
	closed  float64
	covered float64 // share of the 95 % intervals that held what was estimated
	within  float64
	refused int
}

// forecast compares a cell with its closed form; ok is false where it has neither that nor a stated
// error.
func (r Report) forecast(p Panel, at Point, method string) (f forecast, ok bool) {
	o := r.outcome(at, r.Experiment.Relations[0], method)
	f = forecast{place: p.place(at.label(), number(at.Rho)), method: method, closed: o.Expected, within: p.Within}
	var squares, stated, covered []float64
	for _, t := range o.Trials {
		if t.Refused {
			f.refused++
			continue
		}
		squares = append(squares, t.Errors[p.Metric]*t.Errors[p.Metric])
		stated = append(stated, t.Stated)
		if c := t.covered(p.Metric); !math.IsNaN(c) {
			covered = append(covered, c)
		}
	}
	if len(squares) == 0 {
		return f, false
	}
	f.rms, f.stated, f.covered = math.Sqrt(mean(squares)), Summarise(stated).Median, mean(covered)
	f.chance = f.rms / math.Sqrt(2*float64(len(squares)))
	return f, f.closed > 0 || f.stated > 0
}

// covered is the share of intervals that held what the metric compares with.
func (t Trial) covered(m Metric) float64 {
	if m == L2Sample {
		return t.CoveredSample
	}
	return t.Covered
}

func (f forecast) verdict() (text string, judged, met bool) {
	switch off := math.Abs(f.rms/f.closed - 1); {
	case !(f.closed > 0) || f.within == 0:
		return "", false, false
	case off <= f.within:
		return "met", true, true
	case off <= f.within+chances*f.chance/f.closed:
		return fmt.Sprintf("**missed** within %d s.e.", chances), true, false
	}
	return "**missed**", true, false
}

func (f forecast) row() []string {
	closed, share, chance, text := "–", "–", "–", ""
	if f.closed > 0 {
		closed, share, chance = digits(f.closed), ratio(f.rms/f.closed), ratio(f.chance/f.closed)
	}
	if text, _, _ = f.verdict(); f.refused > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s (%d refused)", text, f.refused))
	}
	cover := "–"
	if !math.IsNaN(f.covered) {
		cover = fmt.Sprintf("%.1f %%", 100*f.covered)
	}
	return append(f.place, f.method, digits(f.rms), digits(f.stated), closed, share, chance, cover, text)
}

// eachForecast calls f for every cell of a panel that has a forecast.
func (r Report) eachForecast(p Panel, do func(f forecast)) {
	for _, at := range p.Points {
		for _, m := range p.Methods {
			if f, ok := r.forecast(p, at, m); ok {
				do(f)
			}
		}
	}
}

func (r Report) forecastHead(p Panel) []string {
	return append(p.place(p.heading(), r.Experiment.loss()), "method", "root mean square", "stated", "closed form", "ratio", "± s.e.", "95 % intervals hold", "")
}

// forecasts has, for every panel with closed forms, one row for each cell.
func (r Report) forecasts() (out []sheet) {
	for _, p := range r.Experiment.Panels {
		judged, met := 0, 0
		s := sheet{kind: "forecasts", about: [][2]string{{"panel", p.Name}}, head: r.forecastHead(p)}
		r.eachForecast(p, func(f forecast) {
			_, j, m := f.verdict()
			judged, met = judged+unit(j), met+unit(m)
			s.add(f.row()...)
		})
		s.lead = fmt.Sprintf("**%s: beside the closed forms**", p.Title)
		if judged > 0 {
			s.lead += fmt.Sprintf(", within %.0f %%: %d of %d met", 100*p.Within, met, judged)
		}
		out = append(out, s)
	}
	return out
}

func unit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// forecastsText is the same for a terminal.
func (r Report) forecastsText(w io.Writer) {
	for _, p := range r.Experiment.Panels {
		head := true
		r.eachForecast(p, func(f forecast) {
			if head {
				fmt.Fprintf(w, "%s: beside the closed forms\n%s\n", p.Name, strings.Join(r.forecastHead(p), "\t"))
				head = false
			}
			fmt.Fprintln(w, strings.Join(f.row(), "\t"))
		})
		if !head {
			fmt.Fprintln(w)
		}
	}
}
