package functions

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/covariance"
)

// of is the measure of a statistic of two arguments.
func ofTwo(s covariance.Statistic) Measure {
	return Measure{
		Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			return covariance.New(p, c.Statistics, c.Options.Weight == ByRow)
		},
		Statistics: []covariance.Statistic{s},
		Weighed:    true,
		Squares:    true,
		NotPure:    "Use DP_QUANTILE of each column, or have a DBA give the table a budget with delta > 0.",
	}
}

// two is a private function of two arguments, and plainTwo the aggregate of the SQL standard over
// rows, which MySQL has not.
func two(name, args string, s covariance.Statistic, doc, example string) *Function {
	return &Function{
		Name: name, Role: Private, Measure: ofTwo(s), Signature: name + "(" + args + " [, options])", Two: true,
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByPerson, Options: twoOptions,
		Doc:     doc + ", the means of the person's rows; 'weight=row' for that over rows. Rows where one of the two is NULL do not count.",
		Example: "SELECT " + name + "(" + example + ") FROM people",
	}
}

func plainTwo(name, args string, s covariance.Statistic, doc, example string) *Function {
	return &Function{
		Name: name, Role: Rewritten, Lacking: true, Measure: ofTwo(s), Signature: name + "(" + args + ")", Two: true,
		MinArgs: 2, MaxArgs: 2, Result: Double, Weight: ByRow, DPForm: "DP_" + name, Instead: "DP_" + name + "(" + args + ", 'weight=row')",
		Doc: doc + " Rows where one of the two is NULL do not count. Asked together of the same columns they share one release.", Example: "SELECT " + name + "(" + example + ") FROM people",
	}
}
