package functions

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/flow"
	"scrim/engine/estimator/friendly"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/engine/estimator/vector"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Measure is what a function estimates, with all that the planner asks of it. Functions of one
// measure, as DP_COUNT and COUNT, share it. A zero field says that the measure has no such thing.
type Measure struct {
	// Estimator makes the mechanism of a call on numbers, or on rows, under public facts: the loss,
	// pure or not, the grid and the declared bounds, the bound on a person's rows. A mechanism that
	// has no pure form returns estimator.ErrNotPure. The source of the noise comes with the
	// release.
	Estimator func(Call, estimator.Params) (estimator.Estimator, error)
	// Vectors makes that of a call on vectors.
	Vectors func(Call, estimator.Params) (estimator.Estimator, error)
	// Columns lists the columns that the mechanism reads, where that is known before it can be
	// made; nil where the mechanism itself tells.
	Columns func(Call, estimator.Params) []estimator.Kind

	// Counts says that rows or persons are counted: the argument says only which. It has no grid
	// and may be left out, or be the unit after DISTINCT; over no rows the answer is 0 and not
	// NULL.
	Counts bool
	// Adds says that values are added up.
	Adds bool
	// Averages says that values are averaged.
	Averages bool
	// Weighed says that the option weight decides what counts once.
	Weighed bool
	// EachRow says that rows are read one by one where they are weighed: a person's are bounded.
	EachRow bool
	// Intervals says whether an interval takes a part of a call's loss, and is made where it is
	// asked for.
	Intervals func(Call) bool
	// Squares says that squares of rows are added up where they are weighed: the grid is coarser.
	Squares bool
	// Spread is how a variance is shown; nil of what is none.
	Spread *variance.Options

	// Statistics is what a function of two arguments asks of the one release of them.
	Statistics []covariance.Statistic

	// Methods says that the option method and dp_method choose the mechanism.
	Methods bool
	// OfNumbers are options that mean something for numbers, and elsewhere for vectors alone.
	OfNumbers []string
	// Slack says whether the mechanism of a call needs a share of δ (estimator.Params.Delta).
	Slack func(Call) bool
	// NotPure tells what serves instead where numbers have no pure mechanism; "" for the usual
	// words.
	NotPure string

	// InGroups is what the estimator of all groups at once tells of a call.
	InGroups func(Call) groups.Measure
	// Fused answers calls on several columns as one on vectors.
	Fused *Fused
	// BarNumbers counts the numbers that the error bars of one vector are made of.
	BarNumbers func(dim int) int
}

// Fused says how calls on several columns of the same rows are answered as one call on vectors.
type Fused struct {
	Options string // of that call, to the private function
	// Estimator makes its mechanism. alone makes the mechanism of column j by itself at a loss ρ,
	// with answers in steps of the grid.
	Estimator func(c Call, p estimator.Params, alone func(j int, rho float64) (estimator.Estimator, error)) (estimator.Estimator, error)
}

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

// sums are over rows.
var sums = Measure{
	Estimator: func(_ Call, p estimator.Params) (estimator.Estimator, error) { return mean.NewSum(p) },
	Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
		return vector.NewSum(c.vectorParams(p))
	},
	InGroups: func(Call) groups.Measure { return groups.Sum },
	Adds:     true,
}

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

// spread is a variance or a standard deviation.
func spread(o variance.Options) Measure {
	return Measure{
		Estimator: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			return Spreads(c, p, o)
		},
		Vectors: func(c Call, p estimator.Params) (estimator.Estimator, error) {
			return vector.NewVariance(c.vectorParams(p), o.Stddev, o.Population)
		},
		Weighed:    true,
		Squares:    true,
		Spread:     &o,
		NotPure:    "Use DP_QUANTILES(x, '[0.25, 0.75]') for the spread, or have a DBA give the table a budget with delta > 0.",
		BarNumbers: func(dim int) int { return dim * 3 / 2 }, // moments
	}
}

// Spreads picks the mechanism of variances and standard deviations of one argument, which share a
// release.
func Spreads(c Call, p estimator.Params, of ...variance.Options) (estimator.Estimator, error) {
	if c.Options.Weight == ByRow {
		return variance.NewRows(p, of...)
	}
	return variance.New(p, of...)
}

// ofTwo is the measure of a statistic of two arguments.
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
	return c.fractions(lists.Map(numbers, func(n json.Number) string { return n.String() })...)
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
