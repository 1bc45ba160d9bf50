package vector

import (
	"errors"

	"scrim/engine/estimator"
)

var errNotYet = errors.New("vector: not available")

// NewVariance returns the private variance of each coordinate of one vector a person, or the standard
// deviations. Columns: Vector.
func NewVariance(p Params, stddev, population bool) (estimator.Estimator, error) {
	return nil, errNotYet
}
