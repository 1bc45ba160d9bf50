package release

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/functions"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

// minVectorized is the least number of means that are worth answering as one vector.
const minVectorized = 3

// Vectorize replaces the means of several columns over the same rows by one mean of vectors, with
// the loss of all of them:
//
//	SELECT AVG(a), AVG(b), …, AVG(z) FROM people
//
// Alone each of k means gets a k-th of the loss, and a clip that no column's own outliers pass. As
// one vector, with every coordinate scaled by its own spread, the clip is on the norm of all of
// them, in which the outliers of one column hardly show: see vectorGain. The number of persons is
// released once. Where it shows that a group has too few persons for the vector, its columns are
// answered one by one after all (vector.NewColumns).
//
// It is done where it changes nothing but the noise: one row a person, columns that the store keeps
// from being NULL, no declared bounds (their fixed clips need no search), no loss or method of its
// own on any of them. A person with NaN or an infinity in one of the columns is left out of all of
// them.
func (s *Builder) Vectorize(d *Aggregation, outputs []plan.Output) {
	var members []*aggregate.Aggregate
	for _, a := range d.Aggregates {
		if d.Relation.Unique && s.Aggs.Vectorizable(d.Relation, a) && (members == nil || a.Call.Function.Private() == members[0].Call.Function.Private()) {
			members = append(members, a)
		}
	}
	if len(members) < minVectorized || len(members) > functions.MaxDimension || !within(answerSize(d.Groups, len(members)), s.Memory) {
		return
	}
	f, err := s.Aggs.Vectorized(members)
	if err != nil {
		return
	}
	d.replace(members, f, outputs)
}

// replace puts one aggregate, the first, in the place of several, whose outputs become its parts.
func (d *Aggregation) replace(members []*aggregate.Aggregate, whole *aggregate.Aggregate, outputs []plan.Output) {
	before := d.Aggregates
	d.Aggregates = []*aggregate.Aggregate{whole}
	for _, a := range before {
		if !slices.Contains(members, a) {
			d.Aggregates = append(d.Aggregates, a)
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
			outputs[i].Aggregate = slices.Index(d.Aggregates, a)
		}
	}
}

// output is the aggregate that a column of the answer shows.
func (d *Aggregation) output(o plan.Output) *aggregate.Aggregate {
	a := d.Aggregates[o.Aggregate]
	if a.Parts != nil {
		return a.Parts[o.Part]
	}
	return a
}

// Type is the type of a column of the answer that is an aggregate.
func (d *Aggregation) Type(o plan.Output) sql.Type {
	if a := d.output(o); o.ErrorBar != functions.NoErrorBar {
		return a.BarType(o.ErrorBar)
	}
	return d.output(o).Type
}
