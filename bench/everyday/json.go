package everyday

import "scrim/bench/internal/form"

// jsonCell is one cell in the JSON form; what is not known is left out.
type jsonCell struct {
	Statement string              `json:"statement"`
	Way       string              `json:"group_by,omitempty"`
	Answer    string              `json:"answer"`
	Epsilon   float64             `json:"epsilon"`
	Relation  string              `json:"relation"`
	Problem   string              `json:"problem,omitempty"`
	Rho       float64             `json:"rho"`
	Persons   int                 `json:"persons"`
	Groups    int                 `json:"groups"`
	M         float64             `json:"m"`
	Far       bool                `json:"out_of_reach"`
	Runs      int                 `json:"runs"`
	Values    int                 `json:"values"`
	Null      int                 `json:"null"`
	Hidden    int                 `json:"left_out"`
	Tallies   []Tally             `json:"by_m_of_group"`
	Silent    int                 `json:"silent"`
	Unsaid    int                 `json:"left_out_silently"`
	Warned    int                 `json:"warned"`
	WildLow   int                 `json:"wild_low"`
	WildHigh  int                 `json:"wild_high"`
	WildRuns  int                 `json:"wild_runs"`
	Chance    float64             `json:"wild_by_chance"`
	Intervals int                 `json:"intervals"`
	Coverage  map[string]*float64 `json:"coverage"`
	Width     *float64            `json:"width"`
	Relative  *float64            `json:"median_relative_error"`
	RMS       *float64            `json:"rms"`
	Hindsight *float64            `json:"hindsight"`
	Size      *float64            `json:"exact_size"`
	Clipped   *float64            `json:"clipped_by_hindsight"`
	Ratio     *float64            `json:"ratio"`
	Bias      *float64            `json:"bias"`
	Total     *float64            `json:"bias_of_total"`
	Doubt     *float64            `json:"standard_error_of_that"`
	Sharpness *float64            `json:"sharpness"`
	Warnings  []string            `json:"warnings,omitempty"`
	Answers   []jsonSample        `json:"answers,omitempty"` // of cells with few groups
}

// jsonSample is one answer with its interval at 95 %; null for NULL.
type jsonSample struct {
	Run   int      `json:"run"`
	Key   string   `json:"key,omitempty"`
	Exact float64  `json:"exact"`
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// JSON is the report as a value that encoding/json writes.
func (r Report) JSON() any {
	cells := []jsonCell{}
	for _, c := range r.Cells {
		out := jsonCell{Statement: c.Statement, Way: c.Way, Answer: c.Aggregate, Epsilon: c.Epsilon, Relation: c.Relation.String(), Problem: c.Problem,
			Rho: c.Rho, Persons: c.Persons, Groups: c.Groups, M: c.M, Far: c.Far, Runs: c.Runs, Values: c.Values, Null: c.Null, Hidden: c.Hidden, Tallies: c.ByM[:],
			Silent: c.Silent, Unsaid: c.SilentHidden, Warned: c.Warned, WildLow: c.WildLow, WildHigh: c.WildHigh, WildRuns: c.WildRuns, Chance: c.Chance, Intervals: c.Intervals,
			Coverage: map[string]*float64{}, Width: form.Finite(c.Width()), Relative: form.Finite(middle(c.Relative)), RMS: form.Finite(c.RMS), Hindsight: form.Finite(c.Hindsight), Size: form.Finite(c.Size), Clipped: form.Finite(c.Clipped), Ratio: form.Finite(c.Ratio()),
			Bias: form.Finite(c.Bias), Total: form.Finite(c.TotalBias), Doubt: form.Finite(c.TotalDoubt), Sharpness: form.Finite(c.Sharpness)}
		for l, name := range []string{"50", "90", "95", "99"} {
			out.Coverage[name] = form.Finite(c.Coverage(l))
		}
		out.Warnings = c.Warnings
		for _, a := range c.Samples {
			out.Answers = append(out.Answers, jsonSample{a.Run, a.Key, a.Exact, form.Finite(a.Value), form.Finite(a.Low), form.Finite(a.High)})
		}
		cells = append(cells, out)
	}
	return map[string]any{"runs": r.Options.Runs, "only": r.Options.Only, "interrupted": r.Cut, "cells": cells}
}
