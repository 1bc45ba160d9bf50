package variance

import (
	"errors"

	"scrim/engine/estimator"
)

// NewRows returns the private variance over rows. Columns: Rows, Sum, SumSquaresHi, SumSquaresLo.
func NewRows(p estimator.Params, o Options) (estimator.Estimator, error) {
	return nil, errors.New("variance: rows are not available yet")
}
