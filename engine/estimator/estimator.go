package estimator

import (
	"errors"
	"fmt"
	"strings"

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

// Composed is an Estimator of several values, of which each could be told by one of its own. Alone
// is that of value i at its part of the loss: about as exact.
type Composed interface {
	Estimator
	Alone(i int) Estimator
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

// Mechanism says what draws the noise of a step. The account composes the steps of all statements
// by it (Events). The zero value stands for every mechanism that is not listed: a release with such
// a step is one event of its whole loss.
type Mechanism uint8

// Mechanisms.
const (
	Unlisted Mechanism = iota
	DiscreteGaussian
	DiscreteLaplace
	Exponential
	Public // a public number, without noise
)

var mechanismWords = [...]string{"", "discrete-gaussian", "discrete-laplace", "exponential", "public"}

// String returns the word that EXPLAIN shows; "" of what is not listed.
func (m Mechanism) String() string {
	if int(m) < len(mechanismWords) {
		return mechanismWords[m]
	}
	return ""
}

// Drawn describes what the step draws, for EXPLAIN: the mechanism and its use.
func (s Step) Drawn() string { return strings.TrimSpace(s.Mechanism.String() + " " + s.Use) }

// Exchanging is an Estimator that knows what an exchange costs it where it is built for AddRemove.
//
// An exchange is one removal and one addition, so group privacy bounds its ρ by four times the
// loss ([BS16] Proposition 27), whatever the mechanism is. Where the person is present on both
// sides many steps cost less: a number of persons does not move at all, and a count of rows, or a
// sum of numbers of one sign, no further than when the person comes or goes.
type Exchanging interface {
	Estimator
	// Exchange is the ρ of exchanging a person who is present on both sides, in terms of the ρ
	// that Loss has for adding or removing one. It follows from public facts other than the loss,
	// and is for Gaussian steps alone: a pure release has an ε, which an exchange at most doubles.
	Exchange() float64
}

// ExchangeParts is what ExchangeCost counts in.
const ExchangeParts = 16

// ExchangeCost is the loss of an estimator for AddRemove over several groups where one person is
// exchanged, in parts of 1/ExchangeParts, for each group that a person may be in. Let the old rows
// be present in at most L groups, and the new ones, too; m of these be the same. There the exchange
// costs x·ρ each; in the others the person only leaves, or only enters, which costs ρ each:
//
//	m·x·ρ + 2(L−m)·ρ ≤ L·max(x, 2)·ρ
//
// as the left side is linear in m. x is Exchange, or 4, and the result max(x, 2), rounded up. Slack
// is that of two runs at most, which the result covers.
func ExchangeCost(e Estimator) int {
	x := 4.0
	if e, ok := e.(Exchanging); ok && all(e.Steps(), gaussian) {
		x = min(x, max(2, e.Exchange()))
	}
	parts := int(x * ExchangeParts)
	if float64(parts) < x*ExchangeParts {
		parts++
	}
	return parts
}

// ErrNotPure says that a mechanism has no ε-DP form: it is what constructors that cannot serve
// Params.Epsilon > 0 return.
var ErrNotPure = errors.New("estimator: no pure mechanism")

// Params are the public facts under which every estimator is built. Constructors check them and
// return an error that names the first bad one; planners pass only facts that do not depend on
// rows.
type Params struct {
	Rho     float64 // zCDP of one release on one group; > 0 and finite
	Epsilon float64 // > 0: the release is ε-DP, by pure mechanisms alone, and Rho is 0
	// slack beyond Rho that a release on one group may have: privacy.Loss.DeltaTV, of a stability
	// histogram DeltaEvent; 0: none
	Delta   float64
	Grid    Grid   // lattice of the argument; the zero Grid for counts
	Lower   *int64 // declared lower bound of a row's value, in grid steps; nil when none
	Upper   *int64 // declared upper bound, in grid steps; both or neither
	MaxRows int64  // public bound on the rows of one person in one group; 0 when there is none
	Other   *Other // of an aggregate of two arguments, the second one

	Relation Relation // the neighbour relation that Rho is a loss for
	// Sized, with ReplaceOne only, says that the number of persons of the input is public: the
	// whole of a table of public size, with a value for every person. It is then used as it is, at
	// no loss. It is Input.Persons: the length of the input is private (package sized).
	Sized bool
}

// Other is the second argument of an aggregate of two: its lattice and its declared bounds, as
// those of Params are the first one's.
type Other struct {
	Grid         Grid
	Lower, Upper *int64
}

// OfOther returns the parameters with the second argument in the place of the first, and none
// besides.
func (p Params) OfOther() Params {
	p.Grid, p.Lower, p.Upper, p.Other = p.Other.Grid, p.Other.Lower, p.Other.Upper, nil
	return p
}

// Bounded reports whether both bounds are declared.
func (p Params) Bounded() bool { return p.Lower != nil && p.Upper != nil }

// Pure reports whether the release is to be ε-DP.
func (p Params) Pure() bool { return p.Epsilon != 0 }

// Loss is the number that the parameters call for: ε of a pure release, else ρ.
func (p Params) Loss() float64 {
	if p.Pure() {
		return p.Epsilon
	}
	return p.Rho
}

// Validate checks what all estimators need. Constructors without a pure mechanism refuse
// Params.Pure by themselves.
func (p Params) Validate() error {
	switch {
	case p.Pure() && (!(p.Epsilon > 0) || p.Epsilon > 1e6):
		return fmt.Errorf("estimator: want 0 < epsilon <= 1e6, have %v", p.Epsilon)
	case p.Pure() && p.Rho != 0:
		return fmt.Errorf("estimator: want epsilon or rho, have epsilon %v and rho %v", p.Epsilon, p.Rho)
	case !p.Pure() && (!(p.Rho > 0) || p.Rho > 1e6):
		return fmt.Errorf("estimator: want 0 < rho <= 1e6, have %v", p.Rho)
	case (p.Lower == nil) != (p.Upper == nil):
		return fmt.Errorf("estimator: want both bounds or neither")
	case p.Bounded() && *p.Lower >= *p.Upper:
		return fmt.Errorf("estimator: want lower < upper, have %d and %d", *p.Lower, *p.Upper)
	case p.Sized && p.Relation != ReplaceOne:
		return fmt.Errorf("estimator: a public number of persons needs the relation replace-one")
	case p.MaxRows < 0:
		return fmt.Errorf("estimator: want max rows >= 0, have %d", p.MaxRows)
	}
	return nil
}

// Relation says which databases are neighbours. The loss of a mechanism holds for the relation that
// it was built for.
type Relation uint8

// Neighbour relations.
const (
	AddRemove  Relation = iota // one person more or less, with all rows
	ReplaceOne                 // one person's rows exchanged for any others
)

// String returns the name that policies use.
func (r Relation) String() string {
	if r == ReplaceOne {
		return "replace-one"
	}
	return "add-remove"
}

// Factor is the most by which one person moves a sum of vectors of norm at most C, in units of C: 1
// or 2.
func (r Relation) Factor() int64 {
	if r == ReplaceOne {
		return 2
	}
	return 1
}
