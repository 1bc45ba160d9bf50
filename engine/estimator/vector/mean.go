package vector

import (
	"math"

	"scrim/accounting/privacy"
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
	least  int64 // MinPersons, once computed
}

func (mean) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }

// Loss implements estimator.Estimator.
func (m mean) Loss() privacy.Loss {
	l := scalar.Loss(m.p.Rho)
	l.DeltaTV = m.slack
	return l
}

// MinPersons implements estimator.Estimator.
func (m mean) MinPersons() int64 {
	if m.least > 0 {
		return m.least
	}
	return max(m.count.enough(), m.core.needs())
}

// ExpectedError implements estimator.Estimator: the radius is not known before the data are read.
func (mean) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (m mean) Steps() []estimator.Step { return append(m.count.steps(), m.core.steps()...) }

// Bias implements estimator.Biased.
func (m mean) Bias() string { return "what persons beyond the joint clip lose" }

// Reason implements estimator.Reasoned.
func (m mean) Reason() string { return m.reason }

// Release implements estimator.Estimator.
func (m mean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = m.p.whole(in)
	count := m.count.release(n, in)
	if least := m.MinPersons(); count < float64(least) {
		return scalar.TooFew(m.p.Dim, least)
	}
	return m.core.release(n, m.p.group(in.Vectors), count)
}

// NewMean returns the private mean of one vector a person, the mean of the person's rows. Columns:
// Vector.
func NewMean(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.P == 0 && !p.bits() {
		p.P = 2
	}
	p.Pairs = max(1, p.Pairs)
	count, rho := p.counted()
	m := mean{p: p, count: count}
	var err error
	switch {
	case p.bits():
		m.core, m.reason, err = newSparse(p, m.count, rho, p.Method)
	case p.Method == Coinpress:
		var c coinpress
		c, err = newCoinpress(p, rho)
		m.core = c.counted(m.count)
	default:
		m.core, m.slack, m.reason, err = p.dense(m.count, rho)
	}
	if err != nil {
		return nil, err
	}
	m.least = m.MinPersons()
	return m, nil
}

// dense returns the core of a method for dense vectors, the slack of its searches, and the reason
// for its choice.
func (p Params) dense(count persons, rho float64) (core, float64, string, error) {
	scaled := p.Method == Plan && p.Scale != Unscaled
	if p.Rotate && (p.Method == Clipped || scaled || p.Relative) {
		return nil, 0, "", errRotate
	}
	switch p.Method {
	case Auto:
		c, slack, reason := newAuto(p, count, rho)
		return c, slack, reason, nil
	case Clipped:
		return newDense(p, count, rho, never, never), 0, "", nil
	}
	d := newDense(p, count, rho, always, never)
	if scaled {
		d = newDense(p, count, rho, always, always)
	}
	return d, d.slack(), "", nil
}

// countShare is the share of the loss for the number of persons, 0 where it is known; under
// replace-one it comes on top of the loss of the other steps, which cover it (counted). About a
// centre it has an effect of second order only: 2 %, more in low dimension, where the searches get
// by with few persons. About a fixed point a relative error of the number is one of the answer:
// with S/n at most C long the squared error is C²(d/ρ₃ + 1/ρ_n)/(2n²), least at ρ_n/ρ₃ = 1/√d; half
// of that is taken, as most answers are nearer.
func (p Params) countShare() float64 {
	d := float64(p.Dim)
	switch {
	case p.Sized:
		return 0
	case p.Method == Clipped:
		return max(0.02, 0.25/math.Sqrt(d))
	}
	return 0.02 + 0.04/d
}
