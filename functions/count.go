package functions

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/flow"
	"scrim/engine/estimator/groups"
)

// counts are the numbers of rows, of persons, or of distinct values.
var counts = Measure{
	Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		switch {
		case c.Distinct:
			return flow.New(p, flow.Options{Shape: flow.Distinct, Cap: int64(c.Options.Values), Most: p.MaxRows, Clamp: c.Function.AtLeastZero})
		case c.Units:
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
