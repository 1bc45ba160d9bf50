package functions

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/groups"
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
