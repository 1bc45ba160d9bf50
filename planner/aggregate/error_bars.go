package aggregate

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// errorBarOf is that of an aggregate whose values are its answer.
func errorBarOf(a *Aggregate) plan.ErrorBar {
	t := plan.ErrorBar{Text: a.Asked, Value: func(v float64) float64 { return v }}
	if a.Vector != nil || a.Call.Function.Result == functions.JSON {
		t.At = -1
	}
	if a.Moment != NoMoment {
		t.Moment = a.Moment.At
	}
	t.Count, t.Clamp, t.Mean = a.Call.Function.Counts, a.atLeastZero(), a.Call.Function.Averages
	switch of := a.Type.(type) {
	case sql.DecimalType:
		t.Digits = int(of.Scale())
	default:
		if t.Digits = -1; types.IsInteger(of) {
			t.Digits = 0
		}
	}
	return t
}

// rounded says what rows are rounded to.
func (a *Aggregate) rounded(t plan.ErrorBar) plan.ErrorBar {
	t.Rounding = a.Rounding()
	return t
}

// ErrorBars are those of the columns that an aggregate answers.
func (a *Aggregate) ErrorBars() []plan.ErrorBar {
	if a.View || a.Synthetic {
		return nil // what is released has its errors with it
	}
	if a.Parts == nil {
		return []plan.ErrorBar{a.rounded(errorBarOf(a))}
	}
	out := make([]plan.ErrorBar, len(a.Parts))
	for i, m := range a.Parts {
		out[i] = m.rounded(errorBarOf(m))
		if out[i].At = i; a.Vector != nil { // in steps
			out[i].Value, out[i].Rounding = m.Grid.Value, out[i].Rounding/m.Grid.Step
		}
	}
	return out
}

// BarType is the SQL type of a column that tells of an aggregate's error.
func (a *Aggregate) BarType(b functions.ErrorBar) sql.Type {
	if a.Moment != NoMoment && (b == functions.Low || b == functions.High) {
		return a.Type
	}
	if b == functions.Law {
		return types.LongText
	}
	if b == functions.Info || b != functions.Radius && errorBarOf(a).At < 0 {
		return types.JSON
	}
	return types.Float64
}

// BarOf returns the aggregate that an output of a GROUP BY is of, and what is asked of its error,
// nil for the answer.
func BarOf(e sql.Aggregation) (sql.Aggregation, *functions.ErrorBarCall) {
	if m, ok := e.(*functions.Aggregate); ok && m.Told != nil {
		return m.Base(), m.Told
	}
	return e, nil
}

// Identity is a text that two aggregates share if they are the same, be they written out or named
// by an error bar.
func Identity(e sql.Aggregation) string {
	m, ok := Marker(e)
	if !ok {
		return strings.ToLower(e.String())
	}
	return strings.ToLower(m.String())
}

// Marker is an aggregate as a function and its arguments: of a plain one in the form that an error
// bar has of it.
func Marker(e sql.Aggregation) (*functions.Aggregate, bool) {
	if m, ok := e.(*functions.Aggregate); ok {
		return m, true
	}
	fe, ok := e.(sql.FunctionExpression)
	if !ok {
		return nil, false
	}
	f, ok := functions.ByName(fe.FunctionName())
	args := e.Children()
	if _, distinct := e.(*aggregation.CountDistinct); distinct && len(args) == 1 {
		f, ok = functions.ByName("COUNT")
		args = []sql.Expression{expression.NewDistinctExpression(tree.Untuple(args[0]))}
	} else if tree.CountsRows(e) {
		args = []sql.Expression{expression.NewLiteral(int64(1), types.Int64)}
	}
	return &functions.Aggregate{Function: f, Args: args}, ok
}

// Bar completes an output that tells of the error of an aggregate.
func (s *Binder) Bar(r *rel.Relation, a *Aggregate, t *functions.ErrorBarCall, o *plan.Output) error {
	f := t.Function
	for _, c := range r.Columns {
		if t.Alias != "" && strings.EqualFold(c.Name, t.Alias) {
			return rule.Deny(rule.Bar, refuse.Aggregate, fmt.Sprintf("Write %s(%s), or give the aggregate another alias.", f.Name, a.Asked),
				"%s(%s) is about the column %s, which goes before the alias, and a column has no error.", f.Name, t.Alias, c.Name)
		}
	}
	if f.ErrorBar == functions.Radius && a.Vector == nil {
		return rule.Deny(rule.Bar, refuse.Aggregate, "Use DP_LOW and DP_HIGH, or DP_STDERR.", "DP_RADIUS is of vectors, and %s is none.", a.Asked)
	}
	if f.ErrorBar == functions.Law && (errorBarOf(a).At < 0 || a.Moment != NoMoment) {
		return rule.Deny(rule.Bar, refuse.Aggregate, fmt.Sprintf("Ask for DP_LOW(%[1]s) and DP_HIGH(%[1]s) by themselves.", a.Asked),
			"DP_LOW and DP_HIGH of an expression are of numbers, and %s is none.", a.Asked)
	}
	if o.ErrorBar = f.ErrorBar; !f.Level {
		return nil
	}
	text, err := s.constantText(&functions.Function{Name: f.Name, Signature: f.Signature}, t.Level)
	if err != nil {
		return err
	}
	o.Level, err = f.ParseLevel(text)
	return rule.By(rule.Option, err)
}
