package vector

import (
	"fmt"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// maxDim is the largest dimension.
const maxDim = 1 << 20

// check validates what all vector estimators need.
func (p Params) check() error {
	if err := scalar.Check(p.Params, true); err != nil {
		return err
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return fmt.Errorf("vector: want a dimension from 1 to %d, have %d", maxDim, p.Dim)
	case p.P != 0 && !(p.P >= 1 && p.P <= 100):
		return fmt.Errorf("vector: want 1 <= p <= 100, have %v", p.P)
	case p.Pairs < 0 || p.Pairs > 1<<16:
		return fmt.Errorf("vector: want 1 to 65536 pairs in a group, have %d", p.Pairs)
	case !positive(p.Radius) || !positive(p.SigmaMin) || !positive(p.SigmaMax):
		return fmt.Errorf("vector: want a finite radius and finite spreads > 0")
	case p.SigmaMin > 0 && p.SigmaMax > 0 && p.SigmaMin > p.SigmaMax:
		return fmt.Errorf("vector: want sigma_min <= sigma_max, have %v and %v", p.SigmaMin, p.SigmaMax)
	case len(p.Sigma) > 1 && len(p.Sigma) != p.Dim:
		return fmt.Errorf("vector: want 1 or %d spreads, have %d", p.Dim, len(p.Sigma))
	case slices.ContainsFunc(p.Sigma, func(s float64) bool { return !(s > 0) || !positive(s) }):
		return fmt.Errorf("vector: want finite spreads > 0")
	case p.Scale == Declared && len(p.Sigma) == 0:
		return fmt.Errorf("vector: scale=declared needs declared spreads")
	}
	return nil
}

// positive reports whether x is 0, for undeclared, or positive and of a size that floats can
// square.
func positive(x float64) bool { return x == 0 || x > 1e-150 && x < 1e150 }

// group brings every person to one vector within the public range: the mean of the person's rows,
// rounded once. A map of one person at a time. A block that is so already is taken as it is.
func (p Params) group(b *estimator.Block) group {
	if p.Sparse {
		return group{Block: b}
	}
	means, totals := p.means(b, p.shift())
	return group{Block: means, shift: p.shift(), totals: totals}
}

// shift is the fraction of a step that dense vectors are rounded to.
func (p Params) shift() uint { return scalar.VectorShift(p.Params) }
