package functions

import (
	"bytes"
	"encoding/json"
	"io"

	"scrim/engine/estimator"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/vector"
	"scrim/internal/refuse"
)

// maxQuantiles bounds the quantiles of one DP_QUANTILES.
const maxQuantiles = 64

// quantiles are those of Call.Fractions.
var quantiles = Measure{
	Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		byRow := c.Options.Weight == ByRow
		if byRow && p.MaxRows == 0 {
			return nil, refuse.New(refuse.Option, "%s with weight=row needs a public bound on the rows of one person.", c.Function.Name).
				With(`Leave weight=row out, or a DBA runs CALL dp_set_defaults(table, '{"max_rows_per_unit": 10}').`)
		}
		return quantile.New(p, c.Fractions, quantile.Options{Rows: byRow && p.MaxRows > 1, Bisect: c.bisects(), Interval: c.Interval})
	},
	Weighed:   true,
	EachRow:   true,
	OfNumbers: []string{"quantile"},
	Intervals: func(c Call) bool { return !c.bisects() },
}

// extremes are the values that about k persons are beyond.
func extremes(top bool) Measure {
	return Measure{Estimator: func(_ Call, p estimator.Params) (estimator.Estimator, error) { return quantile.NewExtreme(p, top) }}
}

// bisects reports whether quantiles are to be found by noisy counts.
func (c Call) bisects() bool { return c.Options.Has("quantile") && c.Options.Search == vector.Bisect }

// median asks for the one quantile.
func median(c *Call) error {
	c.Fractions = []quantile.Fraction{quantile.Median}
	return nil
}

// oneQuantile reads q.
func oneQuantile(c *Call) error { return c.fractions(c.Constant) }

// listOfQuantiles reads '[q, …]'.
func listOfQuantiles(c *Call) error {
	var numbers []json.Number
	d := json.NewDecoder(bytes.NewReader([]byte(c.Constant)))
	d.UseNumber()
	err := d.Decode(&numbers)
	if _, end := d.Token(); err != nil || end != io.EOF || len(numbers) == 0 || len(numbers) > maxQuantiles {
		return refuse.New(refuse.Option, "%s wants a JSON array of 1 to %d numbers between 0 and 1 as its second argument.", c.Function.Name, maxQuantiles).
			With("For example DP_QUANTILES(x, '[0.25, 0.5, 0.75]').")
	}
	var texts []string
	for _, n := range numbers {
		texts = append(texts, n.String())
	}
	return c.fractions(texts...)
}

// fractions reads the quantiles that a call asks for, however they are spelt.
func (c *Call) fractions(texts ...string) error {
	c.Fractions, c.Constant = make([]quantile.Fraction, len(texts)), ""
	for i, t := range texts {
		var err error
		if c.Fractions[i], err = quantile.ParseFraction(t); err != nil {
			return refuse.New(refuse.Option, "%s wants a number strictly between 0 and 1 with at most six decimals, not %.40q.", c.Function.Name, t).
				With("The extremes, 0 and 1, belong to one person; for example DP_QUANTILE(x, 0.99).")
		}
	}
	return nil
}
