package planner

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
	"scrim/planner/tree"
)

// toldOf is that of an aggregate whose values are its answer.
func toldOf(a *aggregate) plan.ErrorBar {
	t := plan.ErrorBar{Value: func(v float64) float64 { return v }}
	if a.vector != nil || a.call.Function.Result == functions.JSON {
		t.At = -1
	}
	t.Count, t.Clamp = a.call.Function.Counts, a.call.Function.AtLeastZero
	return t
}

// tolds are those of the columns that an aggregate answers.
func (a *aggregate) tolds() []plan.ErrorBar {
	if a.parts == nil {
		return []plan.ErrorBar{toldOf(a)}
	}
	out := make([]plan.ErrorBar, len(a.parts))
	for i, m := range a.parts {
		out[i] = toldOf(m)
		if out[i].At = i; !a.all {
			out[i].Value = m.grid.Value
		}
	}
	return out
}

// barType is the SQL type of a column that tells of an aggregate's error.
func (a *aggregate) barType(b functions.Bar) sql.Type {
	if b != functions.Radius && toldOf(a).At < 0 {
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

// tell completes an output that tells of the error of an aggregate.
func (s *statement) tell(r *rel.Relation, a *aggregate, t *functions.Told, o *plan.Output) error {
	f := t.Function
	for _, c := range r.Columns {
		if t.Alias != "" && strings.EqualFold(c.Name, t.Alias) {
			return deny(RuleBar, refuse.Aggregate, fmt.Sprintf("Write %s(%s), or give the aggregate another alias.", f.Name, a.text),
				"%s(%s) is about the column %s, which goes before the alias, and a column has no error.", f.Name, t.Alias, c.Name)
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
