package cover

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// mean is the estimator: Algorithm 8 of [AKM25].
type mean struct {
	p       Params
	plan    plan
	means   scalar.Means
	weights weights
	fullest exponential.Fullest // of the coarse step, where there is one
	columns []estimator.Kind
}

// NewMean returns the mean of one vector a person. Columns: Vector.
func NewMean(p Params) (estimator.Estimator, error) { return newMean(p, estimator.Vector) }

// NewNumber is NewMean for a number a row: Dim is 1. Columns: Rows, Sum.
func NewNumber(p Params) (estimator.Estimator, error) {
	if p.Dim != 1 {
		return nil, fmt.Errorf("cover: want dimension 1 for a number, have %d", p.Dim)
	}
	return newMean(p, estimator.Rows, estimator.Sum)
}

func newMean(p Params, columns ...estimator.Kind) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	q := p.Params
	q.MaxRows = 0 // 2^-10 of a step, for one row a person as well
	means := scalar.NewMeans(q)
	c, err := p.newPlan(means)
	if err != nil {
		return nil, err
	}
	m := mean{p: p, plan: c, means: means, weights: newWeights(c.loss), columns: columns}
	if c.width > 0 {
		if m.fullest, err = exponential.NewPureFullest(uint64(c.buckets()), c.share, p.Relation); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Columns implements estimator.Estimator.
func (m mean) Columns() []estimator.Kind { return m.columns }

// Loss implements estimator.Estimator: all steps together are ε-DP.
func (m mean) Loss() privacy.Loss { return privacy.PureLoss(m.p.Epsilon) }

// MinPersons implements estimator.Estimator: the number of persons is public, and too few are
// refused by the constructors.
func (mean) MinPersons() int64 { return 0 }

// ExpectedError implements estimator.Estimator: what is known beforehand is a bound, not a
// deviation (Reason).
func (mean) ExpectedError() (float64, bool) { return 0, false }

// Steps implements estimator.Estimator.
func (m mean) Steps() []estimator.Step {
	var steps []estimator.Step
	if m.plan.width > 0 {
		s := m.fullest.Step("range")
		s.Queries, s.Epsilon = m.plan.dim, s.Epsilon*float64(m.plan.dim)
		steps = append(steps, s)
	}
	return append(steps, estimator.Step{
		Name: fmt.Sprintf("cover of %.4g candidates", m.plan.candidates()), Mechanism: estimator.Exponential, Sensitivity: "persons=1",
		Queries: 1, Epsilon: m.plan.loss,
	})
}

// Bias implements estimator.Biased.
func (mean) Bias() string { return "the distance of candidates from each other" }

// Reason implements estimator.Reasoned: it says what is aimed at, and on what condition.
func (m mean) Reason() string {
	return fmt.Sprintf("error at most %.3g with probability %.0f %%, if rows are independent with the declared moment; the privacy is proven, the paper gives no constants for the accuracy",
		m.means.Value(m.plan.alpha), 100*confidence)
}

// Release implements estimator.Estimator. It always answers; the standard error is not known.
func (m mean) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	x := m.points(in)
	centre := m.plan.centre(n, x, m.fullest)
	c := m.plan.newCover(x, centre)
	values := m.plan.answer(centre, c.find(m.weights.draw(n, c.counts())))
	out := estimator.Estimate{Values: values, StdErr: make([]float64, len(values))}
	for j := range values {
		out.Values[j], out.StdErr[j] = m.means.Value(values[j]), math.NaN()
	}
	return out
}

// points reads as many persons as are public.
func (m mean) points(in estimator.Input) points {
	middle, _ := m.means.Middle()
	if len(m.columns) == 1 {
		return fromBlock(m.means, m.p.Dim, in.Vectors).exactly(int(m.p.Persons), middle)
	}
	return fromRows(m.means, in.Columns[0], in.Columns[1]).exactly(int(m.p.Persons), middle)
}

// Params are the public facts of the estimator. Epsilon > 0, Relation ReplaceOne and Sized are
// needed; Rho is not used.
type Params struct {
	estimator.Params
	Dim     int     // 1 or 2
	Persons int64   // the public number of persons
	Error   float64 // α: the error aimed at, in values; 0: chosen from public facts
	Moment  float64 // k >= 2; 0: 4
	Radius  float64 // R: the mean's coordinates are within ±R, in values; 0: the public range
	// σ_k: bound on the k-th root of a row's k-th central moment in any direction, in values; > 0
	Sigma float64
	Rows  float64 // m: least number of rows of a person; 0: 1
}

// maxPersons bounds the number of persons, and with it the memory: 16 bytes a person and core.
const maxPersons = 1 << 24

// check returns an error that names the first assumption that does not hold.
func (p Params) check() error {
	switch {
	case !p.Pure():
		return errors.New("cover: only for pure differential privacy: want an epsilon")
	case p.Relation != estimator.ReplaceOne:
		return fmt.Errorf("cover: the score counts exchanged persons: want the relation replace-one, have %v", p.Relation)
	case !p.Sized || p.Persons <= 0:
		return errors.New("cover: the score is defined for a public number of persons: want the whole of a table of public size, and its number of persons")
	case p.Persons > maxPersons:
		return fmt.Errorf("cover: want at most %d persons, have %d", int64(maxPersons), p.Persons)
	case p.Dim < 1 || p.Dim > 2:
		return fmt.Errorf("cover: the cover grows as a power of the dimension: want 1 or 2, have %d", p.Dim)
	case !(p.Sigma > 0) || math.IsInf(p.Sigma, 0):
		return errors.New("cover: want a declared bound sigma_k > 0 on the spread of rows")
	case p.Moment != 0 && !(p.Moment >= 2 && p.Moment <= 100):
		return fmt.Errorf("cover: want a moment from 2 to 100, have %v", p.Moment)
	case p.Rows != 0 && !(p.Rows >= 1) || math.IsInf(p.Rows, 0):
		return fmt.Errorf("cover: want rows >= 1, have %v", p.Rows)
	case !(p.Radius >= 0) || !(p.Error >= 0) || math.IsInf(p.Radius, 0) || math.IsInf(p.Error, 0):
		return fmt.Errorf("cover: want a radius and an error >= 0, have %v and %v", p.Radius, p.Error)
	}
	return scalar.CheckPure(p.Params, true)
}

// facts are what the accuracy and the cost depend on. Lengths are in units, the fractions of a step
// in which persons' means are held.
type facts struct {
	dim     int
	persons float64
	epsilon float64
	moment  float64
	// bound on the k-th root of the k-th central moment of a person's mean, in any direction
	root     float64
	variance float64 // bound on its variance
	lo, hi   int64   // the mean's coordinates
}

// facts returns the facts for checked parameters.
func (p Params) facts(means scalar.Means) (facts, error) {
	unit := means.Value(1)
	f := facts{dim: p.Dim, persons: float64(p.Persons), epsilon: min(p.Epsilon, maxEpsilon), moment: p.Moment, lo: means.Lo, hi: means.Hi}
	if f.moment == 0 {
		f.moment = 4
	}
	rows, sigma := max(1, p.Rows), p.Sigma/unit
	f.variance = sigma * sigma / rows
	f.root = sigma * min(1, math.Sqrt((f.moment-1)/rows))
	if r := math.Ceil(p.Radius / unit); p.Radius > 0 && r < 1<<61 {
		f.lo, f.hi = max(f.lo, -int64(r)), min(f.hi, int64(r))
	}
	if f.lo > f.hi {
		return f, fmt.Errorf("cover: the range of values has nothing within the radius %v", p.Radius)
	}
	return f, nil
}

// half is half the length of the mean's range.
func (f facts) half() float64 { return float64(f.hi-f.lo)/2 + 1 }

// maxEpsilon is the most of ε that is used: more would change nothing.
const maxEpsilon = 64

// points are the persons' means by coordinates, in units and within the public range: columns[j][i]
// of person i.
type points [][]int64

// fromRows returns the points of one number a person. A person without rows has the middle of the
// range.
func fromRows(means scalar.Means, rows, sums []int64) points {
	middle, _ := means.Middle()
	x := make([]int64, len(rows))
	for i, m := range rows {
		if x[i] = middle; m > 0 {
			x[i] = means.Of(m, sums[i])
		}
	}
	return points{x}
}

// fromBlock returns the points of the persons in a block, dense or sparse.
func fromBlock(means scalar.Means, dim int, b *estimator.Block) points {
	out := make(points, dim)
	if b == nil || b.Dim != dim {
		return out
	}
	for _, c := range block.Means(b, means.Shift).Chunks {
		for i := range c.Persons {
			for j := range out {
				out[j] = append(out[j], min(max(entry(b, c, i, j), means.Lo), means.Hi))
			}
		}
	}
	return out
}

// entry returns coordinate j of person i.
func entry(b *estimator.Block, c estimator.Chunk, i, j int) int64 {
	if !b.Sparse {
		return c.Dense[i*b.Dim+j]
	}
	for e := c.Starts[i]; e < c.Starts[i+1]; e++ {
		if int(c.Index[e]) == j {
			if c.Values == nil {
				return 1
			}
			return c.Values[e]
		}
	}
	return 0
}

// exactly returns n points: the middle of the range stands for those who are missing, and of more
// than n the least are taken, by their first coordinate and then the second. Two lists that differ
// in one point give lists that differ in one at most: where a point is exchanged, or there is one
// more or less, the n least, or all and the middles, have at least n−1 in common.
func (x points) exactly(n int, middle int64) points {
	have := len(x[0])
	switch {
	case have < n:
		for j := range x {
			x[j] = append(x[j], slices.Repeat([]int64{middle}, n-have)...)
		}
	case have > n:
		order := make([]int, have)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			for _, c := range x {
				if d := cmp.Compare(c[a], c[b]); d != 0 {
					return d
				}
			}
			return 0
		})
		out := make(points, len(x))
		for j := range out {
			for _, i := range order[:n] {
				out[j] = append(out[j], x[j][i])
			}
		}
		return out
	}
	return x
}

// centre returns the middle of the cover: that of the public range, or, with a coarse step, that of
// the fullest bucket of every coordinate ([AKM25] Algorithm 8, with the choice of a bucket in the
// place of a whole estimate, which would only be rounded to one).
//
// Loss: ε_1 a coordinate. A person is in one bucket, and an exchange moves two counts by one each
// (exponential.NewPureFullest).
func (p plan) centre(n noise.Noiser, x points, fullest exponential.Fullest) []int64 {
	out := make([]int64, p.dim)
	for j := range out {
		if p.width == 0 {
			out[j] = p.lo + (p.hi-p.lo)/2
			continue
		}
		buckets := make([]uint64, len(x[j]))
		for i, v := range x[j] {
			buckets[i] = uint64((min(max(v, p.lo), p.hi) - p.lo) / p.width)
		}
		slices.Sort(buckets)
		out[j] = p.lo + int64(fullest.Choose(n, nil, buckets))*p.width + p.width/2
	}
	return out
}
