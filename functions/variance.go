package functions

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/variance"
	"scrim/engine/estimator/vector"
)

// spread is a variance or a standard deviation.
func spread(o variance.Options) Measure {
	return Measure{
		Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			if c.Options.Weight == ByRow {
				return variance.NewRows(p, o)
			}
			return variance.New(p, o)
		},
		Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			return vector.NewVariance(c.vectorParams(p), o.Stddev, o.Population)
		},
		Weighed:    true,
		Squares:    true,
		NotPure:    "Use DP_QUANTILES(x, '[0.25, 0.75]') for the spread, or have a DBA give the table a budget with delta > 0.",
		BarNumbers: func(dim int) int { return dim * 3 / 2 }, // moments
	}
}

// plainSpread is a plain SQL aggregate that is a variance or a standard deviation over rows.
func plainSpread(name, private, doc string, o variance.Options, aliases ...string) *Function {
	return &Function{
		Name: name, Aliases: aliases, Role: Rewritten, Measure: spread(o), Signature: name + "(x)",
		MinArgs: 1, MaxArgs: 1, Result: Double, Weight: ByRow,
		DPForm: private, Instead: "DP_VARIANCE(x, 'weight=row') or DP_STDDEV(x, 'weight=row')",
		Doc: doc, Example: "SELECT " + name + "(amount) FROM orders",
	}
}
