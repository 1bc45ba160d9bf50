package functions

import (
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cover"
	"scrim/engine/estimator/friendly"
	"scrim/engine/estimator/person"
)

// personOptions are the options that only the person-level methods have.
var personOptions = []string{"moment", "sigma_k", "rows", "stages", "split", "histogram"}

// method is the method of a mean under public facts. Where the call leaves it open it is person for
// persons who have several rows and options that speak of them, and for vectors where only pure
// mechanisms may run.
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

// friendlyParams are the public facts under which a friendly mean is built.
func (c Call) friendlyParams(p estimator.Params) friendly.Params {
	o := c.Options
	return friendly.Params{Params: p, Dim: c.Vectors.Dim, Delta: p.Delta, Sigma: o.Sigma, SigmaMin: o.SigmaMin, SigmaMax: o.SigmaMax, Top: o.Top}
}
