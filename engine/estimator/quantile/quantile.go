package quantile

import (
	"errors"

	"scrim/engine/estimator"
)

// Options choose what is ranked.
type Options struct {
	Rows bool // rank rows instead of persons; needs Params.MaxRows > 0
}

// New returns private quantiles, one value a fraction, in the order given; they are monotone in the
// fraction. Columns: Median, or Value with Options.Rows.
func New(p estimator.Params, fractions []Fraction, o Options) (estimator.Estimator, error) {
	return nil, errors.New("quantile: not available yet")
}
