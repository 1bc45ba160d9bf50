package scalar

import (
	"fmt"
	"math"
	"math/big"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// MinLoss is the smallest loss that a scalar estimator accepts, ρ or ε: the account's own
// resolution.
const MinLoss = privacy.RhoUnit

// Check validates what all scalar estimators need. grid says whether the grid is used. A pure
// release is refused: for estimators that have one there is CheckPure.
func Check(p estimator.Params, grid bool) error {
	if p.Pure() {
		return estimator.ErrNotPure
	}
	return CheckPure(p, grid)
}

// CheckPure is Check for estimators with a pure form.
func CheckPure(p estimator.Params, grid bool) error {
	if err := p.Validate(); err != nil {
		return err
	}
	g := p.Grid
	switch {
	case p.Relation > estimator.ReplaceOne:
		return fmt.Errorf("estimator: unknown neighbour relation %d", p.Relation)
	case p.Loss() < MinLoss:
		return fmt.Errorf("estimator: want a loss >= %v, have %v", MinLoss, p.Loss())
	case !grid:
		return nil
	case g.Decimal && (g.Scale < 0 || g.Scale > 100):
		return fmt.Errorf("estimator: want a decimal scale from 0 to 100, have %d", g.Scale)
	case !g.Decimal && (!(g.Step > 0) || g.Step > 1e100 || g.Step < 1e-100):
		return fmt.Errorf("estimator: want 1e-100 <= grid step <= 1e100, have %v", g.Step)
	case g.Lo > g.Hi || g.Lo < -estimator.MaxUnits || g.Hi > estimator.MaxUnits:
		return fmt.Errorf("estimator: want -2^50 <= grid lo <= grid hi <= 2^50, have %d and %d", g.Lo, g.Hi)
	case p.Bounded() && (*p.Lower < -estimator.MaxUnits || *p.Upper > estimator.MaxUnits):
		return fmt.Errorf("estimator: want bounds within ±2^50 grid steps, have %d and %d", *p.Lower, *p.Upper)
	}
	return nil
}

// Range returns the public range of a row's value in steps: the declared bounds, else the grid's.
func Range(p estimator.Params) (lo, hi int64) {
	if p.Bounded() {
		return *p.Lower, *p.Upper
	}
	return p.Grid.Lo, p.Grid.Hi
}

// Scale turns a number of steps into a value. For a decimal grid it divides by a power of ten,
// which rounds once.
func Scale(g estimator.Grid, steps float64) float64 {
	if g.Decimal {
		return steps / math.Pow10(g.Scale)
	}
	return steps * g.Step
}

// Split divides a loss, ρ or ε, in proportion to weights. The exact sum of the parts is at most the
// loss: each part is a float64 rounded down by one part in 10^12, far more than its rounding error.
func Split(loss float64, weights ...float64) []float64 {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	parts := make([]float64, len(weights))
	for i, w := range weights {
		parts[i] = loss * (w / total) * (1 - 1e-12)
	}
	return parts
}

// Sigma2 returns ⌈queries·sensitivity²/(2ρ)⌉, the variance with which that many Gaussian answers of
// this ℓ2 sensitivity together cost ρ [CKS20, Theorem 14]. sensitivity2 is the squared sensitivity.
// The quotient is exact; rounding is up.
func Sigma2(sensitivity2 *big.Int, queries int64, rho float64) *big.Int {
	r := new(big.Rat).SetFloat64(rho) // finite: Check
	num := new(big.Int).Mul(sensitivity2, big.NewInt(queries))
	num.Mul(num, r.Denom())
	den := new(big.Int).Lsh(r.Num(), 1)
	q, m := num.QuoRem(num, den, new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if q.Sign() == 0 {
		q.SetInt64(1) // sensitivity 0: noise all the same
	}
	return q
}

// SmallSigma2 is Sigma2 for an integer sensitivity, for use with GaussianInt.
func SmallSigma2(sensitivity, queries int64, rho float64) noise.Variance {
	return ToVariance(Sigma2(Square(sensitivity), queries, rho))
}

// ToVariance converts a variance below 2^128.
func ToVariance(b *big.Int) noise.Variance {
	return noise.Variance{Hi: new(big.Int).Rsh(b, 64).Uint64(), Lo: new(big.Int).And(b, maxWord).Uint64()}
}

var maxWord = new(big.Int).SetUint64(math.MaxUint64)

// Square returns x² as a big integer.
func Square(x int64) *big.Int { b := big.NewInt(x); return b.Mul(b, b) }

// Root returns √v as a float64, for reporting.
func Root(v *big.Int) float64 {
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Sqrt(f)
}

// Loss is the loss of a release with parameter rho.
func Loss(rho float64) privacy.Loss { return privacy.Loss{Rho: privacy.RhoOf(rho)} }

// TooFew is the answer of k values when the noisy number of persons is under the minimum.
func TooFew(k int, needed int64) estimator.Estimate {
	e := estimator.Estimate{Status: estimator.TooFew, Needed: needed, Values: make([]float64, k), StdErr: make([]float64, k)}
	for i := range e.StdErr {
		e.StdErr[i] = math.NaN()
	}
	return e
}

// One is the answer of one value with the standard deviation of its noise.
func One(value, stdErr float64) estimator.Estimate {
	return estimator.Estimate{Values: []float64{Finite(value)}, StdErr: []float64{stdErr}}
}

// Finite keeps a released number finite.
func Finite(x float64) float64 {
	switch {
	case x != x:
		return 0
	case x > math.MaxFloat64:
		return math.MaxFloat64
	case x < -math.MaxFloat64:
		return -math.MaxFloat64
	}
	return x
}
