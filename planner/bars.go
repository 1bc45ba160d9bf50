package planner

import (
	"fmt"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/estimator"
	"scrim/engine/estimator/bars"
	"scrim/functions"
	"scrim/internal/refuse"
)

// told is how error bars of one column are made from an estimate: post-processing of what is released, like the answer itself.
type told struct {
	at    int // place among the values; -1: all of them, as an array
	value func(steps float64) float64
	count bool // whole, and where it is COUNT at least 0
	clamp bool
}

// toldOf is that of an aggregate whose values are its answer.
func toldOf(a *aggregate) told {
	t := told{value: func(v float64) float64 { return v }}
	if a.vector != nil || a.call.Function.Result == functions.JSON {
		t.at = -1
	}
	t.count = a.call.Function.Measure == functions.Count
	t.clamp = t.count && a.call.Function.Role == functions.Rewritten
	return t
}

// tolds are those of the columns that an aggregate answers.
func (a *aggregate) tolds() []told {
	if a.parts == nil {
		return []told{toldOf(a)}
	}
	out := make([]told, len(a.parts))
	for i, m := range a.parts {
		out[i] = toldOf(m)
		if out[i].at = i; !a.all {
			out[i].value = m.grid.value
		}
	}
	return out
}

// bar is the SQL value of an output that tells of the aggregate's error: NULL where nothing is known.
func (a *Aggregate) bar(o Output, e estimator.Estimate) any {
	t := a.told[o.Part]
	if o.Bar == functions.Radius {
		return known(bars.Radius(e, o.Level))
	}
	if t.at >= 0 {
		return known(t.of(o, e, t.at))
	}
	list := make([]any, len(e.Values))
	for i := range list {
		list[i] = known(t.of(o, e, i))
	}
	return types.JSONDocument{Val: list}
}

// of returns one number, NaN for NULL.
func (t told) of(o Output, e estimator.Estimate, i int) float64 {
	if math.IsNaN(e.Values[i]) {
		return math.NaN()
	}
	if o.Bar == functions.StdErr {
		return t.value(e.StdErr[i])
	}
	lo, hi := bars.Interval(e, i, o.Level)
	lo, hi = t.value(lo), t.value(hi)
	if t.count { // the answer is shown as a whole number, and the exact one is one
		shown := math.RoundToEven(e.Values[i])
		lo, hi = min(math.Ceil(lo), shown), max(math.Floor(hi), shown)
	}
	if t.clamp {
		lo, hi = max(lo, 0), max(hi, 0)
	}
	if o.Bar == functions.Low {
		return lo
	}
	return hi
}

// known is a number as an SQL value: NULL for one that is not known or has no bound.
func known(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// barType is the SQL type of a column that tells of an aggregate's error.
func (a *aggregate) barType(b functions.Bar) sql.Type {
	if b != functions.Radius && toldOf(a).at < 0 {
		return types.JSON
	}
	return types.Float64
}

// asked returns the aggregate that an output of a GROUP BY is of, and what is asked of its error, nil for the answer.
func asked(e sql.Aggregation) (sql.Aggregation, *functions.Told) {
	if m, ok := e.(*functions.Aggregate); ok && m.Told != nil {
		return m.Base(), m.Told
	}
	return e, nil
}

// identity is a text that two aggregates share if they are the same, be they written out or named by an error bar.
func identity(e sql.Aggregation) string {
	m, ok := e.(*functions.Aggregate)
	if !ok {
		if m, ok = plainMarker(e); !ok {
			return strings.ToLower(e.String())
		}
	}
	return strings.ToLower(m.String())
}

// plainMarker is a plain aggregate in the form that an error bar has of it.
func plainMarker(e sql.Aggregation) (*functions.Aggregate, bool) {
	fe, ok := e.(sql.FunctionExpression)
	if !ok {
		return nil, false
	}
	f, ok := functions.ByName(plainName(fe.FunctionName()))
	args := e.Children()
	if _, distinct := e.(*aggregation.CountDistinct); distinct && len(args) == 1 {
		f, ok = functions.ByName("COUNT")
		args = []sql.Expression{expression.NewDistinctExpression(unTuple(args[0]))}
	} else if isStar(e) {
		args = []sql.Expression{expression.NewLiteral(int64(1), types.Int64)}
	}
	return &functions.Aggregate{Function: f, Args: args}, ok
}

// tell completes an output that tells of the error of an aggregate.
func (s *statement) tell(r *relation, a *aggregate, t *functions.Told, o *Output) error {
	f := t.Function
	for _, c := range r.columns {
		if t.Alias != "" && strings.EqualFold(c.name, t.Alias) {
			return deny(RuleBar, refuse.Aggregate, fmt.Sprintf("Write %s(%s), or give the aggregate another alias.", f.Name, a.text),
				"%s(%s) is about the column %s, which goes before the alias, and a column has no error.", f.Name, t.Alias, c.name)
		}
	}
	if f.Bar == functions.Radius && a.vector == nil {
		return deny(RuleBar, refuse.Aggregate, "Use DP_LOW and DP_HIGH, or DP_STDERR.", "DP_RADIUS is of vectors, and %s is none.", a.text)
	}
	if o.Bar = f.Bar; !f.Level {
		return nil
	}
	text, err := s.constantText(&functions.Function{Name: f.Name, Signature: f.Signature}, t.Level)
	if err != nil {
		return err
	}
	o.Level, err = f.ParseLevel(text)
	return optioned(err)
}

// barLines say of the columns that tell of an aggregate's error what they leave out, for EXPLAIN.
func (r *Release) barLines(at int) []string {
	var lines []string
	for _, o := range r.Output {
		if o.Aggregate != at || o.Bar == functions.NoBar {
			continue
		}
		covers := "covers the noise"
		if b, ok := r.Aggregates[at].Estimator.(estimator.Biased); ok && b.Bias() != "" {
			covers += ", not " + b.Bias()
		}
		text := o.Bar.String()
		if o.Level > 0 {
			text += fmt.Sprintf(" level=%v", o.Level)
		}
		if r.Aggregates[at].Parts != nil {
			text += fmt.Sprintf(" of column %d", o.Part+1)
		}
		lines = append(lines, text+"  free  "+covers)
	}
	return lines
}
