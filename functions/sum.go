package functions

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/vector"
)

// sums are over rows.
var sums = Measure{
	Estimator: func(_ Call, p estimator.Params) (estimator.Estimator, error) { return mean.NewSum(p) },
	Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		return vector.NewSum(c.vectorParams(p))
	},
	InGroups: func(Call) groups.Measure { return groups.Sum },
	Adds:     true,
}
