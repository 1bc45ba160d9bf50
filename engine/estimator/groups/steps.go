package groups

import (
	"fmt"
	"math"
	"strings"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
)

// MinPersons implements estimator.Estimator: 0 where there are counts, which are told wherever
// norms stand out.
func (r release) MinPersons() int64 {
	if r.rest != nil {
		return min(r.rest.MinPersons(), r.enough())
	}
	return r.enough()
}

// AllPersons implements estimator.Partial: sums and means want more persons than counts do.
func (r release) AllPersons() int64 { return r.enough() }

// enough is the number of persons that do for sums and means: what the searches for centres need,
// and norms of which a half in one octave stands out from the noise.
func (r release) enough() int64 {
	return r.wanted(func(h firstpass.Histogram) float64 { return 2 * firstpass.FarZ * h.Sigma },
		func(s search) float64 { return two * float64(s.coarse.Persons()) })
}

// two is for persons whose means are in two octaves, which hold some more than half of them.
const two = 1.3

// least is the released number of persons under which sums and means are not tried: that of enough,
// with all norms in one octave. A search of more that sees nothing says so itself.
func (r release) least() int64 {
	return r.wanted(func(h firstpass.Histogram) float64 { return firstpass.NearZ * h.Sigma },
		func(s search) float64 { return float64(s.coarse.LeastPersons()) })
}

// wanted is the number of persons for the searches, seen for each of the histograms, centred for
// that of a centre.
func (r release) wanted(seen func(firstpass.Histogram) float64, centred func(search) float64) int64 {
	if !r.counting {
		return 0
	}
	most := 0.0
	for _, s := range r.searches {
		if s.Measure.mean() && !s.declared() {
			most = max(most, min(centred(s), max(float64(s.centre.MinPersons()), seen(s.spread))))
		}
		if len(r.searches) > 1 && !s.Measure.count() {
			most = max(most, seen(s.scale))
		}
	}
	if r.planned {
		most = max(most, seen(r.secondHistogram()))
	}
	return int64(min(math.Ceil(max(most, seen(r.histogram()))), 1<<62))
}

// Reason implements estimator.Reasoned.
func (r release) Reason() string {
	var reasons []string
	switch {
	case r.planned:
		reasons = append(reasons, fmt.Sprintf("noise shaped by a first sum, from %d groups on", leastPlanned))
	case r.profile > 0:
		reasons = append(reasons, "noise shaped by the groups' shares of persons' vectors")
	}
	searched := int64(0)
	for _, s := range r.searches {
		if s.Measure.mean() {
			searched = max(searched, s.least())
		}
	}
	if searched > 0 {
		reasons = append(reasons, fmt.Sprintf("under %d persons centre and spread are one histogram of octaves, at the loss of both", searched))
	}
	return strings.Join(reasons, "; ")
}

// seen is the number of persons of which a half in one octave stands out.
func seen(h firstpass.Histogram) int64 { return int64(min(math.Ceil(2*firstpass.FarZ*h.Sigma), 1<<62)) }

// ExpectedError implements estimator.Estimator: it is known where the radius is.
func (r release) ExpectedError() (float64, bool) {
	if r.fixed == 0 {
		return 0, false
	}
	return math.Ldexp(scalar.Root(variance(r.fixed, 1, r.factor2, r.sum)), -24), true
}

// Steps implements estimator.Estimator.
func (r release) Steps() []estimator.Step {
	var steps []estimator.Step
	if r.counting {
		steps = append(steps, r.persons.Step())
	}
	for k, s := range r.searches {
		name := ""
		if len(r.searches) > 1 {
			name = fmt.Sprintf(" of aggregate %d", k+1)
		}
		if s.Measure.mean() {
			centre := s.centre.Steps()[0]
			centre.Name += name
			steps = append(steps, centre, histogramStep("spread"+name, s.spread))
		}
		if len(r.searches) > 1 {
			steps = append(steps, histogramStep("scale"+name, s.scale))
		}
	}
	if r.profile > 0 {
		steps = append(steps, r.profileStep())
	}
	if r.fixed == 0 {
		steps = append(steps, histogramStep("clip radius", r.histogram()))
	}
	if r.planned {
		steps = append(steps, r.sumStep("first sum of all groups", r.first), histogramStep("clip radius by the first sum", r.secondHistogram()))
	}
	return append(steps, r.sumStep("clipped sum of all groups", r.sum))
}

// NoiseAlone implements estimator.NoiseAlone: all is noise but for centres that are drawn, which
// their steps say. Where persons are few a histogram takes the place of centre and spread, and the
// counts are those of a release of counts alone: both are noise. Whose centres and profile are
// looked at is decided by coins of their own.
func (r release) NoiseAlone() bool {
	for _, s := range r.Steps() {
		if s.Mechanism != estimator.DiscreteGaussian {
			return false
		}
	}
	return true
}

// profileStep describes the profile.
func (r release) profileStep() estimator.Step {
	s := estimator.Step{
		Name: "shares of the groups", Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=1", Queries: r.p.Groups * len(r.layout.parts), Rho: r.profile,
	}
	if m := r.profileMoved(); m > 1 {
		s.Sensitivity = fmt.Sprintf("l2=√%d", m)
	}
	return s
}

func (r release) sumStep(name string, rho float64) estimator.Step {
	return estimator.Step{
		Name: name, Mechanism: estimator.DiscreteGaussian, Sensitivity: r.sensitivity(), Queries: max(1, r.layout.dim), Rho: rho,
	}
}

func (r release) sensitivity() string {
	switch {
	case r.factor2 == 2:
		return "l2=√2·clip"
	case r.factor2 == 4:
		return "l2=2·clip"
	}
	return "l2=clip"
}

// histogramStep describes a histogram of one number a person.
func histogramStep(name string, h firstpass.Histogram) estimator.Step {
	s := estimator.Step{Name: name, Mechanism: estimator.DiscreteGaussian, Use: "histogram", Sensitivity: "l2=1", Queries: h.Buckets, Rho: h.Rho}
	if h.Delta2 == 2 {
		s.Sensitivity = "l2=√2"
	}
	return s
}
