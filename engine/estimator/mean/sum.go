package mean

import (
	"fmt"
	"math/big"
	"math/bits"

	"scrim/accounting"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// sum adds the persons' totals, each clipped to ±C.
type sum struct {
	p       estimator.Params
	bound   int64          // C when declared, 0 when it is searched for
	persons scalar.Persons // when searched
	radius  scalar.Radius
	sumRho  float64
}

// NewSum returns the private sum over rows. Columns: Rows, Sum.
//
// The total tᵢ of a person's rows is clipped to ±C and the answer is Σ clip(tᵢ) + N_Z(0, ⌈C²/(2ρ₃)⌉) grid steps: adding or
// removing a person changes the sum by at most C, so this step costs ρ₃ [CKS20, Theorem 14].
//
//	both bounds and p.MaxRows = M declared   C = M·max(|L|,|U|), ρ₃ = ρ; it always answers
//	otherwise                                ρ_n = 0.08ρ for the number of persons n̂, ρ₂ = 0.23ρ for C from a noisy
//	                                         histogram of |tᵢ| (scalar.Radius), ρ₃ = 0.69ρ; TooFew when n̂ is under MinPersons,
//	                                         or when no radius stands out from that histogram's noise
//
// A radius that does not stand out may be far too small, and a sum, unlike a mean, is then wrong by any
// factor. Both conditions are on released values.
//
// The declared C is enforced: a person who breaks the promise is clipped. Without it the totals of
// the few persons beyond C are shortened, which is the larger error on heavy tails.
//
// One symmetric clip is used for data that lie mostly on one side as well: two searches, for C₋ and C₊,
// each with half the loss, would give the noise of max(C₋, C₊), which is what the symmetric clip has, and
// more bias.
func NewSum(p estimator.Params) (estimator.Estimator, error) {
	if err := scalar.Check(p, true); err != nil {
		return nil, err
	}
	if p.Bounded() && p.MaxRows > 0 {
		return sum{p: p, bound: declaredTotal(p), sumRho: p.Rho}, nil
	}
	parts := scalar.Split(p.Rho, 8, 23, 69)
	return sum{
		p: p, persons: scalar.NewPersons(parts[0]),
		radius: scalar.NewRadius(parts[1], estimator.MaxUnits), sumRho: parts[2],
	}, nil
}

// declaredTotal is the bound on one person's total, at most 2^50 as the totals themselves are.
func declaredTotal(p estimator.Params) int64 {
	lo, hi := *p.Lower, *p.Upper
	over, c := bits.Mul64(uint64(max(hi, -hi, lo, -lo)), uint64(p.MaxRows))
	if over > 0 || c > estimator.MaxUnits {
		return estimator.MaxUnits
	}
	return int64(c)
}

func (sum) Columns() []estimator.Kind { return []estimator.Kind{estimator.Rows, estimator.Sum} }
func (s sum) Loss() accounting.Loss   { return scalar.Loss(s.p.Rho) }

// MinPersons implements estimator.Estimator.
func (s sum) MinPersons() int64 {
	if s.bound > 0 {
		return 0
	}
	return max(s.persons.Enough(), 2*s.radius.Persons())
}

// ExpectedError implements estimator.Estimator: it is known when the bounds are declared.
func (s sum) ExpectedError() (float64, bool) {
	if s.bound == 0 {
		return 0, false
	}
	return scalar.Scale(s.p.Grid, scalar.Root(s.sigma2(s.bound))), true
}

// Steps implements estimator.Estimator.
func (s sum) Steps() []estimator.Step {
	step := estimator.Step{Name: "sum", Mechanism: "discrete-gaussian", Sensitivity: "l2=clip", Queries: 1, Rho: s.sumRho}
	if s.bound > 0 {
		step.Sensitivity = fmt.Sprintf("l2=%v", scalar.Scale(s.p.Grid, float64(s.bound)))
		return []estimator.Step{step}
	}
	return []estimator.Step{s.persons.Step(), s.radius.Step("clip"), step}
}

func (s sum) sigma2(bound int64) *big.Int { return scalar.Sigma2(scalar.Square(bound), 1, s.sumRho) }

// Release implements estimator.Estimator.
func (s sum) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	rows, totals := in.Columns[0], in.Columns[1]
	bound := s.bound
	if bound == 0 {
		count := s.persons.Release(n, scalar.Present(rows))
		if count < float64(s.MinPersons()) {
			return scalar.TooFew(1, s.MinPersons())
		}
		var seen bool
		if bound, seen = s.radius.Choose(n, histogram(rows, totals)); !seen {
			return scalar.TooFew(1, scalar.Twice(count))
		}
	}
	var acc scalar.Sum
	for i, m := range rows {
		if m > 0 {
			acc.Add(min(max(totals[i], -bound), bound))
		}
	}
	sigma2 := s.sigma2(bound)
	return scalar.One(scalar.Scale(s.p.Grid, acc.Release(n, sigma2)), scalar.Scale(s.p.Grid, scalar.Root(sigma2)))
}

// histogram counts the persons by the size of their total.
func histogram(rows, totals []int64) *scalar.Histogram {
	h := new(scalar.Histogram)
	for i, m := range rows {
		if m > 0 {
			t := min(max(totals[i], -estimator.MaxUnits), estimator.MaxUnits)
			h.Add(uint64(max(t, -t)))
		}
	}
	return h
}
