package count

import (
	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// units counts persons: n + N_Z(0, ⌈1/(2ρ)⌉), sensitivity 1.
type units struct {
	rho    float64
	sigma2 noise.Variance
	clamp  bool
}

// NewUnits returns the private number of persons with at least one row. Columns: Rows. clamp shows
// a negative answer as 0.
//
// The answer is n + N_Z(0,σ²), σ² = ⌈1/(2ρ)⌉: adding or removing one person changes n by one, and so does an exchange at
// most, so the loss is ρ under both relations [CKS20, Theorem 14]. With p.Sized n is public: the answer is n, at no
// loss, since a public number told once more tells nothing. It always answers. p.Grid, the bounds and p.MaxRows are not
// used.
func NewUnits(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	if err := scalar.Check(p, false); err != nil {
		return nil, err
	}
	if p.Sized {
		return public{}, nil
	}
	return units{p.Rho, scalar.SmallSigma2(1, 1, p.Rho), clamp}, nil
}

func (units) Columns() []estimator.Kind        { return []estimator.Kind{estimator.Rows} }
func (u units) Loss() accounting.Loss          { return scalar.Loss(u.rho) }
func (units) MinPersons() int64                { return 0 }
func (u units) ExpectedError() (float64, bool) { return scalar.Root(u.sigma2.Big()), true }
func (u units) Steps() []estimator.Step {
	return []estimator.Step{{Name: "number of persons", Mechanism: "discrete-gaussian", Sensitivity: "l2=1", Queries: 1, Rho: u.rho}}
}

// Release implements estimator.Estimator.
func (u units) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	v := n.GaussianInt(scalar.Present(in.Columns[0]), u.sigma2)
	if u.clamp {
		v = max(v, 0)
	}
	return scalar.One(float64(v), scalar.Root(u.sigma2.Big()))
}

// public is the number of persons where it is public. It counts every entry of the input, so that a person without
// rows, against the promise that there is none, does not show.
type public struct{}

func (public) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows} }
func (public) Loss() accounting.Loss          { return accounting.Loss{} }
func (public) MinPersons() int64              { return 0 }
func (public) ExpectedError() (float64, bool) { return 0, true }
func (public) Steps() []estimator.Step {
	return []estimator.Step{{Name: "number of persons", Mechanism: "public", Sensitivity: "l2=0", Queries: 1}}
}

// Release implements estimator.Estimator.
func (public) Release(_ noise.Noiser, in estimator.Input) estimator.Estimate {
	return scalar.One(float64(len(in.Columns[0])), 0)
}
