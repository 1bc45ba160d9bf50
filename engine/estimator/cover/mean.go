package cover

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
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
