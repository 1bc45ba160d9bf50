package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// minFused is the least number of means that are worth answering as one vector.
const minFused = 3

// fuse replaces the means of several columns over the same rows by one mean of vectors, with the loss of all of them:
//
//	SELECT AVG(a), AVG(b), …, AVG(z) FROM people
//
// Alone each of k means gets a k-th of the loss, and a clip that no column's own outliers pass. As one vector, with every
// coordinate scaled by its own spread, the clip is on the norm of all of them, in which the outliers of one column
// hardly show: see fusedGain. The number of persons is released once. Where it shows that a group has too few persons for
// the vector, its columns are answered one by one after all (vector.NewColumns).
//
// It is done where it changes nothing but the noise: one row a person, columns that the store keeps from being NULL, no
// declared bounds (their fixed clips need no search), no loss or method of its own on any of them. A person
// with NaN or an infinity in one of the columns is left out of all of them.
func (s *statement) fuse(d *draft, outputs []plan.Output) {
	var members []*aggregate
	for _, a := range d.aggregates {
		if d.relation.Unique && s.fusible(d.relation, a) && (members == nil || a.call.Function.Private() == members[0].call.Function.Private()) {
			members = append(members, a)
		}
	}
	if len(members) < minFused || len(members) > functions.MaxDimension || !within(answerSize(d.Groups, len(members)), s.p.config.Memory) {
		return
	}
	f, err := s.fused(members)
	if err != nil {
		return
	}
	d.replace(members, f, outputs)
}

// replace puts one aggregate, the first, in the place of several, whose outputs become its parts.
func (d *draft) replace(members []*aggregate, whole *aggregate, outputs []plan.Output) {
	before := d.aggregates
	d.aggregates = []*aggregate{whole}
	for _, a := range before {
		if !slices.Contains(members, a) {
			d.aggregates = append(d.aggregates, a)
		}
	}
	for i, o := range outputs {
		if o.Aggregate < 0 {
			continue
		}
		a := before[o.Aggregate]
		if part := slices.Index(members, a); part >= 0 {
			outputs[i].Aggregate, outputs[i].Part = 0, part
		} else {
			outputs[i].Aggregate = slices.Index(d.aggregates, a)
		}
	}
}

// fusible reports whether an aggregate may become a coordinate.
func (s *statement) fusible(r *rel.Relation, a *aggregate) bool {
	gf, ok := tree.Unalias(a.arg).(*expression.GetField)
	if !ok || a.vector != nil || a.call.Function.Fused == nil || a.grid.Lower != nil || a.aimed {
		return false
	}
	for _, o := range a.call.Options.Given {
		if o != "weight" {
			return false
		}
	}
	if m := s.params.method(r.Private); m != "" && m != "auto" {
		return false
	}
	c := r.Find(gf)
	return c != nil && c.Required && !c.Extended
}

// fused is the mean of vectors of the members' columns. Its coordinates keep their own grids: a scale by the spread makes up
// for any.
func (s *statement) fused(members []*aggregate) (*aggregate, error) {
	f := members[0].call.Function
	call, err := functions.NewCall(f.Private(), "", f.Fused.Options)
	if err != nil {
		return nil, err
	}
	v := &vectorArg{form: plan.Coordinates, dim: len(members)}
	a := &aggregate{call: call, vector: v, maxRows: 1, kinds: []estimator.Kind{estimator.Vector}, parts: members,
		value: lower.Expr{Type: lower.Type{Kind: lower.Int}}}
	a.grid.Step = 1
	texts := make([]string, len(members))
	for i, m := range members {
		v.coordinates = append(v.coordinates, m.arg)
		v.grids = append(v.grids, m.grid)
		a.grid.Lo, a.grid.Hi = min(a.grid.Lo, m.grid.Lo), max(a.grid.Hi, m.grid.Hi)
		if m.value.Type.Kind == lower.Double {
			a.value.Type.Kind = lower.Double
		}
		texts[i] = m.text
	}
	a.arg = expression.Tuple(slices.Clone(v.coordinates))
	a.text = strings.Join(texts, ", ")
	a.typ = members[0].typ
	return a, a.call.Vector(functions.Vectors{Dim: v.dim}, "", true)
}

// fused builds the mechanism of an aggregate that stands for several means, under the facts p. Each of
// them is built as well, for groups with too few persons for the vector; their answers are in steps,
// as the vector's are. No such statement is pure.
func (a *aggregate) fused(p estimator.Params) (estimator.Estimator, error) {
	return a.call.FusedEstimator(p, func(j int, rho float64) (estimator.Estimator, error) {
		m := a.parts[j].facts()
		m.Rho, m.Relation, m.Sized = rho, p.Relation, p.Sized
		m.Grid.Step, m.Grid.Decimal, m.Grid.Scale = 1, false, 0
		return a.parts[j].call.Estimator(m)
	})
}

// fusedGain is about how much of the noise of k separate means is left when they are one vector, for normal columns. A
// clip that leaves nearly all of n persons whole is near 4 standard deviations for one column, and near √k + 2.5
// for k of them; the loss of a column is a k-th alone, and shared by all in the vector.
func fusedGain(k int) float64 { return (math.Sqrt(float64(k)) + 2.5) / (4 * math.Sqrt(float64(k))) }

// fusedText says what a vector of means saves, for EXPLAIN.
func (a *aggregate) fusedText() string {
	if a.parts == nil || a.all {
		return ""
	}
	return fmt.Sprintf("%d means as one vector: about %.2g of the noise of separate ones, for normal columns", len(a.parts), fusedGain(len(a.parts)))
}

// share is the number of shares of the statement's loss that an aggregate takes.
func (a *aggregate) share() int { return max(1, len(a.parts)) }

// presents are the members' ways to present their coordinate.
func (a *aggregate) presents() []func(estimator.Estimate) any {
	if a.all {
		return presentsOf(a.parts)
	}
	out := make([]func(estimator.Estimate) any, len(a.parts))
	for i, m := range a.parts {
		out[i] = func(e estimator.Estimate) any {
			if math.IsNaN(e.Values[i]) {
				return nil
			}
			return m.present(estimator.Estimate{Values: []float64{m.grid.Value(e.Values[i])}})
		}
	}
	return out
}

// output is the aggregate that a column of the answer shows.
func (d *draft) output(o plan.Output) *aggregate {
	a := d.aggregates[o.Aggregate]
	if a.parts != nil {
		return a.parts[o.Part]
	}
	return a
}

// sqlType is the type of a column of the answer that is an aggregate.
func (d *draft) sqlType(o plan.Output) sql.Type {
	if a := d.output(o); o.Bar != functions.NoBar {
		return a.barType(o.Bar)
	}
	return d.output(o).typ
}
