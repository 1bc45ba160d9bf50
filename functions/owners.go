package functions

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/flow"
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
