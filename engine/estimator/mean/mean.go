package mean

import (
	"errors"

	"scrim/engine/estimator"
)

// NewMean returns the private mean of one value a person, the mean of the person's rows. Columns: Rows, Sum.
func NewMean(p estimator.Params) (estimator.Estimator, error) {
	return nil, errors.New("mean: mean is not available yet")
}
