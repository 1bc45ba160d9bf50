package quantile

import (
	"fmt"
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// Options choose what is ranked.
type Options struct {
	Rows bool // rank rows instead of persons; needs Params.MaxRows > 0
	// choose by the exponential mechanism in place of noisy counts, as a pure release always does
	Exponential bool
}

// MaxFractions is the largest number of quantiles of one estimator.
const MaxFractions = 64

// maxRows is the largest number of rows a person for ranking rows.
const maxRows = 1 << 16

// rounds is the number of bisection rounds: 2^24 cells find every whole number up to 2^18 and any
// number within ±2^50 to 1 part in 2^18 (scalar.Axis), so an undeclared range costs precision
// nowhere.
const rounds = 24

// quantiles holds one bisection a fraction.
type quantiles struct {
	p         estimator.Params
	o         Options
	fractions []Fraction
	axis      scalar.Axis
	n         scalar.Persons
	searches  []scalar.Bisection
	minimum   int64
}

// New returns private quantiles, one value a fraction, in the order given; they are monotone in the
// fraction. Columns: Median, or Value with Options.Rows.
//
// Each of the m quantiles is a bisection (scalar.Bisection) over a public axis that is as fine as a
// floating-point number (scalar.Axis). Under add-remove each has 0.92ρ/m; the rest goes to the
// noisy number of persons, from which TooFew is decided. Under replace-one each has ρ/m, and the
// number of persons is public or covered by the searches.
//
// One value a person moves a quantile's centred rank by at most Δ = max(num, den−num), and one
// value exchanged by Δ = den. With Options.Rows a person has at most p.MaxRows = M values and Δ is
// M times that (and the number of values has sensitivity M). The store keeps that promise, since
// rows come without their person here; p.Sized makes the number of values public only where M = 1.
//
// That n̂ is covered (scalar.Shares) with M values, too: let the person have m values on one side
// and m−xM on the other, 0 ≤ x ≤ 1. The rank moves by at most (1−ux)·M·den with u = min(num,
// den−num)/den, as x grows from an exchange to coming and going, and n̂'s mean by xM. The loss
// (1−ux)²ρ_q + x²ρ_n is convex in x, so it is at most ρ_q or (1−u)²ρ_q + ρ_n.
//
// The answer's error is one of rank: with probability 95 % at most 3.1σ/den values (RankError), σ²
// = TΔ²/(2ρ_q), T ≤ 24; the error of the value depends on the density of the data there and is not
// known, so StdErr is NaN. The noisy ranks that the bisection went by tell an interval all the same
// (estimator.Error). MinPersons is the number with which a bisection does not leave the data by
// mistake, with probability 95 %, for the fraction nearest an end.
//
// The quantiles of one call are searched independently and then sorted, which keeps each answer's
// rank error no larger. The recursion that splits the data at the middle quantile [KSS] is not
// used: it rescales the fractions by the share of the data on each side, which is not what the
// fraction says where many persons share a value (0.9 of a column that is 92 % zeros would be
// searched among the other 8 %).
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
	if o.Exponential || p.Pure() {
		return newChosen(q, perUnit)
	}
	n, each := split(p, fractions, perUnit)
	q.n, q.minimum = n, n.Enough()
	for i, f := range fractions {
		s := scalar.NewBisection(p.Relation, q.axis, f.Num, f.Den, perUnit, each[i])
		q.searches = append(q.searches, s)
		q.minimum = max(q.minimum, s.Persons())
	}
	return q, nil
}

// split returns the number of values, of which a person has at most perUnit, and the loss of each
// search.
func split(p estimator.Params, fractions []Fraction, perUnit int64) (scalar.Persons, []float64) {
	shares := scalar.Shares{AddRemove: []float64{0.08}}
	for _, f := range fractions {
		far := float64(max(f.Num, f.Den-f.Num)) / float64(f.Den)
		shares.AddRemove = append(shares.AddRemove, 0.92/float64(len(fractions)))
		shares.ReplaceOne = append(shares.ReplaceOne, 1)
		shares.Joining = append(shares.Joining, far*far)
	}
	return shares.Of(p, perUnit)
}

// Columns implements estimator.Estimator.
func (q quantiles) Columns() []estimator.Kind {
	if q.o.Rows {
		return []estimator.Kind{estimator.Value}
	}
	return []estimator.Kind{estimator.Rows, estimator.Median}
}

func (q quantiles) Loss() privacy.Loss           { return scalar.Loss(q.p.Rho) }
func (q quantiles) MinPersons() int64            { return q.minimum }
func (quantiles) ExpectedError() (float64, bool) { return 0, false }

// RankError returns, for each fraction, the number of values by which the rank of the answer is off
// at most with probability 95 %.
func (q quantiles) RankError() []float64 {
	e := make([]float64, len(q.searches))
	for i, s := range q.searches {
		e[i] = s.RankError(0.05)
	}
	return e
}

// Steps implements estimator.Estimator.
func (q quantiles) Steps() []estimator.Step {
	steps := q.n.Steps()
	for i, s := range q.searches {
		steps = append(steps, s.Step(fmt.Sprintf("quantile %v", q.fractions[i].Float())))
	}
	return steps
}

// Release implements estimator.Estimator.
func (q quantiles) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(q.p, q.Columns(), in)
	cells := q.cells(in)
	defer estimator.Free(in.Memory, cells)
	values := int64(len(cells))
	if q.p.Sized {
		values = in.Persons
	}
	if q.n.Release(n, values) < float64(q.minimum) {
		return scalar.TooFew(len(q.fractions), q.minimum)
	}
	e := estimator.Estimate{Values: make([]float64, len(q.fractions)), StdErr: make([]float64, len(q.fractions))}
	e.Error = &estimator.Error{Form: estimator.Quantile, Ranks: make([][]estimator.Rank, len(q.fractions))}
	for i, s := range q.searches {
		e.Error.Rounds = max(e.Error.Rounds, s.Rounds())
		v, ranks := s.Ranks(n, cells)
		e.Values[i], e.StdErr[i] = scalar.Finite(scalar.Scale(q.p.Grid, float64(v))), math.NaN()
		e.Error.Ranks[i] = q.told(ranks)
	}
	q.order(e.Values)
	return e
}

// told returns ranks in values, and the ends of the range where they are declared. Those on one
// side of the quantile come nearer and nearer, so the last ones come first, and one that follows
// tells something only where it is surer.
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
