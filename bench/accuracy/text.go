package accuracy

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"scrim/bench/internal/form"
)

// Text writes one line for each cell with all statistics, for a terminal.
func (r Report) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range r.Experiment.Panels {
		fmt.Fprintf(t, "%s: %s, %v\n", p.Name, p.Title, p.Metric)
		fmt.Fprintf(t, "%s\trelation\tmethod\tmean\tmedian\ttrimmed\ts.e.\ttrials\trefused\tseconds\n", strings.Join(p.place(p.heading(), r.Experiment.loss()), "\t"))
		for _, at := range p.Points {
			for _, relation := range r.Experiment.Relations {
				for _, m := range p.Methods {
					r.line(t, p, at, r.outcome(at, relation, m), m)
				}
			}
		}
		fmt.Fprintln(t)
	}
	r.versusText(t)
	r.forecastsText(t)
	r.termsText(t)
	if r.Cut {
		fmt.Fprintln(t, "interrupted: only the trials that were done")
	}
	return t.Flush()
}

func (r Report) line(w io.Writer, p Panel, at Point, o *Outcome, method string) {
	fmt.Fprintf(w, "%s\t%v\t%s\t", strings.Join(p.place(at.label(), number(at.Rho)), "\t"), o.Relation, method)
	if o.Problem != "" {
		fmt.Fprintln(w, "–", o.Problem)
		return
	}
	s, done, refused := o.Summary(p.Metric)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%.3g\n", digits(s.Mean), digits(s.Median), digits(s.Trimmed), short(s.StdErr), done, refused, o.seconds())
}

// jsonCell is one cell in the JSON form.
type jsonCell struct {
	Panel    string  `json:"panel"`
	Data     string  `json:"data"`
	Rho      float64 `json:"rho,omitempty"`
	Epsilon  float64 `json:"epsilon,omitempty"`
	Relation string  `json:"relation"`
	Method   string  `json:"method"`
	// closed form of the root mean square ℓ2 error
	Expected *float64         `json:"expected,omitempty"`
	Problem  string           `json:"problem,omitempty"`
	Trials   int              `json:"trials"`
	Refused  int              `json:"refused"`
	Seconds  *float64         `json:"seconds,omitempty"`
	Errors   map[string]stats `json:"errors,omitempty"`
}

type stats struct {
	Mean    float64   `json:"mean"`
	Median  float64   `json:"median"`
	Trimmed float64   `json:"trimmed_mean"`
	StdErr  *float64  `json:"standard_error,omitempty"`
	Each    []float64 `json:"each"`
}

// JSON is the report as a value that encoding/json writes: every cell with every metric and every
// trial.
func (r Report) JSON() any {
	var cells []jsonCell
	for _, p := range r.Experiment.Panels {
		for _, at := range p.Points {
			for _, relation := range r.Experiment.Relations {
				for _, m := range p.Methods {
					c := jsonOf(p.Name, Cell{at.Data, at.Rho, relation, m}, r.outcome(at, relation, m))
					if r.Experiment.Epsilon {
						c.Rho, c.Epsilon = 0, c.Rho
					}
					cells = append(cells, c)
				}
			}
		}
	}
	out := map[string]any{"experiment": r.Experiment.Name, "title": r.Experiment.Title, "seed": r.Seed, "interrupted": r.Cut, "cells": cells}
	if c := r.comparisons(); c != nil {
		out["comparisons"] = c
	}
	if t := r.termsJSON(); t != nil {
		out["terms"] = t
	}
	return out
}

func jsonOf(panel string, c Cell, o *Outcome) jsonCell {
	_, done, refused := o.Summary(L2)
	out := jsonCell{Panel: panel, Data: c.Data, Rho: c.Rho, Relation: c.Relation.String(), Method: c.Method, Problem: o.Problem, Trials: done, Refused: refused, Errors: map[string]stats{}}
	out.Seconds, out.Expected = form.Finite(o.seconds()), form.Finite(o.Expected)
	if o.Expected == 0 { // never prepared
		out.Expected = nil
	}
	for m := range metrics {
		s, _, _ := o.Summary(m)
		if form.Finite(s.Mean) == nil {
			continue
		}
		x := stats{Mean: s.Mean, Median: s.Median, Trimmed: s.Trimmed, StdErr: form.Finite(s.StdErr)}
		for _, t := range o.Trials {
			if e := t.Errors[m]; !math.IsNaN(e) {
				x.Each = append(x.Each, e)
			}
		}
		out.Errors[m.Key()] = x
	}
	return out
}
