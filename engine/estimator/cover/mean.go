package cover

import (
	"errors"

	"scrim/engine/estimator"
)

// NewMean returns the mean of one vector a person. Columns: Vector.
func NewMean(p Params) (estimator.Estimator, error) {
	return nil, errors.New("cover: no estimator yet")
}

// NewNumber is NewMean for a number a row: Dim is 1. Columns: Rows, Sum.
func NewNumber(p Params) (estimator.Estimator, error) {
	return nil, errors.New("cover: no estimator yet")
}
