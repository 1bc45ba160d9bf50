package quantile

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Options choose what is ranked.
type Options struct {
	Rows bool // rank rows instead of persons; needs Params.MaxRows > 0
	// find it by noisy counts in place of the exponential mechanism; not in a pure release
	Bisect bool
	// take a fifth of the loss for an interval, see chosen; a bisection tells one by itself
	Interval bool
}

// MaxFractions is the largest number of quantiles of one estimator.
const MaxFractions = 64

// maxRows is the largest number of rows a person for ranking rows.
const maxRows = 1 << 16

// rounds is the number of halvings of the axis: 2^24 cells find every whole number up to 2^18 and
// any number within ±2^50 to 1 part in 2^18 (scalar.Axis), so an undeclared range costs precision
// nowhere.
const rounds = 24

// quantiles are the parameters, checked, and the axis.
type quantiles struct {
	p         estimator.Params
	o         Options
	fractions []Fraction
	axis      scalar.Axis
}

// New returns private quantiles, one value a fraction, in the order given; they are monotone in the
// fraction. Columns: Median, or Value with Options.Rows.
//
// They are chosen by the exponential mechanism (see chosen) on a public axis that is as fine as a
// floating-point number (scalar.Axis): its rank error is half of that of noisy counts, or less.
// With Options.Bisect they are searched by noisy counts (see bisected).
//
// One value a person moves a quantile's centred rank by at most Δ = max(num, den−num), and one
// value exchanged by Δ = den. With Options.Rows a person has at most p.MaxRows = M values and Δ is
// M times that (and the number of values has sensitivity M). The store keeps that promise, since
// rows come without their person here; p.Sized makes the number of values public only where M = 1.
//
// The answer's error is one of rank (RankError); the error of the value depends on the density of
// the data there and is not known, so StdErr is NaN. Noisy ranks tell an interval all the same
// (estimator.Error): with Options.Interval, or Options.Bisect. MinPersons is the number with which
// a search does not leave the data by mistake, with probability 95 %, for the fraction nearest an
// end.
func New(p estimator.Params, fractions []Fraction, o Options) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, true); err != nil {
		return nil, err
	}
	if len(fractions) == 0 || len(fractions) > MaxFractions {
		return nil, fmt.Errorf("quantile: want 1 to %d fractions, have %d", MaxFractions, len(fractions))
	}
	for _, f := range fractions {
		if err := f.Validate(); err != nil {
			return nil, err
		}
	}
	perUnit := int64(1)
	if o.Rows {
		if perUnit = p.MaxRows; perUnit < 1 || perUnit > maxRows {
			return nil, fmt.Errorf("quantile: ranking rows needs 1 <= max rows <= %d, have %d", maxRows, p.MaxRows)
		}
	}
	p.Sized = p.Sized && perUnit == 1
	lo, hi := scalar.Range(p)
	q := quantiles{p: p, o: o, fractions: slices.Clone(fractions), axis: scalar.NewAxis(lo, hi, rounds)}
	if !o.Bisect || p.Pure() {
		return newChosen(q, perUnit)
	}
	return newBisected(q, perUnit), nil
}

// Columns implements estimator.Estimator.
func (q quantiles) Columns() []estimator.Kind {
	if q.o.Rows {
		return []estimator.Kind{estimator.Value}
	}
	return []estimator.Kind{estimator.Rows, estimator.Median}
}

// ExpectedError implements estimator.Estimator: the error of a value is not known.
func (quantiles) ExpectedError() (float64, bool) { return 0, false }

// told returns ranks in values, and the ends of the range where they are declared. A search comes
// nearer and nearer on either side, so the last ones come first, and one that follows tells
// something only where it is surer.
func (q quantiles) told(ranks []estimator.Rank) []estimator.Rank {
	var out []estimator.Rank
	least, most := 0.0, 0.0
	keep := func(r estimator.Rank) {
		if r.Z < least || r.Z > most {
			least, most = min(least, r.Z), max(most, r.Z)
			out = append(out, estimator.Rank{At: scalar.Finite(scalar.Scale(q.p.Grid, r.At)), Z: r.Z})
		}
	}
	for _, r := range slices.Backward(ranks) {
		keep(r)
	}
	if q.p.Bounded() {
		lo, hi := scalar.Range(q.p)
		keep(estimator.Rank{At: float64(lo), Z: math.Inf(-1)})
		keep(estimator.Rank{At: float64(hi), Z: math.Inf(1)})
	}
	return out
}

// order permutes released values so that they grow with their fractions.
func (q quantiles) order(values []float64) {
	index := make([]int, len(values))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int {
		x, y := q.fractions[a], q.fractions[b]
		return int(x.Num*y.Den - y.Num*x.Den) // within 2^41
	})
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	for i, at := range index {
		values[at] = sorted[i]
	}
}

// cells returns the cell of every value, in memory of the input's.
func (q quantiles) cells(in estimator.Input) []uint32 {
	if q.o.Rows {
		cells := estimator.Make[uint32](in.Memory, len(in.Columns[0]))
		for i, v := range in.Columns[0] {
			cells[i] = q.axis.Cell(v)
		}
		return cells
	}
	cells := estimator.Make[uint32](in.Memory, len(in.Columns[0]))[:0]
	for i, m := range in.Columns[0] {
		if m > 0 {
			cells = append(cells, q.axis.Cell(in.Columns[1][i]))
		}
	}
	return cells
}

// Events implements estimator.Itemised. A level of the recursion is one step with as many draws as
// it has parts, among which the loss of the level is divided in any way.
func (e chosen) Events() []privacy.Event { return estimator.StepEvents(e) }

// MaxDen is the largest denominator of a Fraction in lowest terms.
const MaxDen = 1 << 20

// Fraction is an exact fraction Num/Den with 0 < Num < Den <= MaxDen.
type Fraction struct{ Num, Den int64 }

// Median is one half.
var Median = Fraction{1, 2}

// ParseFraction reads a decimal such as 0.9 or 1e-3, or a quotient such as 1/3, exactly.
func ParseFraction(text string) (Fraction, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 40 || strings.ContainsAny(text, "xXpP_") {
		return Fraction{}, fmt.Errorf("quantile: want a fraction between 0 and 1, have %.40q", text)
	}
	// an exponent that could only fail, and slowly
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
		return Fraction{}, fmt.Errorf("quantile: want a fraction between 0 and 1, have %.40q", text)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return Fraction{}, fmt.Errorf("quantile: want a fraction between 0 and 1, have %.40q", text)
	}
	if !r.Num().IsInt64() || !r.Denom().IsInt64() {
		return Fraction{}, fmt.Errorf("quantile: want a fraction with denominator <= %d, have %.40q", MaxDen, text)
	}
	f := Fraction{r.Num().Int64(), r.Denom().Int64()}
	return f, f.Validate()
}

// Validate checks that the fraction lies strictly between 0 and 1 and has a usable denominator.
func (f Fraction) Validate() error {
	switch {
	case f.Num <= 0 || f.Den <= f.Num:
		return fmt.Errorf("quantile: want 0 < fraction < 1, have %d/%d", f.Num, f.Den)
	case f.Den > MaxDen:
		return fmt.Errorf("quantile: want a fraction with denominator <= %d, have %d/%d", MaxDen, f.Num, f.Den)
	}
	return nil
}

// Float returns the fraction as a float64.
func (f Fraction) Float() float64 { return float64(f.Num) / float64(f.Den) }
