package functions

import (
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cover"
	"scrim/engine/estimator/person"
)

// personOptions are the options that only the person-level methods have.
var personOptions = []string{"moment", "sigma_k", "rows", "stages", "split", "histogram"}

// method is the method of a mean under public facts, where the call leaves it open: person where persons have several rows and the
// options speak of them, or for vectors where only pure mechanisms may run.
func (c Call) method(p estimator.Params) string {
	o := c.Options
	speaks := slices.ContainsFunc(personOptions, o.Has) || c.Vectors == nil && (o.Has("sigma") || o.Has("radius"))
	switch {
	case !c.automatic():
		return o.Method
	case p.Pure() && c.Vectors != nil, speaks && p.MaxRows != 1:
		return "person"
	}
	return "auto"
}

// Kinds are the columns that the mechanism of the call reads, whatever the loss.
func (c Call) Kinds(p estimator.Params) ([]estimator.Kind, error) {
	if f := c.Function; f.Measure == Mean && slices.Contains([]string{"person", "friendly", "cover"}, c.method(p)) {
		switch {
		case c.Vectors != nil:
			return []estimator.Kind{estimator.Vector}, nil
		case c.Options.Weight == ByPerson:
			return []estimator.Kind{estimator.Rows, estimator.Sum}, nil
		}
	}
	e, err := c.Estimator(p)
	if err != nil {
		return nil, err
	}
	return e.Columns(), nil
}

// Slack reports whether the mechanism of the call needs a share of δ (estimator.Params.Delta).
func (c Call) Slack() bool { return c.Options.Method == "friendly" || c.Options.Stable }

// Target is the error that the call asks for in the place of a cost, 0 for none.
func (c Call) Target() float64 {
	if c.Options.Method == "cover" {
		return 0
	}
	return c.Options.Error
}

// ofPersons is the mechanism of a mean by a person-level method.
func (c Call) ofPersons(p estimator.Params, method string) (estimator.Estimator, error) {
	o, dim, sigma := c.Options, 1, 0.0
	if c.Vectors != nil {
		dim = c.Vectors.Dim
	}
	for _, s := range o.Sigma {
		sigma = max(sigma, s)
	}
	if method == "cover" {
		q := cover.Params{Params: p, Dim: dim, Persons: int64(o.Persons), Error: o.Error, Moment: o.Moment, Radius: o.Radius, Sigma: o.SigmaK, Rows: o.Rows}
		if c.Vectors == nil {
			return cover.NewNumber(q)
		}
		return cover.NewMean(q)
	}
	q := person.Params{Params: p, Dim: dim, Moment: o.Moment, Radius: o.Radius, Sigma: sigma, SigmaK: o.SigmaK, Rows: o.Rows, Stages: o.Stages, Split: o.Split}
	if o.Stable {
		q.Delta = p.Delta
	}
	if c.Vectors == nil {
		return person.NewNumber(q)
	}
	return person.NewMean(q)
}
