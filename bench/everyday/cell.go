package everyday

import (
	"math"
	"slices"

	"scrim/engine/estimator"
)

// Cell is one aggregate of a statement at one ε under one relation, over all runs. A value is one
// group in one run for which an exact answer exists.
type Cell struct {
	Statement string
	Way       string // dp_group_by; "": what the server chooses
	Aggregate string
	Epsilon   float64
	Relation  estimator.Relation
	Problem   string // why it was not answered at all

	Rho     float64 // of the aggregate
	Persons int     // with a row in the statement
	Groups  int
	M       float64 // Persons · √(2·Rho)
	Far     bool    // out of reach of any mechanism

	Runs   int
	Values int
	Null   int // values whose answer is NULL
	Hidden int // values whose key was left out
	// ByM are the values, and those without an answer, by the m of their group.
	ByM [classes]Tally

	Silent       int // runs with an empty result or a NULL, and no warning
	SilentHidden int // runs with keys left out, and no warning
	Warned       int // runs with a warning

	// WildLow and WildHigh are answers under a third and over three times of the exact one, whose
	// interval at 95 % does not hold it. Chance is how many of both noise of the stated size makes
	// alone.
	WildLow, WildHigh int
	Chance            float64
	// WildRuns are those with more wild answers than chance has once in a thousand runs.
	WildRuns int

	Intervals int // answers with at least one end at 95 %
	Covered   [len4]int
	Widths    []float64 // at 95 %, over the exact answer
	Relative  []float64 // errors over the exact answer

	// Bias, TotalBias with its standard error, and Sharpness: see finishBias; NaN where there are
	// none.
	Bias, TotalBias, TotalDoubt, Sharpness float64

	Warnings []string // some of them
	Samples  []Sample // all answers, of cells with few groups

	// RMS is the root mean square over runs of the ℓ2 error over groups, that of no answer counted
	// as the exact one, and at most that of no answer at all. Hindsight and Size are the best
	// clip's and the exact answers' own, of the same groups. A mean without an answer counts where
	// m of its group is 20 or more.
	RMS, Hindsight, Size float64
	Clipped              float64 // share of the exact answers that hindsight's clip takes
}

const len4 = 4 // of levels

// few is how many groups a cell may have for all its answers to be kept, and how many warnings are.
const few = 20

// Sample is one answer beside the exact one, with its interval at 95 %; NaN for NULL.
type Sample struct {
	Run                     int
	Key                     string
	Exact, Value, Low, High float64
}

// warn keeps warnings that are new.
func (c *Cell) warn(list []string) {
	for _, w := range list {
		if len(c.Warnings) < few && !slices.Contains(c.Warnings, w) {
			c.Warnings = append(c.Warnings, w)
		}
	}
}

// Tally counts values, and those without an answer.
type Tally struct{ Values, Missing int }

// classes are those of m.
const classes = 6

// ends are the lower ends of the classes of m.
var ends = [classes]float64{0, 20, 50, 100, 300, 1000}

// classOf is the class of m.
func classOf(m float64) int {
	c := 0
	for c+1 < classes && m >= ends[c+1] {
		c++
	}
	return c
}

// Ratio is how many times hindsight the error is, one hundredth of the exact answer left aside; NaN
// where there is no hindsight.
func (c *Cell) Ratio() float64 {
	if !(c.Hindsight > 0) {
		return math.NaN()
	}
	return max(0, c.RMS-0.01*c.Size) / c.Hindsight
}

// Wild is the number of wild answers.
func (c *Cell) Wild() int { return c.WildLow + c.WildHigh }

// Coverage is the share of intervals at a level that hold the exact answer.
func (c *Cell) Coverage(level int) float64 {
	return float64(c.Covered[level]) / float64(c.Intervals)
}

// Missing is the share of values without an answer.
func (c *Cell) Missing() float64 { return float64(c.Null+c.Hidden) / float64(c.Values) }

// Width is the median width of the interval at 95 % over the exact answer.
func (c *Cell) Width() float64 { return middle(c.Widths) }
