package count

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/internal/sized"
	"scrim/engine/estimator/noise"
)

// maxRadius is the largest number of rows of one person that a private bound can reach.
const maxRadius = 1 << 20

// rows counts rows, each person's number clipped at a bound.
type rows struct {
	p     estimator.Params
	clamp bool
	// least number of rows of a person in the group: 1 when all persons are in it
	least  int64
	bound  int64         // declared bound, 0 when it is searched for
	radius scalar.Radius // when bound = 0
	sum    float64       // loss of the sum
}

// NewRows returns the private number of rows. Columns: Rows. clamp shows a negative answer as 0.
//
// A person's number of rows is clipped at a bound C, and the answer is Σ min(mᵢ, C) + N_Z(0,
// ⌈Δ²/(2ρ₃)⌉), which costs ρ₃ [CKS20, Theorem 14]. Each term is in [0, C], so Δ = C both for a
// person who comes or goes and for one exchanged. With p.Sized each person has a row, the term is
// in [1, C], and Δ = C−1.
//
//	p.MaxRows = M > 0   C = M, ρ₃ = ρ; with p.Sized and M = 1 the number of rows is that of persons: exact, at no loss
//	p.MaxRows = 0       C from a noisy histogram of mᵢ (scalar.Radius, ρ₂ = ρ/4), ρ₃ = 3ρ/4
//
// Pure: Lap_Z(Δ/ε₃) on the sum, and Laplace noise on the histogram; the same shares, of ε.
//
// The declared bound is enforced here as well: a person who breaks it counts M. Without a declared
// bound the rows of the few persons above C are not all counted: the bias is toward fewer rows. If
// no bucket stands out from the noise, as with hardly any persons, C = 1. It always answers.
func NewRows(p estimator.Params, clamp bool) (estimator.Estimator, error) {
	if err := scalar.CheckPure(p, false); err != nil {
		return nil, err
	}
	if p.MaxRows > estimator.MaxUnits {
		return nil, fmt.Errorf("count: want max rows <= 2^50, have %d", p.MaxRows)
	}
	if p.Sized && p.MaxRows == 1 {
		return public{}, nil
	}
	r := rows{p: p, clamp: clamp, bound: p.MaxRows, sum: p.Loss()}
	if p.Sized {
		r.least = 1
	}
	if r.bound == 0 {
		parts := scalar.Split(p.Loss(), 1, 3)
		r.radius, r.sum = scalar.RadiusOf(p, parts[0], maxRadius), parts[1]
	}
	return r, nil
}

func (rows) Columns() []estimator.Kind { return []estimator.Kind{estimator.Rows} }
func (r rows) Loss() privacy.Loss      { return scalar.LossOf(r.p) }
func (rows) MinPersons() int64         { return 0 }

// ExpectedError implements estimator.Estimator: it is known when the bound is declared.
func (r rows) ExpectedError() (float64, bool) {
	if r.bound == 0 {
		return 0, false
	}
	return r.noise(r.bound).Sigma(), true
}

// Bias implements estimator.Biased.
func (r rows) Bias() string {
	if r.bound > 0 {
		return ""
	}
	return "rows of persons beyond the bound on the rows of one person"
}

// Steps implements estimator.Estimator.
func (r rows) Steps() []estimator.Step {
	sum := estimator.Step{Name: "number of rows", Sensitivity: "l2=clip"}
	if r.least > 0 {
		sum.Sensitivity = "l2=clip-1"
	}
	if r.bound > 0 {
		sum.Sensitivity = fmt.Sprintf("l2=%d", r.bound-r.least)
		return []estimator.Step{r.noise(r.bound).Step(sum)}
	}
	return []estimator.Step{r.radius.Step("rows of one person"), r.noise(1).Step(sum)}
}

// noise is that of the sum with each person's number within a bound.
func (r rows) noise(bound int64) scalar.Noise { return scalar.Single(r.p, bound-r.least, r.sum) }

// Release implements estimator.Estimator.
func (r rows) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	in = sized.Columns(r.p, r.Columns(), in)
	bound := r.bound
	if bound == 0 {
		bound = r.search(n, in.Columns[0])
	}
	var sum scalar.Sum
	for _, m := range in.Columns[0] {
		sum.Add(min(max(m, r.least), bound))
	}
	hidden := r.noise(bound)
	v := hidden.Of(n, sum)
	if r.clamp {
		v = math.Max(v, 0)
	}
	return scalar.Hidden(v, hidden, 1)
}

func (r rows) search(n noise.Noiser, m []int64) int64 {
	var h scalar.Histogram
	for _, m := range m {
		if m > 0 {
			h.Add(uint64(m))
		}
	}
	bound, ok := r.radius.Choose(n, &h)
	if !ok {
		return 1
	}
	return bound
}
