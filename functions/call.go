package functions

import (
	"bytes"
	"encoding/json"
	"io"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/engine/estimator/vector"
	"scrim/internal/refuse"
)

// maxQuantiles bounds the quantiles of one DP_QUANTILES.
const maxQuantiles = 64

// Call is one use of a function: its options and constant arguments, checked.
type Call struct {
	Function  *Function
	Options   Options
	Fractions []quantile.Fraction // of quantiles, in the order given
	// Units is set for COUNT(DISTINCT unit): persons are counted, not rows.
	Units bool
	// Vectors is set where the argument's values are vectors.
	Vectors *Vectors
}

// NewCall checks one use. q is the constant second argument of DP_QUANTILE and DP_QUANTILES as text,
// "" elsewhere; options is the options string, "" where there is none.
func NewCall(f *Function, q, options string) (Call, error) {
	c := Call{Function: f}
	var err error
	if c.Options, err = ParseOptions(f, options); err != nil {
		return c, err
	}
	if f.Measure == Quantile {
		c.Fractions, err = fractions(f, q)
	}
	return c, err
}

// fractions reads the quantiles that a call asks for.
func fractions(f *Function, q string) ([]quantile.Fraction, error) {
	texts := []string{q}
	switch f.Name {
	case "DP_MEDIAN":
		return []quantile.Fraction{quantile.Median}, nil
	case "DP_QUANTILES":
		var numbers []json.Number
		d := json.NewDecoder(bytes.NewReader([]byte(q)))
		d.UseNumber()
		err := d.Decode(&numbers)
		if _, end := d.Token(); err != nil || end != io.EOF || len(numbers) == 0 || len(numbers) > maxQuantiles {
			return nil, refuse.New(refuse.Option, "%s wants a JSON array of 1 to %d numbers between 0 and 1 as its second argument.", f.Name, maxQuantiles).
				With("For example DP_QUANTILES(x, '[0.25, 0.5, 0.75]').")
		}
		texts = texts[:0]
		for _, n := range numbers {
			texts = append(texts, n.String())
		}
	}
	out := make([]quantile.Fraction, len(texts))
	for i, t := range texts {
		var err error
		if out[i], err = quantile.ParseFraction(t); err != nil {
			return nil, refuse.New(refuse.Option, "%s wants a number strictly between 0 and 1 with at most six decimals, not %.40q.", f.Name, t).
				With("The extremes, 0 and 1, belong to one person; for example DP_QUANTILE(x, 0.99).")
		}
	}
	return out, nil
}

// Estimator picks the mechanism of the call under public facts. The facts' grid and bounds are those
// of the argument, or of every coordinate; MaxRows is the public bound on one person's rows in one group.
func (c Call) Estimator(p estimator.Params) (estimator.Estimator, error) {
	if c.Vectors != nil {
		return c.ofVectors(p)
	}
	f, byRow := c.Function, c.Options.Weight == ByRow
	switch f.Measure {
	case Count:
		if c.Units {
			return count.NewUnits(p, f.clamp)
		}
		return count.NewRows(p, f.clamp)
	case Sum:
		return mean.NewSum(p)
	case Mean:
		if byRow {
			return mean.NewRowMean(p)
		}
		if method := c.method(p); method != "auto" {
			e, err := c.ofPersons(p, method)
			return e, c.unanswerable(err)
		}
		return mean.NewMean(p)
	case Variance:
		o := variance.Options{Stddev: f.stddev, Population: f.population}
		if byRow {
			return variance.NewRows(p, o)
		}
		return variance.New(p, o)
	}
	if byRow && p.MaxRows == 0 {
		return nil, refuse.New(refuse.Option, "%s with weight=row needs a public bound on the rows of one person.", f.Name).
			With(`Leave weight=row out, or a DBA runs CALL dp_set_defaults(table, '{"max_rows_per_unit": 10}').`)
	}
	return quantile.New(p, c.Fractions, quantile.Options{Rows: byRow && p.MaxRows > 1, Exponential: c.Options.Search == vector.Exponential})
}
