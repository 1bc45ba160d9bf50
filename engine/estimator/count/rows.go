package count

import (
	"errors"

	"scrim/engine/estimator"
)

// NewRows returns the private number of rows. Columns: Rows. With p.MaxRows = M > 0 a person counts
// at most M; otherwise the bound is chosen privately. clamp shows a negative answer as 0.
func NewRows(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	return nil, errors.New("count: rows are not available yet")
}
