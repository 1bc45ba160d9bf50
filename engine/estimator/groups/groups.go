package groups

import (
	"errors"

	"scrim/engine/estimator"
)

// New returns the release of all groups' aggregates. Columns: Vector.
func New(p Params) (estimator.Estimator, error) {
	return nil, errors.New("groups: no estimator yet")
}
