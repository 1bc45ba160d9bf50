package functions

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/flow"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/quantile"
)

// Call is one use of a function: its options and constant arguments, checked.
type Call struct {
	Function  *Function
	Options   Options
	Constant  string              // the constant second argument, "" where Check has read it
	Fractions []quantile.Fraction // of quantiles, in the order given
	// an interval is made that takes a part of the loss: see Intervals
	Interval bool
	// Units is set for COUNT(DISTINCT unit): persons are counted, not rows.
	Units bool
	// Distinct is set for COUNT(DISTINCT x) of other values: they are counted, each once.
	Distinct bool
	// Owners says that rows that belong to several persons are counted or added up.
	Owners Owners
	// Statistics are what a call on two arguments asks of their release, one value each: that of
	// its function, or of several that it stands for.
	Statistics []covariance.Statistic
	// Vectors is set where the argument's values are vectors.
	Vectors *Vectors
}

// NewCall checks one use. constant is the constant second argument as text, of a function that has
// one; options is the options string. Either is "" where there is none.
func NewCall(f *Function, constant, options string) (Call, error) {
	c := Call{Function: f, Constant: constant, Statistics: f.Statistics}
	var err error
	if c.Options, err = ParseOptions(f, options); err == nil && f.Check != nil {
		err = f.Check(&c)
	}
	return c, err
}

// Estimator picks the mechanism of the call under public facts. The facts' grid and bounds are
// those of the argument, or of every coordinate; MaxRows is the public bound on one person's rows
// in one group.
func (c Call) Estimator(p estimator.Params) (estimator.Estimator, error) {
	switch {
	case c.Owners != OneOwner:
		return c.flow(p)
	case c.Vectors == nil:
		return c.Function.Estimator(c, p)
	}
	e, err := c.Function.Measure.Vectors(c, p)
	return e, c.unanswerable(err)
}

// FusedEstimator picks the mechanism of a call that stands for several columns: see
// Fused.Estimator.
func (c Call) FusedEstimator(p estimator.Params, alone func(j int, rho float64) (estimator.Estimator, error)) (estimator.Estimator, error) {
	return c.Function.Fused.Estimator(c, p, alone)
}

// Kinds are the columns that the mechanism of the call reads, whatever the loss.
func (c Call) Kinds(p estimator.Params) ([]estimator.Kind, error) {
	if columns := c.Function.Columns; columns != nil && c.Owners == OneOwner {
		if kinds := columns(c, p); kinds != nil {
			return kinds, nil
		}
	}
	e, err := c.Estimator(p)
	if err != nil {
		return nil, err
	}
	return e.Columns(), nil
}

// Intervals reports whether an interval takes a part of the call's loss.
func (c Call) Intervals() bool {
	return c.Owners == OneOwner && c.Function.Measure.Intervals != nil && c.Function.Measure.Intervals(c)
}

// Additive reports whether the answer for a set of rows is the sum of those for its parts.
func (c Call) Additive() bool {
	f := c.Function.Measure
	if f.InGroups == nil || c.Vectors != nil || c.Distinct || c.Owners != OneOwner {
		return false
	}
	m := f.InGroups(c)
	return m == groups.Rows || m == groups.Sum
}

// Slack reports whether the mechanism of the call needs a share of δ (estimator.Params.Delta).
func (c Call) Slack() bool {
	return c.Owners == OneOwner && c.Function.Slack != nil && c.Function.Slack(c)
}

// EventSlack reports whether that share is the probability of an event outside of which the loss
// holds (privacy.Loss.DeltaEvent). Any other is a distance to a mechanism that has the loss
// (privacy.Loss.DeltaTV), which enters δ multiplied by 1+e^ε.
func (c Call) EventSlack() bool {
	return c.Slack() && c.Options.Stable && c.Options.Method != "friendly"
}

// Target is the error that the call asks for in the place of a cost, 0 for none.
func (c Call) Target() float64 {
	if c.Options.Method == "cover" {
		return 0
	}
	return c.Options.Error
}

// NotPure names what has no pure mechanism, and what serves instead.
func (c Call) NotPure() (what, remedy string) {
	f := c.Function
	switch {
	case c.Vectors != nil && f.Methods:
		return f.Name + " of vectors by this method", pureVectors
	case c.Vectors != nil:
		return f.Name + " of vectors", pureVectors
	case f.Measure.NotPure != "":
		return f.Name, f.Measure.NotPure
	}
	return f.Name, pureNumbers
}

const (
	pureNumbers = "Use COUNT, SUM, DP_MEAN or DP_QUANTILE of numbers, or have a DBA give the table a budget with delta > 0."
	pureVectors = "Use DP_MEAN(x, 'method=person'), or DP_MEAN of each column by itself; or have a DBA give the table a budget with delta > 0."
)

// Owners says whom the rows of a call belong to.
type Owners uint8

// Owners.
const (
	OneOwner    Owners = iota
	OneEntity          // two persons of one entity, or one
	TwoEntities        // a person of each of two entities
)

// Shares reports whether the call can be answered on rows that belong to several persons.
func (c Call) Shares() bool {
	f := c.Function.Measure
	if c.Vectors != nil || c.Units || c.Distinct {
		return false
	}
	return f.Counts || f.Adds || c.averages()
}

// averages reports whether the call is of a mean over rows, without a method of its own.
func (c Call) averages() bool {
	for _, o := range c.Options.Given {
		switch o {
		case "lower", "upper", "weight", "error", "pilot", "epsilon", "rho":
		default:
			return false
		}
	}
	return c.Function.Averages && c.Options.Weight == ByRow
}

// OwnerColumns are the totals of a pair of owners that the mechanism of a call reads.
type OwnerColumns struct {
	Sum, Rows bool
	Shift     int64 // what is subtracted from each value in the sum, in grid steps
}

// OwnerColumns returns those of a call under the public facts of its estimator.
func (c Call) OwnerColumns(p estimator.Params) OwnerColumns {
	switch f := c.Function.Measure; {
	case f.Averages:
		return OwnerColumns{Sum: true, Rows: true, Shift: flow.Shift(p)}
	case f.Adds:
		return OwnerColumns{Sum: true}
	}
	return OwnerColumns{Rows: true}
}

// flow is the mechanism of a call on rows that belong to several persons.
func (c Call) flow(p estimator.Params) (estimator.Estimator, error) {
	o := flow.Options{Shape: flow.Self, Sum: c.Function.Adds}
	if c.Owners == TwoEntities {
		o.Shape = flow.Two
	}
	if p.MaxRows = 0; c.Function.Averages {
		return flow.NewMean(p, o.Shape)
	}
	step := 1.0
	if o.Sum {
		o.Signed, step = p.Grid.Lo < 0, p.Grid.Step
	}
	if c.Options.Cap > 0 {
		o.Cap = int64(min(max(math.Ceil(c.Options.Cap/step), 1), estimator.MaxUnits))
	}
	o.Clamp = c.Function.AtLeastZero && !o.Signed
	p.Lower, p.Upper = nil, nil
	return flow.New(p, o)
}
