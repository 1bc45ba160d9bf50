package vector

import (
	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// mean is a private mean: the number of persons, then a core.
type mean struct {
	p      Params
	count  persons
	core   core
	slack  float64 // DeltaTV of the core's searches
	reason string
}

func (mean) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }

// Loss implements estimator.Estimator.
func (m mean) Loss() accounting.Loss {
	l := scalar.Loss(m.p.Rho)
	l.DeltaTV = m.slack
	return l
}

// MinPersons implements estimator.Estimator.
func (m mean) MinPersons() int64 { return max(m.count.enough(), m.core.needs()) }

// ExpectedError implements estimator.Estimator: the radius is not known before the data are read.
func (mean) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (m mean) Steps() []estimator.Step { return append(m.count.steps(), m.core.steps()...) }

// Reason tells in public facts why this method was chosen, and which is used from which number of persons.
func (m mean) Reason() string { return m.reason }

// Release implements estimator.Estimator.
func (m mean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	count := m.count.release(n, in.Vectors)
	if count < float64(m.MinPersons()) {
		return scalar.TooFew(m.p.Dim, m.MinPersons())
	}
	return m.core.release(n, m.p.group(in.Vectors), count)
}
