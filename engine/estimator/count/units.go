package count

import (
	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// units counts persons: n with noise for sensitivity 1.
type units struct {
	p     estimator.Params
	noise scalar.Noise
	clamp bool
}

// NewUnits returns the private number of persons with at least one row. Columns: Rows. clamp shows
// a negative answer as 0.
//
// The answer is n + N_Z(0,σ²), σ² = ⌈1/(2ρ)⌉: adding or removing one person changes n by one, and
// so does an exchange at most, so the loss is ρ under both relations [CKS20, Theorem 14]. Pure: n +
// Lap_Z(1/ε), ε under both. With p.Sized n is public: the answer is n, at no loss, since a public
// number told once more tells nothing. It always answers. p.Grid, the bounds and p.MaxRows are not
// used.
func NewUnits(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, false); err != nil {
		return nil, err
	}
	if p.Sized {
		return public{}, nil
	}
	return units{p, scalar.Single(p, 1, p.Loss()), clamp}, nil
}

func (units) Columns() []estimator.Kind        { return []estimator.Kind{estimator.Rows} }
func (u units) Loss() privacy.Loss             { return scalar.LossOf(u.p) }
func (units) MinPersons() int64                { return 0 }
func (units) Exchange() float64                { return 1 } // estimator.Exchanging: as in NewUnits
func (u units) ExpectedError() (float64, bool) { return u.noise.Sigma(), true }
func (u units) Steps() []estimator.Step {
	return []estimator.Step{u.noise.Step(estimator.Step{Name: "number of persons", Sensitivity: "l2=1"})}
}

// NoiseAlone implements estimator.NoiseAlone: there is one draw.
func (units) NoiseAlone() bool { return true }

// Release implements estimator.Estimator.
func (u units) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	v := u.noise.Add(n, scalar.Present(in.Columns[0]))
	if u.clamp {
		v = max(v, 0)
	}
	return scalar.Hidden(float64(v), u.noise, 1)
}

// public is the number of persons where it is public. It reads no entry of the input, so that
// neither who is missing there nor who has no row shows, against the promise that there is nobody
// like that.
type public struct{}

func (public) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows} }
func (public) Loss() privacy.Loss             { return privacy.Loss{} }
func (public) MinPersons() int64              { return 0 }
func (public) ExpectedError() (float64, bool) { return 0, true }
func (public) Steps() []estimator.Step {
	return []estimator.Step{{Name: "number of persons", Mechanism: estimator.Public, Sensitivity: "l2=0", Queries: 1}}
}

// Release implements estimator.Estimator.
func (public) Release(_ noise.Noiser, in estimator.Input) estimator.Estimate {
	return scalar.Hidden(float64(in.Persons), scalar.Noise{}, 1)
}
