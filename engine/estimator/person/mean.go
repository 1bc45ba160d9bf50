package person

import (
	"errors"

	"scrim/engine/estimator"
)

// NewMean returns the private mean of one vector a person, the mean of the person's rows. Columns: Vector.
func NewMean(p Params) (estimator.Estimator, error) {
	return nil, errors.New("person: no estimator yet")
}

// NewNumber is NewMean for a number a row: Dim is 1. Columns: Rows, Sum.
func NewNumber(p Params) (estimator.Estimator, error) {
	return nil, errors.New("person: no estimator yet")
}
