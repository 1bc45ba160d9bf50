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
	return c.Vectors == nil && !c.Units && !c.Distinct && (f.Counts || f.Adds)
}

// flow is the mechanism of a call on rows that belong to several persons.
func (c Call) flow(p estimator.Params) (estimator.Estimator, error) {
	o := flow.Options{Shape: flow.Self, Sum: c.Function.Adds}
	if c.Owners == TwoEntities {
		o.Shape = flow.Two
	}
	step := 1.0
	if o.Sum {
		o.Signed, step = p.Grid.Lo < 0, p.Grid.Step
	}
	if c.Options.Cap > 0 {
		o.Cap = int64(min(max(math.Ceil(c.Options.Cap/step), 1), estimator.MaxUnits))
	}
	o.Clamp = c.Function.AtLeastZero && !o.Signed
	p.MaxRows, p.Lower, p.Upper = 0, nil, nil
	return flow.New(p, o)
}
