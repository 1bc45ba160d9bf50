package variance

import (
	"errors"

	"scrim/engine/estimator"
)

// Options choose what is shown.
type Options struct {
	Stddev     bool // the square root, in units of the argument
	Population bool // divide by n instead of n-1
}

// New returns the private variance of one value a person, the mean of the person's rows. Columns: Rows, Sum.
func New(p estimator.Params, o Options) (estimator.Estimator, error) {
	return nil, errors.New("variance: not available yet")
}
