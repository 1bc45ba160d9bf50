package mean

import (
	"errors"

	"scrim/engine/estimator"
)

// NewRowMean returns the private mean over rows. Columns: Rows, Sum.
func NewRowMean(p estimator.Params) (estimator.Estimator, error) {
	return nil, errors.New("mean: row mean is not available yet")
}
