package everyday

import (
	"fmt"
	"math"

	"scrim/bench/figure"
)

// Figures are the page's plots by the names of their files.
func (r Report) Figures() map[string]figure.Figure {
	return map[string]figure.Figure{"by-m": r.byMFigure(), "cells": r.cellsFigure()}
}

// byMFigure has the ratios' median, nine in ten and worst beside the aims, by class of m.
func (r Report) byMFigure() figure.Figure {
	f := figure.Figure{Title: "Errors over the best clip in hindsight", XLabel: "m = n √(2ρ)", YLabel: "ratio", LogX: true, LogY: true}
	lines := []figure.Curve{{Name: "median", Colour: 2}, {Name: "nine cells in ten", Colour: 3}, {Name: "worst", Colour: 1},
		{Name: "aim, most cells", Dash: 1, Bare: true}, {Name: "aim, all cells", Dash: 2, Bare: true}}
	for i, s := range r.Summaries() {
		at := center(i)
		for k, y := range []float64{middle(s.Ratios), quantile(s.Ratios, 0.9), quantile(s.Ratios, 1), s.most, s.worst} {
			if y > 0 {
				lines[k].Points = append(lines[k].Points, figure.Point{X: at, Y: y, Err: math.NaN()})
			}
		}
	}
	f.Curves = lines
	return f
}

// center is where a class of m stands in a plot.
func center(class int) float64 {
	low, high := max(5, ends[class]), 5000.0
	if class+1 < classes {
		high = ends[class+1]
	}
	return math.Round(math.Sqrt(low * high))
}

// cellsFigure has a point for each cell, by ε, and the aim for all cells.
func (r Report) cellsFigure() figure.Figure {
	f := figure.Figure{Title: "Every cell: error over hindsight", XLabel: "m = n √(2ρ)", YLabel: "ratio (0.1 stands for less)", LogX: true, LogY: true}
	for i, e := range r.Options.Epsilons {
		c := figure.Curve{Name: fmt.Sprintf("ε = %g", e), Colour: i + 1, Loose: true}
		for _, cell := range r.chosen() {
			if x := cell.Ratio(); cell.Epsilon == e && cell.Problem == "" && !cell.Far && !math.IsNaN(x) {
				c.Points = append(c.Points, figure.Point{X: cell.M, Y: max(0.1, x), Err: math.NaN()})
			}
		}
		f.Curves = append(f.Curves, c)
	}
	all := figure.Curve{Name: "aim, all cells", Dash: 2, Bare: true}
	for i, a := range aims {
		if a.worst > 0 {
			high := 1e5
			if i+1 < classes {
				high = ends[i+1]
			}
			all.Points = append(all.Points, figure.Point{X: ends[i], Y: a.worst, Err: math.NaN()}, figure.Point{X: high, Y: a.worst, Err: math.NaN()})
		}
	}
	f.Curves = append(f.Curves, all)
	return f
}
