package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// Vectorizable reports whether an aggregate may become a coordinate.
func (s *Binder) Vectorizable(r *rel.Relation, a *Aggregate) bool {
	gf, ok := tree.Unalias(a.Arg).(*expression.GetField)
	if !ok || a.Vector != nil || a.Call.Function.Fused == nil || a.Grid.Lower != nil || a.Moment != NoMoment || a.targeted || a.Paired() {
		return false
	}
	for _, o := range a.Call.Options.Given {
		if o != "weight" {
			return false
		}
	}
	if m := s.params.Method(r.Private); m != "" && m != "auto" {
		return false
	}
	c := r.Find(gf)
	return c != nil && c.Required && !c.Extended
}

// Vectorized is the mean of vectors of the members' columns. Its coordinates keep their own grids:
// a scale by the spread makes up for any.
func (s *Binder) Vectorized(members []*Aggregate) (*Aggregate, error) {
	f := members[0].Call.Function
	call, err := functions.NewCall(f.Private(), "", f.Fused.Options)
	if err != nil {
		return nil, err
	}
	v := &VectorArg{Form: plan.Coordinates, Dim: len(members)}
	a := &Aggregate{Call: call, Vector: v, MaxRows: 1, Kinds: []estimator.Kind{estimator.Vector}, Parts: members,
		Value: lower.Expr{Type: lower.Type{Kind: lower.Int}}}
	a.Grid.Step = 1
	texts := make([]string, len(members))
	for i, m := range members {
		v.Coordinates = append(v.Coordinates, m.Arg)
		v.Grids = append(v.Grids, m.Grid)
		a.Grid.Lo, a.Grid.Hi = min(a.Grid.Lo, m.Grid.Lo), max(a.Grid.Hi, m.Grid.Hi)
		if m.Value.Type.Kind == lower.Double {
			a.Value.Type.Kind = lower.Double
		}
		texts[i] = m.Text
	}
	a.Arg = expression.Tuple(slices.Clone(v.Coordinates))
	a.Text = strings.Join(texts, ", ")
	a.Type = members[0].Type
	return a, a.Call.Vector(functions.Vectors{Dim: v.Dim}, "", true)
}

// Vectorized builds the mechanism of an aggregate that stands for several means, under the facts p.
// Each of them is built as well, for groups with too few persons for the vector; their answers are
// in steps, as the vector's are. No such statement is pure.
func (a *Aggregate) Vectorized(p estimator.Params) (estimator.Estimator, error) {
	return a.Call.FusedEstimator(p, func(j int, rho float64) (estimator.Estimator, error) {
		m := a.Parts[j].Facts()
		m.Rho, m.Relation, m.Sized = rho, p.Relation, p.Sized
		m.Grid.Step, m.Grid.Decimal, m.Grid.Scale = 1, false, 0
		return a.Parts[j].Call.Estimator(m)
	})
}

// vectorGain is about how much of the noise of k separate means is left when they are one vector,
// for normal columns. A clip that leaves nearly all of n persons whole is near 4 standard
// deviations for one column, and near √k + 2.5 for k of them; the loss of a column is a k-th alone,
// and shared by all in the vector.
func vectorGain(k int) float64 { return (math.Sqrt(float64(k)) + 2.5) / (4 * math.Sqrt(float64(k))) }

// GainText says what a vector of means saves, for EXPLAIN.
func (a *Aggregate) GainText() string {
	switch {
	case a.SharedStatistics():
		return fmt.Sprintf("%d statistics from one release", len(a.Parts))
	case a.Parts == nil || a.GroupVector:
		return ""
	}
	return fmt.Sprintf("%d means as one vector: about %.2g of the noise of separate ones, for normal columns", len(a.Parts), vectorGain(len(a.Parts)))
}

// Share is the number of shares of the statement's loss that an aggregate takes.
func (a *Aggregate) Share() int { return max(1, len(a.Parts)) }

// Presents are the members' ways to present their coordinate.
func (a *Aggregate) Presents() []func(estimator.Estimate) any {
	switch {
	case a.Series:
		return daysOf(a.Parts)
	case a.View:
		return cellsOf(a.Parts)
	}
	if a.GroupVector || a.SharedStatistics() {
		return presentsOf(a.Parts)
	}
	out := make([]func(estimator.Estimate) any, len(a.Parts))
	for i, m := range a.Parts {
		out[i] = func(e estimator.Estimate) any {
			if math.IsNaN(e.Values[i]) {
				return nil
			}
			return m.Present(estimator.Estimate{Values: []float64{m.Grid.Value(e.Values[i])}})
		}
	}
	return out
}
