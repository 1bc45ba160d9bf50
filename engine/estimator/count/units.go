package count

import (
	"errors"

	"scrim/engine/estimator"
)

// NewUnits returns the private number of persons with at least one row. Columns: Rows. clamp shows
// a negative answer as 0.
func NewUnits(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	return nil, errors.New("count: units are not available yet")
}
