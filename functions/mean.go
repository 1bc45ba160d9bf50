package functions

import (
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/friendly"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/vector"
)

// means are over persons, or over rows.
var means = Measure{
	Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		if c.Options.Weight == ByRow {
			return mean.NewRowMean(p)
		}
		if method := c.method(p); method != "auto" {
			e, err := c.ofPersons(p, method)
			return e, c.unanswerable(err)
		}
		return mean.NewMean(p)
	},
	Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		switch method := c.method(p); {
		case method == "friendly":
			return friendly.NewMean(c.friendlyParams(p))
		case slices.Contains(ofNumbers, method):
			return c.ofPersons(p, method)
		}
		return vector.NewMean(c.vectorParams(p))
	},
	Columns: func(c Call, p estimator.Params) []estimator.Kind {
		switch {
		case !slices.Contains([]string{"person", "friendly", "cover"}, c.method(p)):
		case c.Vectors != nil:
			return []estimator.Kind{estimator.Vector}
		case c.Options.Weight == ByPerson:
			return []estimator.Kind{estimator.Rows, estimator.Sum}
		}
		return nil
	},
	Averages: true,
	Weighed:  true,
	Methods:  true,
	Slack:    func(c Call) bool { return c.Options.Method == "friendly" || c.Options.Stable },
	InGroups: func(c Call) groups.Measure {
		if c.Options.Weight == ByRow {
			return groups.RowMean
		}
		return groups.PersonMean
	},
	Fused: &Fused{
		Options: "method=plan, relative=on",
		Estimator: func(c Call, p estimator.Params, alone func(int, float64) (estimator.Estimator, error)) (estimator.Estimator, error) {
			return vector.NewColumns(c.vectorParams(p), alone)
		},
	},
}
