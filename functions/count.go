package functions

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/groups"
)

// counts are the numbers of rows, or of persons.
var counts = Measure{
	Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		if c.Units {
			return count.NewUnits(p, c.Function.AtLeastZero)
		}
		return count.NewRows(p, c.Function.AtLeastZero)
	},
	Counts: true,
	InGroups: func(c Call) groups.Measure {
		if c.Units {
			return groups.Persons
		}
		return groups.Rows
	},
}
