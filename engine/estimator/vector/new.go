package vector

import (
	"errors"

	"scrim/engine/estimator"
)

var errNotYet = errors.New("vector: not available")

// NewMean returns the private mean of one vector a person, the mean of the person's rows. Columns: Vector.
func NewMean(p Params) (estimator.Estimator, error) { return nil, errNotYet }

// NewSum returns the private sum of the rows' vectors. Columns: Vector.
func NewSum(p Params) (estimator.Estimator, error) { return nil, errNotYet }

// NewVariance returns the private variance of each coordinate of one vector a person, or the standard
// deviations. Columns: Vector.
func NewVariance(p Params, stddev, population bool) (estimator.Estimator, error) {
	return nil, errNotYet
}
