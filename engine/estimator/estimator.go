package estimator

import (
	"scrim/accounting/privacy"
	"scrim/engine/estimator/noise"
)

// MaxUnits bounds every per-person integer that reaches the core: |k| <= MaxUnits grid steps. The
// store clamps to it, so that products and sums in the core have proven room in 128 bits.
const MaxUnits = 1 << 50

// Grid is the public lattice on which the values of one argument live: value = k * Step for an
// integer k with Lo <= k <= Hi. Step is exact for decimals as 10^-Scale when Decimal is set,
// otherwise a power of two.
type Grid struct {
	Step    float64
	Decimal bool
	Scale   int   // digits after the point, when Decimal
	Lo, Hi  int64 // public range in steps, within ±MaxUnits
}

// Kind says what the store computes for one (group, person) and one argument x whose grid index is
// k(x). Rows where x is NULL, NaN or infinite are absent.
type Kind uint8

const (
	// number of rows with x present (all rows if the aggregate has no argument)
	Rows         Kind = iota
	Sum               // sum of k(x) over the rows, clamped to ±MaxUnits after summing
	SumSquaresHi      // high 64 bits of the exact sum of k(x)², as two's complement 128 bits
	SumSquaresLo      // low 64 bits of it
	Median            // lower median of k(x) over the person's rows
	// k(x) of one row: the input has one entry a row, at most MaxRows rows a person
	Value
	Vector   // one vector a person: Input.Vectors; it stands alone
	Pair     // what belongs to two at once: Input.Pairs; it stands alone
	Least    // least k(x) over the person's rows
	Greatest // greatest k(x)
	// of an aggregate of two arguments, with the index l(y) of the second one (Params.Other). Rows
	// where either is absent are absent from all columns.
	OtherSum       // as Sum, of l(y)
	OtherSquaresHi // as SumSquaresHi, of l(y)²
	OtherSquaresLo // low 64 bits of it
	ProductsHi     // likewise, of k(x)·l(y)
	ProductsLo     // low 64 bits of it
)

// Input is the block of one group: Columns[c][i] is column c of person i (of row i for Value). The
// columns come in the order of the estimator's Columns. A person whose Rows entry is 0 is absent.
// An estimator may reorder nothing and write nothing in it.
type Input struct {
	// Persons, for an estimator with Params.Sized, is the public number of persons: that of the
	// table, whatever is in the columns. Others do not read it.
	Persons int64
	Columns [][]int64
	Vectors *Block // for an estimator whose Columns are [Vector]
	Pairs   *Pairs // for an estimator whose Columns are [Pair]
	Memory  Memory // for what the estimator makes of Columns; nil: the Go heap
	// Groups is the number of groups that are answered like this one, public or released; 0: one.
	// What stands out of the noise of one group in 10,000 may be noise in one of 10,000.
	Groups int
}

// Status says whether an estimate may be shown.
type Status uint8

const (
	OK     Status = iota
	TooFew        // the noisy number of persons is under the method's minimum: SQL NULL, charged
)

// Estimate is one group's noisy answer: everything in it may be shown.
type Estimate struct {
	Values []float64 // one entry; several for DP_QUANTILES and vectors
	Status Status
	Needed int64 // with TooFew, or where values are NaN for it: the number of persons that would do
	// where values of groups are NaN for the noisy number of their persons or rows: how many would
	// do
	NeededRows int64
	StdErr     []float64 // standard deviation of the noise of each value, NaN where it is not known
	// the law of the values' error; nil where only the standard errors are known
	Error *Error
}

// Estimator is one mechanism with all its public parameters fixed: a description and a release.
// Implementations are immutable and safe for concurrent use.
type Estimator interface {
	// Columns lists the per-person columns that Release reads.
	Columns() []Kind
	// Loss is the loss of one release on one group for one person.
	Loss() privacy.Loss
	// MinPersons is the number of persons under which Release answers TooFew, 0 if it always
	// answers.
	MinPersons() int64
	// ExpectedError is the standard deviation of the noise where it is known before the data are
	// read, in the units of the answer; false if it depends on released values.
	ExpectedError() (float64, bool)
	// Steps describes the noisy steps in order: mechanism, sensitivity, loss. EXPLAIN prints them.
	Steps() []Step
	// Release answers one group. It never fails and never panics on any Input of the right shape.
	Release(n noise.Noiser, in Input) Estimate
}

// Reasoned is an Estimator that chose between methods. Reason says which it may take from which
// number of persons on, and why, in public facts; it is empty where the method was asked for.
// EXPLAIN prints it.
type Reasoned interface {
	Estimator
	Reason() string
}

// Relative is an Estimator whose noise is known beforehand in units of what it chooses: its
// standard deviation is factor times the thing named; false where ExpectedError tells it. EXPLAIN
// prints it.
type Relative interface {
	Estimator
	RelativeError() (factor float64, of string, ok bool)
}

// Biased is an Estimator whose answers are shortened, chosen or sampled by what it has looked for,
// beyond the noise. Bias names that for the reader of an error bar; it is empty where the noise is
// all.
type Biased interface {
	Estimator
	Bias() string
}

// Allowing is one whose intervals allow for its bias, by an estimate from what it has released.
type Allowing interface {
	Biased
	AllowsForBias() bool
}

// Partial is an Estimator that may answer some of its values, and have NaN for others, where too
// few persons contribute. AllPersons is the number of persons under which it does; 0 where it has
// all values or none. EXPLAIN prints it.
type Partial interface {
	Estimator
	AllPersons() int64
}

// Large is an Estimator whose release takes memory of a public size beyond that of the numbers that
// it reads: Memory is how many bytes, about.
type Large interface {
	Estimator
	Memory() int64
}

// PersonsFor is the number of persons that all values of an answer need.
func PersonsFor(e Estimator) int64 {
	if p, ok := e.(Partial); ok {
		return max(e.MinPersons(), p.AllPersons())
	}
	return e.MinPersons()
}

// Step is one noisy step of a mechanism.
type Step struct {
	Name        string // e.g. "tail search"
	Mechanism   Mechanism
	Use         string // of the draws, e.g. "histogram"; of an Unlisted mechanism its words
	Sensitivity string // with its norm, e.g. "l2=1"
	Queries     int    // number of noisy answers drawn
	Rho         float64
	Epsilon     float64 // in place of Rho for a step of a pure release
}
