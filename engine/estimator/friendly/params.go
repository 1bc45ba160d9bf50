package friendly

import (
	"fmt"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Params are the public facts of a friendly mean.
type Params struct {
	estimator.Params
	Dim int // 1 to 2^20
	// total-variation slack that a release may have (privacy.Loss.DeltaTV), from
	// privacy.LeastFailure to 0.1
	Delta float64
	// declared spreads of persons' vectors, one for each coordinate or one for all, in values; nil:
	// they are learnt
	Sigma    []float64
	SigmaMin float64 // where spreads are learnt: public bounds on them, in values; 0: none
	SigmaMax float64
	Top      int // how many spreads are learnt at most; 0: as many as the persons allow
}

// maxDim is the largest dimension.
const maxDim = 1 << 20

// check validates the parameters.
func (p Params) check() error {
	if err := scalar.Check(p.Params, true); err != nil {
		return err
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return fmt.Errorf("friendly: want a dimension from 1 to %d, have %d", maxDim, p.Dim)
	case !(p.Delta >= privacy.LeastFailure) || p.Delta > 0.1:
		return fmt.Errorf("friendly: want a slack from %v to 0.1, have %v", privacy.LeastFailure, p.Delta)
	case !measure(p.SigmaMin) || !measure(p.SigmaMax):
		return fmt.Errorf("friendly: want finite bounds on spreads > 0")
	case p.SigmaMin > 0 && p.SigmaMax > 0 && p.SigmaMin > p.SigmaMax:
		return fmt.Errorf("friendly: want sigma_min <= sigma_max, have %v and %v", p.SigmaMin, p.SigmaMax)
	case len(p.Sigma) > 1 && len(p.Sigma) != p.Dim:
		return fmt.Errorf("friendly: want 1 or %d spreads, have %d", p.Dim, len(p.Sigma))
	case slices.ContainsFunc(p.Sigma, func(s float64) bool { return !(s > 0) || !measure(s) }):
		return fmt.Errorf("friendly: want finite spreads > 0")
	case p.Top < 0:
		return fmt.Errorf("friendly: want a number of spreads >= 0, have %d", p.Top)
	}
	return nil
}

// measure reports whether x is 0, for undeclared, or positive and of a size that floats can square.
func measure(x float64) bool { return x == 0 || x > 1e-100 && x < 1e100 }

// shift is the fraction of a step that vectors are rounded to.
func (p Params) shift() uint { return scalar.VectorShift(p.Params) }

// units turns a length in values into units of 2^-shift steps.
func (p Params) units(x float64) float64 {
	return x / scalar.Scale(p.Grid, 1) * float64(int64(1)<<p.shift())
}

// sigma returns the declared spreads of all coordinates in units, brought up to a floor; nil where
// they are learnt.
func (p Params) sigma() []float64 {
	if len(p.Sigma) == 0 {
		return nil
	}
	all := make([]float64, p.Dim)
	for j := range all {
		all[j] = p.units(p.Sigma[min(j, len(p.Sigma)-1)])
	}
	return all
}
