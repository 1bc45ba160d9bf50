package mean

import (
	"fmt"
	"math"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// persons is the mean of one number a person.
type persons struct {
	p       estimator.Params
	n       scalar.Persons
	centred scalar.Centred
	sumRho  float64
}

// NewMean returns the private mean of one value a person, the mean of the person's rows. Columns: Rows, Sum.
//
// With x̄ᵢ the person's mean, c a centre and C a radius the answer is c + S/n̂,
//
//	n̂ = max(1, n + N_Z(0, ⌈1/(2ρ_n)⌉))     S = Σ clip(x̄ᵢ − c, ±C) + N_Z(0, ⌈C²/(2ρ₃)⌉)
//
// It is the shifted clipped mean of [HLY21] section 3.3 for one dimension: there n is public, points are
// exchanged and the sensitivity is 2C; here a person comes or goes, n is released first, and the sensitivity
// of the centred sum is C. Shares of ρ:
//
//	bounds declared   n̂ 1/4, sum 3/4; c and C are the middle and half the width of the interval
//	otherwise         n̂ 0.08, c 0.23 (median by bisection), C 0.17 (histogram of |x̄ᵢ − c|), sum 0.52
//
// With declared bounds S/n is not near 0 (c is not the data's centre), so n̂ gets a quarter: with s = |x̄−c|/C the
// variance is C²/(2ρn²)·(1/ρ₃ + s²/ρ_n), least at ρ_n/ρ₃ = s; 1/3 is within 10 % of the best for s from 0.1 to 0.8. The answer is
// clamped to the interval, which only brings it nearer to the truth. TooFew when n̂ is under MinPersons.
func NewMean(p estimator.Params) (estimator.Estimator, error) {
	if err := scalar.Check(p, true); err != nil {
		return nil, err
	}
	return newPersons(p), nil
}

func newPersons(p estimator.Params) persons {
	if p.Bounded() {
		parts := scalar.Split(p.Rho, 1, 3)
		return persons{p, scalar.NewPersons(parts[0]), scalar.NewCentred(p, 0, 0), parts[1]}
	}
	parts := scalar.Split(p.Rho, 8, 23, 17, 52)
	return persons{p, scalar.NewPersons(parts[0]), scalar.NewCentred(p, parts[1], parts[2]), parts[3]}
}

func (persons) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (e persons) Loss() accounting.Loss        { return scalar.Loss(e.p.Rho) }
func (persons) ExpectedError() (float64, bool) { return 0, false }
func (e persons) MinPersons() int64            { return max(e.n.Enough(), e.centred.MinPersons()) }

// Steps implements estimator.Estimator.
func (e persons) Steps() []estimator.Step {
	sum := estimator.Step{Name: "sum", Mechanism: "discrete-gaussian", Sensitivity: "l2=clip", Queries: 1, Rho: e.sumRho}
	if e.centred.Bounded() {
		_, radius := e.centred.Middle()
		sum.Sensitivity = fmt.Sprintf("l2=%v", e.centred.Value(float64(radius)))
	}
	return append(append([]estimator.Step{e.n.Step()}, e.centred.Steps()...), sum)
}

// Release implements estimator.Estimator.
func (e persons) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	rows, totals := in.Columns[0], in.Columns[1]
	count := e.n.Release(n, scalar.Present(rows))
	if count < float64(e.MinPersons()) {
		return scalar.TooFew(1, e.MinPersons())
	}
	c, radius := e.centred.Search(n, rows, totals)
	var acc scalar.Sum
	for i, m := range rows {
		if m > 0 {
			acc.Add(min(max(e.centred.Of(m, totals[i])-c, -radius), radius))
		}
	}
	sigma2 := scalar.Sigma2(scalar.Square(radius), 1, e.sumRho)
	shift := acc.Release(n, sigma2) / count
	v := float64(c) + shift
	v = min(max(v, float64(e.centred.Lo)), float64(e.centred.Hi))
	stdErr := math.Hypot(scalar.Root(sigma2), shift*e.n.Sigma()) / count
	return scalar.One(e.centred.Value(v), e.centred.Value(stdErr))
}
